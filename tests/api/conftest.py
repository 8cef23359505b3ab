"""The HTTP API over a built service, and a client with an admin key of its own tenant."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
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

    def over(self, graphmem: Any) -> "Api":
        """The same client over a service with another part."""
        self.client.application.extensions["graphmem"] = graphmem
        return replace(self, house=replace(self.house, graphmem=graphmem))

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


def over(house: Any, apps: dict[str, Flask]) -> Api:
    """A client with an admin key of the tenant of a service."""
    if "app" not in apps:
        apps["app"] = create_app(house.graphmem)
    app = apps["app"]
    app.extensions["graphmem"] = house.graphmem
    app.extensions.pop("graphmem_embedder", None)  # what it remembers of the embedder before
    bare = Api(client=app.test_client(), house=house, key="")
    return bare.with_key(Role.ADMIN, "*")


@pytest.fixture(scope="session")
def api_over(apps) -> Callable[[Any], Api]:
    """What lets the app of this run speak for a service."""
    return lambda house: over(house, apps)


@pytest.fixture
def api(house, apps) -> Api:
    """A client with an admin key of the test's tenant, over the service of the test."""
    return over(house, apps)


@pytest.fixture(scope="module")
def api_of_module(house_of_module, apps) -> Api:
    """A client over one service for all tests of a module; who asks it makes it the app's first."""
    return over(house_of_module, apps)
