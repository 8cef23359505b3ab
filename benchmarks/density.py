"""Density: how many tokens functions hold, by Python's tokenizer, without docstrings and layout.

``python -m benchmarks.density`` prints the figures, ``--largest N`` the largest functions too.
"""

import ast
import io
import statistics
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("graphmem", "api", "jobs")
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_SMALL = 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """A function and its tokens, those of its inner functions included, without decorators."""

    name: str
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Density:
    """The functions of some files, and the tokens of all of these files."""

    functions: tuple[Measured, ...]
    total: int

    @property
    def median(self) -> float:
        """The tokens of the middle function."""
        return statistics.median(each.tokens for each in self.functions)

    @property
    def ninetieth(self) -> float:
        """The tokens that nine functions in ten do not exceed."""
        return statistics.quantiles([each.tokens for each in self.functions], n=10)[-1]

    @property
    def small_share(self) -> float:
        """The share of functions with fewer than twenty tokens."""
        small = [each for each in self.functions if each.tokens < _SMALL]
        return len(small) / len(self.functions)


def density(root: Path) -> Density:
    """The density of the product."""
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    functions: list[Measured] = []
    total = 0
    for path in files:
        source = path.read_text("utf-8")
        lines = _token_lines(source)
        total += len(lines)
        functions += _measured(path.relative_to(root).as_posix(), source, lines)
    return Density(functions=tuple(functions), total=total)


def _token_lines(source: str) -> list[int]:
    """The line of each token that counts."""
    docstrings = set(_docstring_starts(ast.parse(source)))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [
        token.start[0]
        for token in tokens
        if token.type not in _LAYOUT and token.start not in docstrings
    ]


def _docstring_starts(tree: ast.Module) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].lineno, node.body[0].col_offset


def _measured(path: str, source: str, lines: list[int]) -> Iterator[Measured]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _Function):
            last = node.end_lineno or node.lineno
            tokens = sum(node.lineno <= line <= last for line in lines)
            yield Measured(name=f"{path}:{node.lineno} {node.name}", tokens=tokens)


def main() -> None:
    """Print the figures."""
    found = density(Path(__file__).parents[1])
    print(
        f"{len(found.functions):,} functions: median {found.median:.0f} tokens,"
        f" nine in ten at most {found.ninetieth:.0f},"
        f" {found.small_share:.1%} below {_SMALL}; {found.total:,} tokens in all"
    )
    if "--largest" in sys.argv:
        number = int(sys.argv[sys.argv.index("--largest") + 1])
        for each in sorted(found.functions, key=lambda one: -one.tokens)[:number]:
            print(f"{each.tokens:6} {each.name}")


if __name__ == "__main__":
    main()
