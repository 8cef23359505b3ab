"""Settings: where the service runs. Defaults, under a TOML file, under the environment.

Everything in the file can be set as ``GRAPHMEM__SECTION__KEY``; the names of http.md are short
forms.
"""

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from marshmallow import RAISE, Schema, ValidationError, fields, post_load, validate

from graphmem.errors import SettingsError
from graphmem.model.entity import entity_key
from graphmem.model.orchestrator_config import KEYS, config_problems
from graphmem.model.policy.overrides import override_problems

_PREFIX = "GRAPHMEM_"
SHORT_NAMES = {
    "HOST": "server.host",
    "PORT": "server.port",
    "DATA_DIR": "server.data_dir",
    "API_KEY": "server.api_key",
    "LOG": "server.log",
    "NEO4J_URI": "neo4j.uri",
    "NEO4J_USER": "neo4j.user",
    "NEO4J_PASSWORD": "neo4j.password",
    "NEO4J_DATABASE": "neo4j.database",
    "NEO4J_BOLT_PORT": "neo4j.bolt_port",
    "NEO4J_HTTP_PORT": "neo4j.http_port",
    "NEO4J_LIB": "neo4j.jars_folder",
    "MAVEN_URL": "neo4j.maven_url",
    "JAVA_HOME": "neo4j.java_home",
    "EMBEDDER": "embedder.name",
    "LLM": "llm.name",
}
_STRICT = {"memory", "orchestrators"}
_NESTED = {"policy"} | _STRICT  # sections with tables in them
_OTHER_NAMES = {
    "CONFIG",
    "TEST_NEO4J_URI",
    "TEST_NEO4J_USER",
    "TEST_NEO4J_PASSWORD",
}  # read elsewhere


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """The HTTP service and its files."""

    host: str = "127.0.0.1"
    port: int = 8474
    data_dir: Path = field(default_factory=lambda: platformdirs.user_data_path("graphmem"))
    cache_dir: Path = field(default_factory=lambda: platformdirs.user_cache_path("graphmem"))
    api_key: str | None = field(default=None, repr=False)
    log: str = "info"
    threads: int = 16
    body_max_mib: int = 32
    auth: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Neo4jSettings:
    """The database; without a URI the embedded one is used."""

    uri: str | None = None
    user: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str = "neo4j"
    bolt_port: int = 7688
    http_port: int = 7475
    heap: str = "384m"
    pagecache: str = "128m"
    jars_folder: Path | None = None
    maven_url: str | None = None
    java_home: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSettings:
    """The embedding model."""

    name: str = "local"
    threads: int = 1
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_seconds: float = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageModelSettings:
    """The language model; ``none`` means deterministic rules."""

    name: str = "none"
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_seconds: float = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteSettings:
    """What the gateway refuses, and which folders a source path may lie in beside the data folder."""

    refuse_secrets: bool = True
    refuse_injection: bool = True
    source_roots: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySettings:
    """How entities are named: variants, and the key that is meant."""

    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceSettings:
    """How long it is kept what writes, recalls and jobs did."""

    keep_days: int = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings."""

    server: ServerSettings = field(default_factory=ServerSettings)
    neo4j: Neo4jSettings = field(default_factory=Neo4jSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    llm: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    entities: EntitySettings = field(default_factory=EntitySettings)
    traces: TraceSettings = field(default_factory=TraceSettings)
    policy: Mapping[str, Any] = field(default_factory=dict)  # by path, such as recall.fused.k
    memory: Mapping[str, Any] = field(default_factory=dict)  # by key, such as retrieval.top_n (002)
    orchestrators: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # the same of one, by its name
    places: Mapping[str, str] = field(
        default_factory=dict
    )  # path of a value → the variable that set it


class _Path(fields.String):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        return Path(super()._deserialize(value, attr, data, **options)).expanduser().absolute()


_PORT = validate.Range(1, 65_535)
_SIZE = validate.Regexp(r"^\d+[kmg]$", error="Must be a size such as 512m or 2g.")


class _Section(Schema):
    class Meta:
        unknown = RAISE


class _ServerSchema(_Section):
    host = fields.String(validate=validate.Length(min=1))
    port = fields.Integer(validate=_PORT)
    data_dir = _Path()
    cache_dir = _Path()
    api_key = fields.String(
        validate=validate.Regexp(
            r"^gm_[A-Za-z0-9_-]{32,128}$",
            error="Must be gm_ and 32 to 128 letters, digits, _ or -.",
        )
    )
    log = fields.String(validate=validate.OneOf(["debug", "info", "warning", "error"]))
    threads = fields.Integer(validate=validate.Range(1, 256))
    body_max_mib = fields.Integer(validate=validate.Range(1, 1024))
    auth = fields.Boolean()


class _Neo4jSchema(_Section):
    uri = fields.String(
        validate=validate.Regexp(
            r"^(bolt|neo4j)(\+s|\+ssc)?://", error="Must be bolt:// or neo4j://."
        )
    )
    user = fields.String()
    password = fields.String()
    database = fields.String()
    bolt_port = fields.Integer(validate=_PORT)
    http_port = fields.Integer(validate=_PORT)
    heap = fields.String(validate=_SIZE)
    pagecache = fields.String(validate=_SIZE)
    jars_folder = _Path()
    maven_url = fields.String()
    java_home = fields.String()


class _EmbedderSchema(_Section):
    name = fields.String(
        validate=validate.Regexp(
            r"^(local|hash|fastembed:.+|openai:.+)$",
            error="Must be local, hash, fastembed:<model> or openai:<model>.",
        )
    )
    threads = fields.Integer(validate=validate.Range(1, 64))
    api_key = fields.String()
    base_url = fields.String()
    timeout_seconds = fields.Float(validate=validate.Range(0.1, 600))


class _LanguageModelSchema(_Section):
    name = fields.String(
        validate=validate.Regexp(r"^(none|openai:.+)$", error="Must be none or openai:<model>.")
    )
    api_key = fields.String()
    base_url = fields.String()
    timeout_seconds = fields.Float(validate=validate.Range(0.1, 600))


class _WriteSchema(_Section):
    refuse_secrets = fields.Boolean()
    refuse_injection = fields.Boolean()
    source_roots = fields.List(_Path())

    @post_load
    def _tuple(self, values: dict[str, Any], **_: object) -> dict[str, Any]:
        return values | (
            {"source_roots": tuple(values["source_roots"])} if "source_roots" in values else {}
        )


class _Overrides(fields.Field[dict[str, Any]]):
    """Values of the policy, in tables or by their path.

    Texts of the environment become what they say.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        flat = {path: _spoken(inner) for path, inner in _leaves(_table(value)) if inner != {}}
        if problems := override_problems(flat):
            raise ValidationError(problems)
        return flat


