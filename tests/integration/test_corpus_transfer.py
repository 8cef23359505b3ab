"""Career corpora in exports: after an import the corpus goes on as it does at home (000)."""

import json
from dataclasses import replace
from functools import partial

import pytest
from corpora import a_corpus, a_project

from graphmem.corpus.drafting import DraftChange
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.push_plan import PushRequest
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.corpus import Basis
from graphmem.model.space import parse_space


class Owner:
    """One person's corpus in a tenant."""

    def __init__(self, house, tenant):
        self.house = house
        self.caller = replace(house.caller, tenant=tenant)
        self.keeper = house.graphmem.of(CorpusKeeper)
        self.space = parse_space("corpus:ada", tenant=tenant)

    def push(self, corpus):
        change = partial(self.keeper.change_draft, self.space, "default", words=())
        change(lambda _: DraftChange(corpus=corpus), caller=self.caller)
        for section, standing in self.keeper.draft(self.space, "default").sections.items():
            self.keeper.approve(
                self.space,
                "default",
                section,
                shown=standing.content_sha256,
                basis=Basis.CURRENT_CHAT,
                approved=True,
                caller=self.caller,
            )
        return self.keeper.push(self.space, "default", PushRequest(), caller=self.caller)

    def export(self):
        return list(export_lines(self.house.graphmem.transfers, self.space))

    def take_in(self, lines):
        transfers = self.house.graphmem.transfers
        *_, done = import_lines(transfers, lines, self.space, caller=self.caller)
        return done


@pytest.fixture
def home(house):
    found = Owner(house, house.caller.tenant)
    found.keeper.bootstrap(found.space, "t-1", (), caller=found.caller)
    assert found.push(a_corpus()).persisted
    house.clock.advance(minutes=1)
    assert found.push(a_corpus(projects=[a_project(role="owner")])).persisted
    return found


@pytest.fixture
def abroad(house):
    tenant = f"{house.caller.tenant}-2"
    yield Owner(house, tenant)
    house.rows("MATCH (n) WHERE n.space STARTS WITH $other + '/' DETACH DELETE n", other=tenant)


def test_after_an_import_the_corpus_goes_on_as_at_home(home, abroad):
    lines = home.export()
    done = abroad.take_in(lines)

    assert [] == done.problems
    assert (3, 1, 1) == tuple(
        done.counts[name] for name in ("corpus_commits", "corpus_repositories", "corpus_drafts")
    )
    one, other = (each.keeper.view(each.space) for each in (home, abroad))
    assert (one.state, one.is_dirty) == (other.state, other.is_dirty)
    assert one.sections == other.sections
    assert home.keeper.files(home.space) == abroad.keeper.files(abroad.space)
    assert home.keeper.draft(home.space, "default") == abroad.keeper.draft(abroad.space, "default")
    assert home.keeper.commit(home.space, 1) == abroad.keeper.commit(abroad.space, 1)
    assert _plain(lines) == _plain(abroad.export())
    assert abroad.push(a_corpus()).revision == 4


def _plain(lines):
    """Lines without what an import makes anew."""
    return sorted(line for line in lines if json.loads(line).keys() != {"memory"})


def test_the_same_import_again_changes_nothing_and_another_repository_takes_nothing(home, abroad):
    lines = home.export()
    abroad.take_in(lines)
    before = abroad.export()

    again = abroad.take_in(lines)

    assert 0 == sum(count for name, count in again.counts.items() if name.startswith("corpus_"))
    assert [] == again.problems
    assert before == abroad.export()


def test_a_repository_that_is_there_keeps_what_it_has(home, abroad, house):
    house.clock.advance(minutes=1)
    abroad.keeper.bootstrap(abroad.space, "t-1", (), caller=abroad.caller)

    done = abroad.take_in([line for line in home.export() if '{"corpus_' in line])

    assert {"unchanged", "left_out"} >= {name for name, count in done.counts.items() if count}
    assert "REPO_NO_CORPUS" == abroad.keeper.view(abroad.space).state


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ({"corpus_commit": {"sha": "x"}}, "corpus_commit.sha"),
        ({"corpus_draft": {"session": "s", "corpus": "[", "revision": 0}}, "corpus_draft"),
        ({"corpus_transition": {"number": 0}}, "corpus_transition.number"),
    ],
)
def test_a_line_that_is_wrong_names_its_field(abroad, line, path):
    done = abroad.take_in([json.dumps(line)])

    assert path in done.problems[0]
