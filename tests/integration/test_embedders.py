"""Embedders: the packaged model, an OpenAI-compatible API over HTTP, and what may go wrong."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graphmem.adapters.embedders import build_embedder
from graphmem.errors import ModelUnavailable, SettingsError


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The packaged model, with a model folder of its own."""
    return build_embedder("local", cache_folder=tmp_path_factory.mktemp("models"))


@pytest.fixture
def api_server():
    """A server that speaks the embeddings API; it answers in reverse order, as it may."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = 500 if "fail" in asked["input"] else 200
            vectors = [
                {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
                for index, text in enumerate(asked["input"])
            ]
            answer = {"object": "list", "model": asked["model"], "data": vectors[::-1], "usage": {}}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_local_model_gives_unit_vectors_of_its_size(local):
    vectors = local.embed(["Ada likes tea.", "The kiln is hot."])

    assert [384, 384] == [len(vector) for vector in vectors]
    assert all(math.isclose(1.0, cosine(vector, vector), abs_tol=1e-4) for vector in vectors)
    assert 384 == local.dimensions


def test_a_text_has_the_same_vector_alone_and_in_any_batch(local):
    texts = [f"Text number {number} " * (number % 7 + 1) for number in range(40)]
    together = local.embed(texts)

    for number in (0, 17, 39):
        assert cosine(local.embed([texts[number]])[0], together[number]) > 0.999


def test_the_local_model_knows_what_belongs_together(local):
    question = local.embed_query("What does she drink in the morning?")
    tea, kiln = local.embed(["Ada has green tea for breakfast.", "The kiln cracked eleven cups."])

    assert cosine(question, tea) > cosine(question, kiln)


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ("magic", "must be local, hash"),
        ("fastembed:", "must be local, hash"),
        ("fastembed:no/such-model", "knows no model"),
        ("openai:text-embedding-3-small", "need GRAPHMEM__EMBEDDER__API_KEY"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_with_a_sentence(tmp_path, choice, problem):
    with pytest.raises(SettingsError, match=problem):
        build_embedder(choice, cache_folder=tmp_path)


def test_an_api_is_asked_in_order_and_tells_its_size(tmp_path, api_server):
    embedder = build_embedder("openai:m", cache_folder=tmp_path, openai_url=api_server)
    texts = ["x" * (number + 1) for number in range(70)]

    assert [float(number + 1) for number in range(70)] == [
        vector[0] for vector in embedder.embed(texts)
    ]
    assert 2 == embedder.dimensions
    assert (3.0, 1.0) == embedder.embed_query("abc")


def test_an_api_that_fails_is_a_model_that_does_not_answer(tmp_path, api_server):
    embedder = build_embedder("openai:m", cache_folder=tmp_path, openai_url=api_server)

    with pytest.raises(ModelUnavailable, match="does not answer"):
        embedder.embed(["fail"])


def test_hash_vectors_are_equal_on_every_machine(tmp_path):
    embedder = build_embedder("hash", cache_folder=tmp_path)
    vector = embedder.embed(["tea"])[0]

    assert [(place, value) for place, value in enumerate(vector) if value] == [(286, 1.0)]
    assert math.isclose(1.0, cosine(embedder.embed_query("?!"), embedder.embed_query("?!")))
