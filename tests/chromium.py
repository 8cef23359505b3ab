"""A web browser for tests: Chromium without a window, driven as the WebDriver standard says."""

import base64
import contextlib
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphmem.adapters.tcp import free_port

CHROMIUM, DRIVER = "chromium", "chromedriver"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    # it asks its maker's hosts now and then, whatever the page does
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--window-size=1600,1200",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the standard's key of an element
_WAIT_SECONDS, _PAUSE_SECONDS = 30.0, 0.1


class WebDriverError(AssertionError):
    """The driver refused a command."""


def missing_program() -> str | None:
    """The first program that is not installed."""
    return next((name for name in (CHROMIUM, DRIVER) if shutil.which(name) is None), None)


class Chromium:
    """One window of a fresh Chromium."""

    def __init__(self, driver_url: str, profile: Path) -> None:
        self._base = driver_url
        options = {
            "binary": shutil.which(CHROMIUM),
            "args": [*FLAGS, f"--user-data-dir={profile}"],
            "perfLoggingPrefs": {"enableNetwork": True},
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL"}}
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._base = f"{driver_url}/session/{made['sessionId']}"

    def open(self, address: str) -> None:
        """Load a page."""
        self._call("POST", "/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page; what it returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, css: str, *, seconds: float = _WAIT_SECONDS) -> str:
        """The element that a CSS selector names, once it is there."""
        found = self._soon("/element", {"using": "css selector", "value": css}, seconds=seconds)
        return str(found[ELEMENT])

    def click(self, css: str) -> None:
        """Click an element, once it can be clicked."""
        self._soon(f"/element/{self.find(css)}/click", {})

    def type(self, css: str, text: str) -> None:
        """Type into an element, once it takes text."""
        self._soon(f"/element/{self.find(css)}/value", {"text": text})

    def screenshot(self, path: Path) -> None:
        """Write a picture of the window."""
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def requests(self) -> "list[SentRequest]":
        """What the window has asked for since the last time, and what became of it."""
        entries = self._call("POST", "/se/log", {"type": "performance"})
        return sent_requests([json.loads(entry["message"])["message"] for entry in entries])

    def close(self) -> None:
        """End the browser."""
        self._call("DELETE", "")

    def _soon(self, path: str, body: object, *, seconds: float = _WAIT_SECONDS) -> Any:
        """Give a command again and again until the page is so far."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self._call("POST", path, body)
            except WebDriverError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def _call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self._base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise WebDriverError(json.load(error)["value"]["message"]) from error


class SentRequest:
    """One request of a page."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_answered = False
        self.failure = ""

    @property
    def leaves_the_page(self) -> bool:
        """Whether it goes over the network, unlike data: and the browser's own pages."""
        return urlsplit(self.address).scheme in {"http", "https", "ws", "wss"}

    @property
    def host(self) -> str:
        """The host that was asked."""
        return urlsplit(self.address).hostname or ""

    def __repr__(self) -> str:
        """The address, and what became of it."""
        return f"{self.address} {self.failure or ('answered' if self.is_answered else 'open')}"


def sent_requests(events: list[dict[str, Any]]) -> list[SentRequest]:
    """The requests of a performance log, web sockets too."""
    found: dict[str, SentRequest] = {}
    for event in events:
        method, params = event["method"], event["params"]
        key = params.get("requestId", "")
        if method == "Network.requestWillBeSent":
            found[key] = SentRequest(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            found[key] = SentRequest(params["url"])
        elif key not in found:
            continue
        elif method in {"Network.responseReceived", "Network.webSocketHandshakeResponseReceived"}:
            found[key].is_answered = True
        elif method == "Network.loadingFailed":
            found[key].failure = params.get("blockedReason") or params["errorText"]
    return list(found.values())


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """A fresh Chromium, its profile in a folder; it ends with the block."""
    port = free_port()
    with (
        (folder / "chromedriver.log").open("ab") as log,
        subprocess.Popen([DRIVER, f"--port={port}"], stdout=log, stderr=log) as driver,
    ):
        try:
            wait_until_up(f"http://127.0.0.1:{port}/status")
            browser = Chromium(f"http://127.0.0.1:{port}", folder / "profile")
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()


def wait_until_up(address: str, *, seconds: float = 30.0) -> None:
    """Wait until a program answers."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