class _MemoryKeys(fields.Field[dict[str, Any]]):
    """The memory.* keys, for all orchestrators."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        flat = {
            path: inner for path, inner in _leaves(_table(value)) if not _is_empty_part(path, inner)
        }
        if problems := config_problems(flat):
            raise ValidationError(dict(problems))
        return flat


class _OrchestratorKeys(fields.Field[dict[str, dict[str, Any]]]):
    """The memory.* keys of single orchestrators: ``main.memory.retrieval.top_n``."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        found: dict[str, dict[str, Any]] = {}
        problems: dict[str, list[str]] = {}
        for path, inner in _leaves(_table(value)):
            owner, memory, key = path.rpartition(".memory.")
            if inner == {} and (
                path.endswith(".memory")
                or "." not in path
                or (memory and _is_empty_part(key, inner))
            ):
                continue
            if memory:
                found.setdefault(owner, {})[key] = inner
            else:
                problems[path] = ["Is not a setting: it must be under <orchestrator>.memory."]
        for owner, values in found.items():
            for key, texts in config_problems(values, of_one=True).items():
                problems[f"{owner}.memory.{key}"] = texts
        if problems:
            raise ValidationError(dict(problems))
        return found


def _is_empty_part(path: str, value: object) -> bool:
    """Whether it is a table of memory.* with nothing in it, which sets nothing."""
    return value == {} and any(key.startswith(f"{path}.") for key in KEYS)


