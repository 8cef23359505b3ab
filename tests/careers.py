"""Career corpora over HTTP for tests: short ways to ask for a repository, a draft, a push."""

import json

from corpora import a_corpus

PATH = "/v1/corpora/ada"


def sent(api, method, path, body=None, status=None):
    given = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    answer = api.client.open(path, method=method, headers={"X-API-Key": api.key}, **given)
    if status is not None:
        assert status == answer.status_code, answer.get_json()
    return answer.get_json()


def bootstrapped(api, path=PATH, turn="t1"):
    return sent(api, "POST", f"{path}/bootstrap", {"turn": turn}, 201)


def drafted(api, corpus=None, path=PATH, session="default"):
    """A whole corpus as the draft of a session."""
    values = a_corpus() if corpus is None else corpus
    return sent(api, "PATCH", f"{path}/draft?session={session}&allow_blank=true", values, 200)


def approved(api, *sections, path=PATH, session="default"):
    """Approve sections of the draft as they are, or all of them."""
    shown = sent(api, "GET", f"{path}/draft?session={session}", status=200)["sections"]
    for section in sections or shown:
        body = {
            "section": section,
            "approved": True,
            "basis": "current_chat",
            "content_sha256": shown[section]["content_sha256"],
        }
        sent(api, "POST", f"{path}/approvals?session={session}", body, 201)


def pushed(api, path=PATH, session="default", status=200, **body):
    return sent(api, "POST", f"{path}/push?session={session}", body, status)


def ready(api, corpus=None, path=PATH):
    """A corpus that is ready."""
    bootstrapped(api, path)
    drafted(api, corpus, path)
    approved(api, path=path)
    return pushed(api, path)


def state(api, path=PATH):
    return sent(api, "GET", path, status=200)["state"]


def transitions(api, path=PATH):
    """From what to what the corpus went, the first first."""
    items = sent(api, "GET", f"{path}/transitions", status=200)["items"]
    return [(each["before"], each["after"], each["cause"]) for each in reversed(items)]
