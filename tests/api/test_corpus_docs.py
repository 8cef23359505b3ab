"""The walk through of docs/career-corpus.md: from a key to READY, and where somebody worked."""

from doc_examples import walk_through


class Hashing:
    """A client that puts the hashes of the draft in place of the names of sections."""

    def __init__(self, api):
        self.client, self.key, self._api = self, api.key, api

    def open(self, path, *, json, **more):
        if json and "content_sha256" in json:
            shown = self._api.get("/v1/corpora/ada/draft").get_json()["sections"]
            assert json["content_sha256"] == json["section"].upper()
            json |= {"content_sha256": shown[json["section"]]["content_sha256"]}
        return self._api.client.open(path, json=json, **more)


def test_the_walk_through_leads_from_a_key_to_ready_and_to_where_somebody_worked(api):
    answers = list(walk_through(Hashing(api), "career-corpus.md"))

    assert [201, 200, 201, 200, *[201] * 7, *[200] * 4] == [each.status_code for each in answers]
    made, _, shown, asked, *_, pushed, told, recalled, moved = (each.get_json() for each in answers)
    assert ["get", "create", "get_confirm"] == made["sequence"]
    assert ([], "profile") == (shown["problems"], asked["next_section"])
    assert (True, "CORPUS_READY") == (pushed["persisted"], pushed["state"])
    assert "- onboarding_complete: true" in told["text"]
    contents = [each["memory"]["content"] for each in recalled["items"]]
    assert [True] == [text.startswith("Engineer at Acme") for text in contents if " at " in text]
    assert ["CORPUS_READY", "CORPUS_PARTIAL", "REPO_NO_CORPUS"] == [
        each["after"] for each in moved["items"]
    ]