def _table(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    message = "Must be a table."
    raise ValidationError(message)


def _leaves(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, inner in table.items():
        is_table = isinstance(inner, Mapping) and inner
        found += _leaves(inner, f"{prefix}{name}.") if is_table else [(f"{prefix}{name}", inner)]
    return found


def _spoken(value: Any) -> Any:  # noqa: ANN401 - any value of a TOML file
    """The number or truth value that a text of the environment spells."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


class _EntityKeys(fields.Field[dict[str, str]]):
    """A table of entity keys, or in the environment ``person:bob=person:robert,…``.

    Both are normalised.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, str]:  # noqa: ANN401, ARG002
        if isinstance(value, str):
            value = {
                variant: meant
                for variant, _, meant in (pair.partition("=") for pair in value.split(","))
            }
        if not isinstance(value, Mapping):
            message = "Must be a table of entity keys."
            raise ValidationError(message)
        try:
            return {
                entity_key(str(variant)): entity_key(str(meant)) for variant, meant in value.items()
            }
        except ValueError as error:
            raise ValidationError(str(error)) from error


class _EntitySchema(_Section):
    overrides = _EntityKeys()


class _TraceSchema(_Section):
    keep_days = fields.Integer(validate=validate.Range(1, 3650))


class _SettingsSchema(_Section):
    server = fields.Nested(_ServerSchema)
    neo4j = fields.Nested(_Neo4jSchema)
    embedder = fields.Nested(_EmbedderSchema)
    llm = fields.Nested(_LanguageModelSchema)
    write = fields.Nested(_WriteSchema)
    entities = fields.Nested(_EntitySchema)
    traces = fields.Nested(_TraceSchema)
    policy = _Overrides()
    memory = _MemoryKeys()
    orchestrators = _OrchestratorKeys()


def load_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment and the file that it names.

    Raises:
        SettingsError: unknown or unfit keys, all named at once, each with its place.
    """
    values, problems = _from_file(environment.get("GRAPHMEM_CONFIG"))
    places = _add_environment(values, environment, problems)
    try:
        loaded = _SettingsSchema().load(values)
    except ValidationError as error:
        found = _flat(error.messages_dict)
        problems += [f"{path}{_place(path, places, environment)}: {text}" for path, text in found]
    if problems:
        msg = "The settings are not valid:\n  " + "\n  ".join(sorted(problems))
        raise SettingsError(msg)
    return Settings(
        server=ServerSettings(**loaded.get("server", {})),
        neo4j=Neo4jSettings(**loaded.get("neo4j", {})),
        embedder=EmbedderSettings(**loaded.get("embedder", {})),
        llm=LanguageModelSettings(**loaded.get("llm", {})),
        write=WriteSettings(**loaded.get("write", {})),
        entities=EntitySettings(**loaded.get("entities", {})),
        traces=TraceSettings(**loaded.get("traces", {})),
        policy=loaded.get("policy", {}),
        memory=loaded.get("memory", {}),
        orchestrators=loaded.get("orchestrators", {}),
        places=places,
    )


def _place(path: str, places: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Where a value was set, in brackets: a variable, or the file."""
    place = places.get(path) or environment.get("GRAPHMEM_CONFIG")
    return f" ({place})" if place else ""


def _from_file(path: str | None) -> tuple[dict[str, Any], list[str]]:
    if not path:
        return {}, []
    try:
        return tomllib.loads(Path(path).read_text("utf-8")), []
    except (OSError, UnicodeDecodeError) as error:
        return {}, [f"GRAPHMEM_CONFIG: {path} cannot be read ({type(error).__name__})."]
    except tomllib.TOMLDecodeError as error:
        return {}, [f"GRAPHMEM_CONFIG: {path} is not TOML ({error})."]


def _add_environment(
    values: dict[str, Any], environment: Mapping[str, str], problems: list[str]
) -> dict[str, str]:
    """Put what the environment sets over the values of the file.

    Says which variable set which path.
    """
    places: dict[str, str] = {}
    for name in sorted(name for name in environment if name.startswith(_PREFIX)):
        short = name.removeprefix(_PREFIX)
        if short in _OTHER_NAMES:
            continue
        path = SHORT_NAMES.get(short) or (
            short[1:].lower().replace("__", ".") if short.startswith("_") else ""
        )
        section, dot, key = path.partition(".")
        if not dot or ("." in key and section not in _NESTED):
            problems.append(f"{name}: is not a setting.")
        elif isinstance(inner := values.setdefault(section, {}), dict):
            is_list = (section, key) == ("write", "source_roots")
            inner[key] = (
                environment[name].split(":") if is_list else _spoken_in(section, environment[name])
            )
            places[path] = name
    return places


def _spoken_in(section: str, text: str) -> Any:  # noqa: ANN401 - any value of a TOML file
    """In the sections whose types are checked to the letter a text of the environment is the value that it spells."""
    return _spoken(text) if section in _STRICT else text


def _flat(messages: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found = []
    for name, inner in messages.items():
        path = f"{prefix}.{name}".removeprefix(".").removesuffix("._schema")
        if isinstance(inner, Mapping):
            found += _flat(inner, path)
        else:
            found += [(path, text) for text in inner]
    return found
