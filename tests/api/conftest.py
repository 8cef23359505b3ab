"""The HTTP API over a built service, and a client with an admin key of its own tenant."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.app import create_app
from graphmem.model.caller import Role


@dataclass(frozen=True, kw_only=True)
class Api:
    """A client that sends a key with every request."""

    client: FlaskClient
    house: Any
    key: str

    def post(self, path: str, body: object, **headers: str) -> TestResponse:
        """POST JSON."""
        # as other clients write it: non-ASCII escaped, lone surrogates and NaN too
        return self.client.post(
            path,
            data=json.dumps(body),
            content_type="application/json",
            headers={"X-API-Key": self.key} | headers,
        )

    def get(self, path: str, **headers: str) -> TestResponse:
        """GET."""
        return self.client.get(path, headers={"X-API-Key": self.key} | headers)

    def with_key(self, role: Role, *spaces: str, tenant: str | None = None) -> "Api":
        """The same client with another key."""
        made = self.house.graphmem.keys.create(
            name="test", role=role, tenant=tenant or self.house.caller.tenant, spaces=spaces
        )
        return Api(client=self.client, house=self.house, key=str(made["key"]))


@pytest.fixture(scope="session")
def apps() -> dict[str, Flask]:
    """The app of this run, once a test has made it: making one takes longer than most tests."""
    return {}


@pytest.fixture
def api(house, apps) -> Api:
    """A client with an admin key of the test's tenant, over the service of the test."""
    if "app" not in apps:
        apps["app"] = create_app(house.graphmem)
    app = apps["app"]
    app.extensions["graphmem"] = house.graphmem
    app.extensions.pop("graphmem_embedder", None)  # what it remembers of the embedder before
    bare = Api(client=app.test_client(), house=house, key="")
    return bare.with_key(Role.ADMIN, "*")
