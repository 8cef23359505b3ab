"""The Java command lines of the embedded Neo4j."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from graphmem.adapters.embedded.home import Neo4jHome
from graphmem.adapters.embedded.java import Java
from graphmem.adapters.embedded.output import why_it_ended
from graphmem.errors import EmbeddedServerError

SERVER = "org.neo4j.server.Neo4jCommunity"
ADMIN_TOOL = "org.neo4j.cli.AdminTool"
ADMIN_HEAP = "-Xmx128m"
ADMIN_SECONDS = 60
SERIAL = "-XX:+UseSerialGC"
FIRST_HEAP = "-Xms128m"


@dataclass(frozen=True, kw_only=True)
class Neo4jCommand:
    """A Java, the jars and the memory with which it runs them."""

    java: Java
    jars: tuple[Path, ...]
    heap: str
    extra_jars: tuple[Path, ...] = ()
    extra_flags: tuple[str, ...] = ()

    @property
    def class_path(self) -> str:
        """The jars one by one: the start-up cache is bound to their order.

        The extra ones come last, as Java takes a cache for a class path that goes on behind it.
        """
        return os.pathsep.join(map(str, (*self.jars, *self.extra_jars)))

    @property
    def collector(self) -> tuple[str, ...]:
        """The small garbage collector, unless another was chosen: Java refuses two."""
        is_chosen = any(re.match(r"-XX:\+Use\w+GC$", flag) for flag in self.extra_flags)
        return () if is_chosen else (SERIAL,)

    def server(self, home: Neo4jHome, cache_flags: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the command that runs the server."""
        memory = (*self.collector, FIRST_HEAP, f"-Xmx{self.heap}")
        folders = (f"--home-dir={home.folder}", f"--config-dir={home.configuration_folder}")
        return self._java(*memory, *self.extra_flags, *cache_flags, main=(SERVER, *folders))

    def admin(self, *arguments: str) -> tuple[str, ...]:
        """Return the command that runs the admin tool."""
        return self._java(ADMIN_HEAP, main=(ADMIN_TOOL, *arguments))

    def environment(self, home: Neo4jHome) -> dict[str, str]:
        """Return the environment that points both programs to the folder."""
        folders = {"NEO4J_HOME": str(home.folder), "NEO4J_CONF": str(home.configuration_folder)}
        return {**os.environ, **folders}

    def _java(self, *flags: str, main: tuple[str, ...]) -> tuple[str, ...]:
        return (str(self.java.executable), *self.java.flags, *flags, "-cp", self.class_path, *main)


def set_first_password(home: Neo4jHome, command: Neo4jCommand, password: str) -> None:
    """Set the password before the server has ever run, so that the known default never works.

    Raises EmbeddedServerError when the admin tool fails.
    """
    with home.admin_arguments("dbms", "set-initial-password", password) as arguments:
        try:
            done = subprocess.run(
                command.admin(f"@{arguments}"),
                env=command.environment(home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                timeout=ADMIN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as problem:
            message = f"Neo4j's admin tool did not set the password within {ADMIN_SECONDS} seconds."
            raise EmbeddedServerError(message) from problem
    if done.returncode:
        message = (
            f"The password could not be set: {why_it_ended(done.stdout.decode(errors='replace'))}"
        )
        raise EmbeddedServerError(message)
