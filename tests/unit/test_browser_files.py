"""The style, the saved queries and the page for people who look at the graph in Neo4j Browser."""

import inspect
import math
import re
from itertools import combinations
from pathlib import Path

import pytest

from graphmem.model.edge import EdgeType, LineageType
from graphmem.model.tokens import NEVER_MS
from graphmem.store import companion_schema, corpus_schema, governance_schema, schema

ROOT = Path(__file__).parents[2]
DOCS, FILES = ROOT / "docs", ROOT / "cypher" / "browser"
PAGE = (DOCS / "neo4j-browser.md").read_text("utf-8")
STYLE = (FILES / "graphmem.grass").read_text("utf-8")
QUERIES = sorted(FILES.glob("*.cypher"))
CLASSES = [
    kind
    for module in (schema, companion_schema, governance_schema, corpus_schema)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if kind.__module__ == module.__name__ and hasattr(kind, "__label__")
]
LABELS = sorted(
    {kind.__label__ for kind in CLASSES}
    | {str(label) for kind in CLASSES for label in getattr(kind, "__optional_labels__", ())}
)
RELATIONS = sorted(
    {
        relation.definition["relation_type"]
        for kind in CLASSES
        for relation in kind.defined_properties(aliases=False, properties=False).values()
    }
    | {
        "OF",
        "CLAIMS",
        "RETRACTED",
        "LAST",
        "NEXT",
        "MENTIONS",
        "HAS_REVISION",
        "RELATION",
        "FORMERLY_MENTIONED",
        *EdgeType,
        *LineageType,
    }
)


def rules():
    """The rules of the style as the Browser reads them: no comments, split at ``;`` and ``:``."""
    found = {}
    for selector, body in re.findall(r'([\w.]+)\s*\{((?:"[^"]*"|[^"}])*)\}', STYLE):
        pairs = [line.split(":") for line in body.replace('"', "").split(";") if line.strip()]
        found[selector] = {name.strip(): value.strip() for name, value in pairs}
    return found


RULES = rules()


def channels(colour):
    """Red, green and blue of ``#RRGGBB`` as amounts of light."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one, other):
    """The contrast of two colours as web guidelines measure it, 1 to 21."""
    light = sorted(
        sum(map(math.prod, zip((0.2126, 0.7152, 0.0722), channels(each), strict=True)))
        for each in (one, other)
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def distance(one, other):
    """How different two colours look (CIE 1976); about 2 can just be seen."""

    def place(colour):
        red, green, blue = channels(colour)
        x, y, z = (
            part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
            for part in (
                (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
                0.2126 * red + 0.7152 * green + 0.0722 * blue,
                (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
            )
        )
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    return math.dist(place(one), place(other))


@pytest.mark.parametrize("label", LABELS)
def test_every_label_has_a_colour_a_size_and_a_caption(label):
    rule = RULES[f"node.{label}"]

    assert {"color", "border-color", "text-color-internal", "diameter", "caption"} == set(rule)
    assert re.fullmatch(r"#[0-9A-F]{6}", rule["color"])
    assert 4.5 <= contrast(rule["color"], rule["text-color-internal"])


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation_has_a_colour_a_width_and_a_caption(relation):
    rule = RULES[f"relationship.{relation}"]

    assert {"color", "shaft-width", "caption"} == set(rule)
    assert "<type>" == rule["caption"]
    assert 3 <= contrast(rule["color"], "#FFFFFF")


def test_the_style_names_nothing_else():
    named = {f"node.{label}" for label in LABELS} | {
        f"relationship.{relation}" for relation in RELATIONS
    }

    assert named | {"node", "relationship"} == set(RULES)


@pytest.mark.parametrize("tag", ["node", "relationship"])
def test_no_two_colours_look_alike(tag):
    colours = {name: rule["color"] for name, rule in RULES.items() if name.startswith(f"{tag}.")}

    assert [] == [
        pair
        for pair in combinations(colours, 2)
        if distance(*(colours[name] for name in pair)) < 20
    ]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__label__)
def test_captions_name_properties_that_the_label_has(kind):
    properties = set(kind.defined_properties(aliases=False, rels=False))

    for label in (kind.__label__, *getattr(kind, "__optional_labels__", ())):
        wanted = re.findall(r"\{(\w+)\}", RULES[f"node.{label}"]["caption"])
        assert wanted
        assert properties >= set(wanted)


def test_the_type_of_a_memory_decides_its_colour():
    """The last rule that fits wins, so the general label stands first and the passing one last."""
    order = [name for name in RULES if name.startswith("node.")]
    labels = [f"node.{label}" for label in schema.MemoryNode.__optional_labels__]

    assert ["node.Memory", *labels] == order[: len(labels) + 1]


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_every_query_says_its_name_what_to_look_for_and_its_space(path):
    text = path.read_text("utf-8")
    name, hint, start = text.splitlines()[:3]

    assert re.fullmatch(r"// [A-Z].*[^.]", name)
    assert re.fullmatch(r"// Look for: .*\.", hint)
    governed = "main/session:s1"
    others = {
        "companion": "main/user:ada/coach",
        "phases": governed,
        "governed_item": governed,
        "corpus_history": "main/corpus:ada",
        "corpus_approvals": "main/corpus:ada",
    }
    space = others.get(path.stem, "main/project:demo")
    assert start.startswith(f"WITH '{space}' AS space")
    assert 1 == text.count(";\n") == text.count("'main/")


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_every_query_is_bounded_ordered_reads_only_and_takes_no_parameter(path):
    text = re.sub(r"//.*", "", path.read_text("utf-8"))

    assert re.search(r"ORDER BY [^\n]+\nLIMIT \d+;\n$", text)
    assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|LOAD)\b|\$", text)


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_the_page_names_every_query_and_its_title(path):
    title = path.read_text("utf-8").splitlines()[0].removeprefix("// ")

    assert f"[{title}](../cypher/browser/{path.name})" in PAGE


def test_every_link_of_the_page_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert target.startswith("https://") or (DOCS / target).is_file(), target


def test_what_never_expires_is_written_in_the_query():
    assert f"{NEVER_MS} AS never" in (FILES / "expiring.cypher").read_text("utf-8")
