"""Settings: where the service runs. Defaults, under a TOML file, under the environment.

Everything in the file can be set as ``GRAPHMEM__SECTION__KEY``; the names of http.md are short
forms. What a value may be stands beside it, as metadata of its field.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, is_dataclass, replace
from dataclasses import fields as fields_of
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, get_args, get_type_hints

import platformdirs
from marshmallow import Schema, ValidationError, fields, post_load, validate

from graphmem.errors import SettingsError
from graphmem.messages import flat_messages
from graphmem.model.entity import entity_key
from graphmem.model.orchestrator_config import KEYS, config_problems
from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import gathered, override_problems, policy_values, renamed

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
SOURCE_ROOTS = "source_roots"  # folders that an orchestrator may cite beside its own
_STRICT = {"memory", "orchestrators"}
_NESTED = {"policy"} | _STRICT  # sections with tables in them
_TEST_NAMES = {"TEST_NEO4J_URI", "TEST_NEO4J_USER", "TEST_NEO4J_PASSWORD"}
_OTHER_NAMES = {"CONFIG"} | _TEST_NAMES  # read elsewhere
_RULE, _FIELD = "rule", "field"  # of the metadata of a value


class _Path(fields.String):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        return Path(super()._deserialize(value, attr, data, **options)).expanduser().absolute()


class _Paths(fields.List[Any]):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        return tuple(super()._deserialize(value, attr, data, **options))


_DEFAULTS = policy_values(Policy())
_TEXTS = frozenset(path for path, value in _DEFAULTS.items() if isinstance(value, str))
_TABLES = tuple(f"{path}." for path, value in _DEFAULTS.items() if isinstance(value, Mapping))


class _Overrides(fields.Field[dict[str, Any]]):
    """Values of the policy, in tables or by their path; texts become what they spell."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        leaves = _leaves(_table(value))
        return renamed(
            gathered({path: _of_policy(path, inner) for path, inner in leaves if inner != {}})
        )


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
    """What single orchestrators have of their own.

    The memory.* keys, as ``main.memory.retrieval.top_n``, and ``main.source_roots``.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        found: dict[str, dict[str, Any]] = {}
        problems: dict[str, list[str]] = {}
        for path, inner in _leaves(_table(value)):
            owner, memory, key = path.rpartition(".memory.")
            if path.endswith(f".{SOURCE_ROOTS}") and ".memory." not in path:
                name = path.removesuffix(f".{SOURCE_ROOTS}")
                try:
                    found.setdefault(name, {})[SOURCE_ROOTS] = _Paths(_Path()).deserialize(inner)
                except ValidationError as error:
                    found_wrong = flat_messages({path: error.messages})
                    problems[path] = next(iter(found_wrong.values()))
                continue
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
            keys = {key: value for key, value in values.items() if key != SOURCE_ROOTS}
            for key, texts in config_problems(keys, of_one=True).items():
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


def _of_policy(path: str, value: Any) -> Any:  # noqa: ANN401 - any value of a TOML file
    """A value of the policy: text where it is one, or one of a table, else what it spells."""
    return value if path in _TEXTS or path.startswith(_TABLES) else _spoken(value)


def _spoken(value: Any) -> Any:  # noqa: ANN401 - any value of a TOML file
    """The number or truth value that a text of the environment spells."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


class _EntityKeys(fields.Field[dict[str, str]]):
    """Entity keys, normalised, as a table or as ``person:bob=person:robert,…``."""

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


def _text(default: str | None, pattern: str, error: str, **options: Any) -> Any:  # noqa: ANN401 - a field of that default
    """A text of a form."""
    return _value(default, validate.Regexp(pattern, error=error), **options)


def _number(default: float, least: float, most: float) -> Any:  # noqa: ANN401 - a field of that default
    """A number within bounds."""
    return _value(default, validate.Range(least, most))


def _port(default: int) -> Any:  # noqa: ANN401 - a field of that default
    return _number(default, 1, 65_535)


def _size(default: str) -> Any:  # noqa: ANN401 - a field of that default
    return _text(default, r"^\d+[kmg]$", "Must be a size such as 512m or 2g.")


def _value(default: Any, rule: validate.Validator, **options: Any) -> Any:  # noqa: ANN401 - a field of that default
    return field(default=default, metadata={_RULE: rule}, **options)


