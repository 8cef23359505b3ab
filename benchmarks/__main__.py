"""``python -m benchmarks``: quality and speed, as tables."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import locomo, longmemeval
from benchmarks.career import run_career
from benchmarks.companion import run_companion
from benchmarks.durability import run_durability
from benchmarks.governance import run_governance
from benchmarks.graph import run_graph
from benchmarks.lifecycle import run_lifecycle
from benchmarks.memory import run_memory
from benchmarks.orchestrators import run_orchestrators
from benchmarks.quality import DATA_SETS, run_quality
from benchmarks.relations import run_relations
from benchmarks.service import running_service
from benchmarks.session_context import run_contexts
from benchmarks.speed import run_speed
from benchmarks.tenants import run_tenants
from benchmarks.upkeep import run_upkeep
from benchmarks.year import run_year
from graphmem.bootstrap import embedder_of
from graphmem.settings import load_settings

_WIDTH = 120  # of tables that go into a file


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What was asked for on the command line."""

    data: Path
    out: Path
    datasets: tuple[str, ...]
    sizes: tuple[int, ...]
    conversations: int | None


def main() -> None:
    """Run the parts that were asked for, one after the other.

    Each prints its tables and writes its figures.
    """
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that services are stopped on the way out
    arguments = _parser().parse_args()
    options = _options(arguments)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    console.print(f"Figures and raw results are written to {options.out}", soft_wrap=True)
    for name, part in PARTS.items():
        if arguments.only in {None, name}:
            _write(options.out / f"{name}.json", part(options, console))


def _quality(options: Options, console: Console) -> Mapping[str, Any]:
    wanted = options.datasets
    names = [
        name for name in wanted if name in FILES and _is_there(options.data / FILES[name], console)
    ]
    with running_service() as service:
        embedder = embedder_of(load_settings(service.environment))
        relations = (
            {"relations": run_relations(service.target, console)} if "relations" in wanted else {}
        )
        return relations | run_quality(
            options.data,
            service.target,
            embedder,
            names=names,
            limit=options.conversations,
            console=console,
        )


def _is_there(path: Path, console: Console) -> bool:
    if not path.is_file():
        console.print(
            f"Skipped: {path} is missing; --data names the folder that holds it.", soft_wrap=True
        )
    return path.is_file()


def _write(path: Path, figures: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(figures, indent=1, ensure_ascii=False), "utf-8")


FILES = {"locomo": locomo.FILE, "longmemeval": longmemeval.FILE}
PARTS: dict[str, Callable[[Options, Console], Mapping[str, Any]]] = {
    "quality": _quality,
    "tenants": lambda options, console: run_tenants(
        options.data, limit=options.conversations, console=console
    ),
    "speed": lambda options, console: run_speed(options.data, sizes=options.sizes, console=console),
    "graph": lambda options, console: run_graph(options.data, console=console),
    "upkeep": lambda options, console: run_upkeep(options.data, console=console),
    "lifecycle": lambda options, console: run_lifecycle(options.data, console=console),
    "year": lambda options, console: run_year(options.data, console=console),
    "contexts": lambda options, console: run_contexts(options.data, console=console),
    "companion": lambda options, console: run_companion(options.data, console=console),
    "governance": lambda options, console: run_governance(options.data, console=console),
    "career": lambda options, console: run_career(options.data, console=console),
    "orchestrators": lambda options, console: run_orchestrators(options.data, console=console),
    "memory": lambda options, console: run_memory(options.data, console=console),
    "durability": lambda _, console: run_durability(console=console),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure graphmem.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument(
        "--out", type=Path, help="folder for figures and raw results; a temporary one if not given"
    )
    parser.add_argument("--only", choices=tuple(PARTS), help="run one part")
    parser.add_argument(
        "--dataset",
        choices=("relations", *DATA_SETS, "all"),
        default="all",
        help="data set of the quality part",
    )
    parser.add_argument(
        "--sizes", type=_sizes, default=(1_000, 10_000, 50_000), help="memories, such as 1000,10000"
    )
    parser.add_argument(
        "--conversations", type=int, help="use only so many conversations of each data set"
    )
    return parser


def _options(arguments: argparse.Namespace) -> Options:
    out = arguments.out or Path(tempfile.mkdtemp(prefix="graphmem-bench-out-"))
    out.mkdir(parents=True, exist_ok=True)
    return Options(
        data=arguments.data,
        out=out,
        datasets=("relations", *DATA_SETS) if arguments.dataset == "all" else (arguments.dataset,),
        sizes=arguments.sizes,
        conversations=arguments.conversations,
    )


def _sizes(text: str) -> Sequence[int]:
    return tuple(sorted(int(part) for part in text.split(",")))


if __name__ == "__main__":
    main()