def _read_by(reader: fields.Field[Any] | None, default: Any = dict) -> Any:  # noqa: ANN401 - a field of that default
    """A value that is read in a way of its own, or not read at all."""
    return field(default_factory=default, metadata={_FIELD: reader})


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """The HTTP service and its files."""

    host: str = _value("127.0.0.1", validate.Length(min=1))
    port: int = _port(8474)
    data_dir: Path = field(default_factory=lambda: platformdirs.user_data_path("graphmem"))
    cache_dir: Path = field(default_factory=lambda: platformdirs.user_cache_path("graphmem"))
    api_key: str | None = _text(
        None,
        r"^gm_[A-Za-z0-9_-]{32,128}$",
        "Must be gm_ and 32 to 128 letters, digits, _ or -.",
        repr=False,
    )
    log: str = _value("info", validate.OneOf(["debug", "info", "warning", "error"]))
    threads: int = _number(16, 1, 256)
    connections: int = _number(500, 10, 10_000)
    header_seconds: float = _number(10.0, 0.1, 600)
    body_seconds: float = _number(120.0, 0.1, 3600)
    calls_per_minute: int = _number(0, 0, 1_000_000)  # of one key; 0: not counted
    body_max_mib: int = _number(32, 1, 1024)
    disk_low_mib: int = _number(256, 0, 1_048_576)
    auth: bool = True

    @property
    def url(self) -> str:
        """The address at which this machine reaches the API."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - only compared
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Neo4jSettings:
    """The database; without a URI the embedded one is used."""

    uri: str | None = _text(None, r"^(bolt|neo4j)(\+s|\+ssc)?://", "Must be bolt:// or neo4j://.")
    user: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str = "neo4j"
    bolt_port: int = _port(7688)
    http_port: int = _port(7475)
    browser: bool = True
    heap: str = _size("384m")
    pagecache: str = _size("128m")
    jars_folder: Path | None = None
    maven_url: str | None = None
    java_home: str | None = None

    @property
    def has_browser(self) -> bool:
        """Whether our own server is to serve Neo4j Browser."""
        return self.browser and self.uri is None


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSettings:
    """The embedding model."""

    name: str = _text(
        "local",
        r"^(local|hash|fastembed:.+|openai:.+)$",
        "Must be local, hash, fastembed:<model> or openai:<model>.",
    )
    threads: int = _number(1, 1, 64)
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_seconds: float = _number(10.0, 0.1, 600)


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageModelSettings:
    """The language model; ``none`` means deterministic rules."""

    name: str = _text("none", r"^(none|openai:.+)$", "Must be none or openai:<model>.")
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    api: str = _value("auto", validate.OneOf(["auto", "responses", "chat"]))
    timeout_seconds: float = _number(20.0, 0.1, 600)


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteSettings:
    """What the gateway refuses, and where else than in the data folder a source path may lie."""

    refuse_secrets: bool = True
    refuse_injection: bool = False  # the older name of policy.screening.instructions = "refuse"
    source_roots: tuple[Path, ...] = _read_by(_Paths(_Path()), tuple)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySettings:
    """How entities are named: variants, and the key that is meant."""

    overrides: Mapping[str, str] = _read_by(_EntityKeys())


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceSettings:
    """How long traces of writes, recalls and jobs are kept, how many, and how much of a recall.

    A recall keeps its result and so many ``candidates`` behind it; one that comes after
    ``whole_per_second`` others of its second keeps the uids of its result alone.
    """

    keep_days: int = _number(30, 1, 3650)
    keep_most: int = _number(1_000_000, 1_000, 100_000_000)
    candidates: int = _number(30, 0, 1000)
    whole_per_second: int = _number(5, 0, 1000)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeepSettings:
    """How long, and how many of, other things are kept that the service leaves behind."""

    runs_days: int = _number(30, 1, 3650)
    runs_most: int = _number(1000, 1, 1_000_000)  # of each job
    former_vectors_days: int = _number(90, 1, 36_500)
    former_vectors_most: int = _number(1_000_000, 0, 100_000_000)
    retry_keys_most: int = _number(1_000_000, 1_000, 100_000_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All sections of the settings.

    ``policy`` holds values by path, such as recall.fused.k; ``memory`` by key, such as
    retrieval.top_n (002), and ``orchestrators`` the same for single ones, by name. ``variables``
    are those of the environment that set a value, by its path.
    """

    server: ServerSettings = field(default_factory=ServerSettings)
    neo4j: Neo4jSettings = field(default_factory=Neo4jSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    llm: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    entities: EntitySettings = field(default_factory=EntitySettings)
    traces: TraceSettings = field(default_factory=TraceSettings)
    keep: KeepSettings = field(default_factory=KeepSettings)
    policy: Mapping[str, Any] = _read_by(_Overrides())
    memory: Mapping[str, Any] = _read_by(_MemoryKeys())
    orchestrators: Mapping[str, Mapping[str, Any]] = _read_by(_OrchestratorKeys())
    variables: Mapping[str, str] = _read_by(None)


class _SectionSchema(Schema):
    section: ClassVar[type]

    @post_load
    def _make(self, values: dict[str, Any], **_: object) -> Any:  # noqa: ANN401 - a section
        return self.section(**values)


_READERS: Mapping[Any, type[fields.Field[Any]]] = {
    str: fields.String,
    int: fields.Integer,
    float: fields.Float,
    bool: fields.Boolean,
    Path: _Path,
}


def _schema_of(section: type) -> type[Schema]:
    """The schema of a section: what its fields say of their values."""
    kinds = get_type_hints(section)
    readers = {each.name: _reader_of(each, kinds[each.name]) for each in fields_of(section)}
    return type(f"{section.__name__}Schema", (_SectionSchema,), readers | {"section": section})


def _reader_of(value: "Field[Any]", kind: Any) -> fields.Field[Any] | None:  # noqa: ANN401 - a type or a union
    if _FIELD in value.metadata:
        reader: fields.Field[Any] | None = value.metadata[_FIELD]
        return reader
    if isinstance(kind, type) and is_dataclass(kind):
        return fields.Nested(_schema_of(kind))
    plain = next(iter(get_args(kind)), kind)  # str of str | None
    return _READERS[plain](validate=value.metadata.get(_RULE))


_SCHEMA = _schema_of(Settings)


def load_settings(
    environment: Mapping[str, str], *, rooms: Mapping[str, Any] = MappingProxyType({})
) -> Settings:
    """The settings of an environment and the file that it names.

    ``rooms`` are the sections of the policy of rooms that are added to the house, by name.

    Raises:
        SettingsError: keys are unknown or unfit; all are named, with what set them.
    """
    values, problems = _from_file(environment.get("GRAPHMEM_CONFIG"))
    variables = _add_environment(values, environment, problems)
    loaded, unfit = _loaded(values, Policy(rooms=rooms))
    for path, texts in unfit.items():
        origin = _origin(path, variables, environment)
        problems += [f"{path}{origin}: {text}" for text in texts]
    if problems:
        msg = "The settings are not valid:\n  " + "\n  ".join(sorted(problems))
        raise SettingsError(msg)
    return replace(loaded, variables=variables)


def _loaded(
    values: Mapping[str, Any], policy: Policy
) -> tuple[Settings, Mapping[str, Sequence[str]]]:
    """The settings, and what is wrong with them by path; ``policy`` has all sections."""
    loaded, problems, overrides = Settings(), {}, {}
    try:
        loaded = _SCHEMA().load(values)
        overrides = loaded.policy
    except ValidationError as error:
        problems = flat_messages(error.messages_dict)
        if isinstance(error.valid_data, dict):
            overrides = error.valid_data.get("policy", {})
    unfit = override_problems(overrides, policy)
    return loaded, {**problems, **{f"policy.{path}": texts for path, texts in unfit.items()}}


def _origin(path: str, variables: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The variable or the file that set a value, in brackets."""
    origin = variables.get(path) or environment.get("GRAPHMEM_CONFIG")
    return f" ({origin})" if origin else ""


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
    """Put what the environment sets over the values of the file; the variables, by path."""
    variables: dict[str, str] = {}
    for name in sorted(environment):
        if not name.startswith(_PREFIX) or name.removeprefix(_PREFIX) in _OTHER_NAMES:
            continue
        path = _path_of(name.removeprefix(_PREFIX))
        section, dot, key = path.partition(".")
        if not dot or ("." in key and section not in _NESTED):
            problems.append(f"{name}: is not a setting.")
        elif isinstance(inner := values.setdefault(section, {}), dict):
            inner[key] = _spoken_in(path, environment[name])
            variables[path] = name
    return variables


def _path_of(name: str) -> str:
    """The path that a variable sets: by its short name, or spelled out behind ``_``."""
    if name.startswith("_"):
        return name[1:].lower().replace("__", ".")
    return SHORT_NAMES.get(name, "")


def _spoken_in(path: str, text: str) -> Any:  # noqa: ANN401 - any value of a TOML file
    """A text of the environment, or what it spells where types are checked to the letter."""
    if path.endswith(f".{SOURCE_ROOTS}"):
        return text.split(":")
    return _spoken(text) if path.partition(".")[0] in _STRICT else text
