"""What a pull brings of somebody else's is told once; what is one's own never is, with real git."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramdown import Cortex, Engram
from engramdown.errors import EntryNotFoundError, InvalidEngramError, StoreError
from engramdown.gate.arrivals import NAME, Approvals, Said
from engramdown.hippocampus.provenance import NAME as CACHE
from tests.cli.conftest import Runner
from tests.cortex.person import Person
from tests.git.desk import Desk

FOLDER: Final = ".engramdown"


class Colleague:
    """Somebody with a home and a clone of the repository that both push to."""

    def __init__(self, place: Path, shared: Path, name: str, *, review: bool = False) -> None:
        """Clone ``shared`` into a folder of ``place``."""
        self.home = place / f"{name}-home"
        self.home.mkdir()
        word = "review" if review else "news"
        config = f'durability = "fast"\npulled = "{word}"\n'
        (self.home / "config.toml").write_text(config, encoding="utf-8")
        Desk(shared, init=False).git("clone", "--quiet", str(shared), str(place / name))
        self.desk = Desk(place / name, author=name, init=False)
        self.desk.git("checkout", "--quiet", "-B", "main")
        self.hand = Person(self.desk.top / FOLDER)

    def cortex(self) -> Cortex:
        """Open memory, as a new process would."""
        return Cortex.open(project=self.desk.top, home=self.home)

    def learns(self, *texts: str) -> None:
        """Let an assistant learn lessons."""
        engrams = [Engram(text, "lesson", "project", "high") for text in texts]
        assert {each.action for each in self.cortex().propose(engrams)} <= {"encoded", "merged"}

    def pushes(self) -> None:
        """Commit all and push it."""
        self.desk.commit()
        self.desk.git("push", "--quiet", "origin", "HEAD:main")

    def pulls(self, *how: str) -> None:
        """Pull what others pushed."""
        self.desk.git("pull", "--quiet", *(how or ("--no-rebase",)), "origin", "main")

    def news(self) -> list[str]:
        """Begin a session, and return what it tells of."""
        with self.cortex().session() as session:
            return [arrival.text for arrival in session.news()]

    def sees(self) -> str:
        """Return what a model sees."""
        return str(self.cortex().build_memory_context())


class Team(tuple[Colleague, Colleague]):
    """Ann and Bob; Bob wants to be asked about what he pulls."""

    __slots__ = ()


def team_in(place: Path, *, review: bool = False) -> Team:
    """Return two who share a repository in which Ann has learned one lesson."""
    shared = place / "shared.git"
    shared.mkdir()
    Desk(shared, init=False).git("init", "--quiet", "--bare", "--initial-branch=main", ".")
    ann = Colleague(place, shared, "Ann")
    ann.learns("CI takes nine minutes")
    ann.pushes()
    return Team((ann, Colleague(place, shared, "Bob", review=review)))


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """Return Ann and Bob."""
    return team_in(tmp_path)


@pytest.fixture
def careful(tmp_path: Path) -> Team:
    """Return Ann, and Bob who wants to approve what he pulls."""
    return team_in(tmp_path, review=True)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs a command in this process."""
    return Runner(capsys, monkeypatch)


# ---- news ----


def test_a_first_clone_is_news_once(team: Team) -> None:
    ann, bob = team
    assert bob.news() == ["CI takes nine minutes"]
    assert bob.news() == []
    assert ann.news() == []


def test_a_lesson_that_stands_under_its_topic_too_is_told_once(team: Team) -> None:
    ann, bob = team
    bob.news()
    ann.cortex().propose([Engram("Mondays are slow", "lesson", "project", "high", topic="ci")])
    ann.pushes()
    bob.pulls()
    assert bob.news() == ["Mondays are slow"]


def test_a_pull_is_news_and_what_it_left_alone_is_not(team: Team) -> None:
    ann, bob = team
    bob.news()
    ann.learns("The linter is slow")
    ann.pushes()
    bob.learns("Deploys are on Mondays")
    bob.desk.commit()
    assert bob.news() == []
    bob.pulls("--rebase", "-X", "ours")
    assert bob.news() == ["The linter is slow"]
    assert bob.news() == []


def test_other_words_of_a_memory_are_news_again(team: Team) -> None:
    ann, bob = team
    bob.news()
    ann.hand.changes("lessons.md", "nine minutes", "ten minutes")
    ann.pushes()
    bob.pulls()
    assert bob.news() == ["CI takes ten minutes"]


@pytest.mark.slow
def test_a_switch_to_another_branch_and_back_is_none(team: Team) -> None:
    _, bob = team
    bob.news()
    bob.desk.git("checkout", "--quiet", "-b", "work")
    bob.learns("Deploys are on Mondays")
    bob.hand.adds("rules.md", "## Always\n\n- Be brief")
    bob.news()
    bob.desk.commit()
    for branch in ("main", "work"):
        bob.desk.git("checkout", "--quiet", branch)
        assert bob.news() == []
    assert "Be brief" in bob.sees()


def test_what_one_pushed_and_reverts_is_none(team: Team) -> None:
    _, bob = team
    bob.news()
    bob.learns("Deploys are on Mondays")
    bob.pushes()
    bob.desk.git("revert", "--no-edit", "HEAD")
    assert bob.news() == []
    bob.desk.git("revert", "--no-edit", "HEAD")
    assert bob.news() == []
    assert "Deploys are on Mondays" in bob.sees()


def test_what_came_from_oneself_through_somebody_else_is_none(team: Team) -> None:
    ann, bob = team
    ann.pulls()
    bob.news()
    bob.learns("Deploys are on Mondays")
    bob.pushes()
    ann.pulls()
    assert ann.news() == ["Deploys are on Mondays"]
    ann.learns("The linter is slow")
    ann.pushes()
    bob.pulls()
    assert bob.news() == ["The linter is slow"]


def test_the_prompt_stays_the_same_when_news_are_told(team: Team) -> None:
    _, bob = team
    before = bob.sees()
    assert "nine minutes" in before
    bob.news()
    assert bob.sees() == before


def test_where_there_is_no_git_nothing_is_news(tmp_path: Path) -> None:
    home, top = tmp_path / "home", tmp_path / "work"
    Person(top / FOLDER).saves("rules.md", "# Rules\n\n## Always\n\n- Use uv\n")
    (home).mkdir()
    (home / "config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    cortex = Cortex.open(project=top, home=home)
    with cortex.session() as session:
        assert session.news() == []
    assert "Use uv" in str(cortex.build_memory_context())
    assert not (home / NAME).exists()


def test_a_page_that_one_wrote_before_git_knew_it_is_none(team: Team) -> None:
    ann, bob = team
    bob.news()
    bob.hand.saves("soul.md", "You are Hal.\n")
    assert bob.news() == []
    bob.pushes()
    assert bob.news() == []
    ann.pulls()
    assert ann.news() == ["You are Hal.\n"]


def test_news_that_cannot_be_noted_as_told_are_told_later(team: Team) -> None:
    _, bob = team
    (bob.home / NAME).mkdir()
    assert bob.news() == []
    (bob.home / NAME).rmdir()
    assert bob.news() == ["CI takes nine minutes"]


SPOILT: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[:-9],
    "another form": lambda _: b"[]",
    "nested": lambda _: b"[" * 100_000,
    "changed": lambda data: data.replace(b"brought", b"brougth"),
}


def test_a_cache_that_is_gone_or_spoilt_changes_nothing(careful: Team) -> None:
    ann, bob = careful
    bob.learns("Deploys are on Mondays")
    bob.desk.commit()
    ann.learns("The linter is slow")
    ann.pushes()
    bob.pulls("--rebase", "-X", "ours")
    before = (bob.sees(), [each.engram.text for each in bob.cortex().pending()])
    assert "linter" not in before[0]
    cache = bob.desk.top / FOLDER / CACHE
    for name, spoilt in SPOILT.items():
        cache.write_bytes(spoilt(cache.read_bytes()))
        assert (bob.sees(), [each.engram.text for each in bob.cortex().pending()]) == before, name
    cache.unlink()
    assert (bob.sees(), [each.engram.text for each in bob.cortex().pending()]) == before
    cache.unlink()
    cache.mkdir()
    assert bob.sees() == before[0]


# ---- review ----


def test_nothing_that_was_pulled_is_seen_before_it_is_approved(careful: Team) -> None:
    ann, bob = careful
    assert bob.sees() == ""
    ann.learns("The linter is slow")
    ann.pushes()
    bob.pulls()
    cortex = bob.cortex()
    first, second = cortex.pending()
    assert (first.op, first.hold != "") == ("load", True)
    with cortex.session() as session:
        assert session.confirmations() == []
    assert cortex.resolve(first.id, "skip").action == "queued"
    assert cortex.resolve(second.id[:6], "accept").action == "encoded"
    assert "The linter is slow" in bob.sees()
    assert "nine minutes" not in bob.sees()
    # It is known by its words: another line, another branch, and no cache.
    (bob.desk.top / FOLDER / "memory" / "lessons.md").write_text(
        "# Lessons\n\n- The linter is slow\n", encoding="utf-8"
    )
    assert "The linter is slow" in bob.sees()


def test_an_approval_holds_on_every_branch_and_for_no_other_words(careful: Team) -> None:
    ann, bob = careful
    (proposal,) = bob.cortex().pending()
    bob.cortex().resolve(proposal.id)
    bob.desk.git("checkout", "--quiet", "-b", "work")
    assert "nine minutes" in bob.sees()
    bob.desk.git("checkout", "--quiet", "main")
    ann.hand.changes("lessons.md", "nine", "ten")
    ann.pushes()
    bob.pulls()
    assert bob.sees() == ""
    assert [each.engram.text for each in bob.cortex().pending()] == ["CI takes ten minutes"]


def test_whoever_edits_a_line_by_hand_approves_it(careful: Team) -> None:
    ann, bob = careful
    ann.learns("The linter is slow")
    ann.pushes()
    bob.pulls()
    bob.learns("Deploys are on Mondays")
    bob.hand.changes("lessons.md", "nine minutes", "eleven minutes")
    assert "eleven minutes" in bob.sees()
    assert "linter" not in bob.sees()
    bob.desk.commit()
    assert "eleven minutes" in bob.sees()


def test_other_words_may_be_approved_instead(careful: Team) -> None:
    _, bob = careful
    (proposal,) = bob.cortex().pending()
    receipt = bob.cortex().resolve(proposal.id, text="CI takes long")
    assert (receipt.action, receipt.engram.text) == ("encoded", "CI takes long")
    assert "CI takes long" in bob.sees()
    assert bob.cortex().pending() == []


@pytest.mark.slow
def test_what_is_declined_goes_and_is_not_learned_again(careful: Team) -> None:
    _, bob = careful
    (proposal,) = bob.cortex().pending()
    cortex = bob.cortex()
    assert cortex.resolve(proposal.id, "decline").action == "discarded"
    assert bob.hand.reads("lessons.md").count("nine minutes") == 0
    (receipt,) = cortex.propose(Engram("CI takes nine minutes", "lesson", "project", "high"))
    assert receipt.action == "discarded"
    # git brings the line again, and it waits again.
    bob.desk.git("checkout", "--quiet", "-b", "mine")
    bob.desk.commit()
    bob.desk.git("checkout", "--quiet", "main")
    assert bob.sees() == ""
    assert [each.engram.text for each in bob.cortex().pending()] == ["CI takes nine minutes"]


def test_a_decision_that_is_none_or_too_late_is_refused(careful: Team) -> None:
    _, bob = careful
    cortex = bob.cortex()
    (proposal,) = cortex.pending()
    with pytest.raises(InvalidEngramError):
        cortex.resolve(proposal.id, "perhaps")
    bob.hand.saves("soul.md", "You are Hal.\n")
    bob.desk.commit()
    page = cortex.pending()[-1]
    with pytest.raises(InvalidEngramError, match="change it in an editor"):
        cortex.resolve(page.id, text="You are Sal.")
    with pytest.raises(EntryNotFoundError):
        cortex.resolve("_000000000000", "accept")


def test_a_dry_run_approves_nothing(careful: Team) -> None:
    _, bob = careful
    cortex = bob.cortex()
    (proposal,) = cortex.pending()
    cortex.scopes.dry_run()
    cortex.resolve(proposal.id)
    assert cortex.pending() == []
    assert len(bob.cortex().pending()) == 1


def test_a_clone_that_cannot_be_written_is_reviewed_as_well(careful: Team) -> None:
    """A command that only reads begins no journal: what it finds is looked at each time."""
    _, bob = careful
    assert bob.sees() == ""
    assert not (bob.desk.top / FOLDER / "history.jsonl").exists()
    bob.learns("Deploys are on Mondays")
    assert "Deploys" in bob.sees()
    assert "nine minutes" not in bob.sees()


def test_a_file_of_ones_own_that_is_not_taken_in_yet_is_not_mistaken(careful: Team) -> None:
    _, bob = careful
    bob.learns("Deploys are on Mondays")
    bob.desk.commit()
    store = bob.cortex().scopes.stores[1]
    lines = bob.hand.reads("lessons.md")
    bob.hand.saves("lessons.md", f"{lines}- By hand\n")
    brought = Cortex(bob.cortex().scopes.global_hc, store, settings=bob.cortex().scopes.settings)
    assert "Deploys are on Mondays" in str(brought.build_memory_context())


def test_what_was_decided_elsewhere_is_of_another_folder(tmp_path: Path) -> None:
    record = Approvals(tmp_path)
    record.add(tmp_path / "a", "approved", ["k"])
    record.add(tmp_path / "a", "seen", [])
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"did": 1}\n[]\n\xff\n{"scope"')
    record.add(tmp_path / "a", "declined", ["d"])
    keys = (frozenset[str](), frozenset({"k"}), frozenset({"d"}))
    assert record.of(tmp_path / "a") == Said(*keys)
    assert record.of(tmp_path / "b") == Said()
    assert Approvals(tmp_path).of(tmp_path / "a") == record.of(tmp_path / "a")
    kept = Approvals(None)
    kept.add(tmp_path, "own", ["k"])
    assert kept.of(tmp_path).approved == {"k"}


@given(
    st.lists(st.binary() | st.sampled_from([b"[" * 90_000, b'{"did": [], "keys": 1}']), max_size=4)
)
def test_any_bytes_are_a_record(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("home")
    (folder / NAME).write_bytes(b"\n".join(lines))
    assert Approvals(folder).of(folder) == Said()


def test_a_home_that_git_brings_is_somebody_elses_as_well(careful: Team, tmp_path: Path) -> None:
    ann, bob = careful
    home = tmp_path / "dotfiles"
    ann.desk.git("clone", "--quiet", str(ann.desk.top), str(home))
    (home / FOLDER / "config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    cortex = Cortex.open(project=bob.desk.top, home=home / FOLDER)
    assert str(cortex.build_memory_context()) == ""
    assert {proposal.engram.scope for proposal in cortex.pending()} == {"global", "project"}


def test_a_record_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreError, match=NAME):
        Approvals(tmp_path).of(tmp_path)
    with pytest.raises(StoreError, match=NAME):
        Approvals(tmp_path).add(tmp_path, "seen", ["k"])


# ---- commands ----


def test_review_tells_of_news_and_context_stays_what_a_model_sees(
    team: Team, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bob = team
    monkeypatch.setenv("ENGRAMDOWN_HOME", str(bob.home))
    monkeypatch.chdir(bob.desk.top)
    assert run.ok("context").out.strip() == bob.sees().strip()
    (news,) = run.ok("review", "--json", "--dry-run").json["news"]
    assert (news["text"], news["scope"], news["kind"]) == (
        "CI takes nine minutes",
        "project",
        "lesson",
    )
    done = run.ok("review")
    assert "1 thing came with git" in done.out
    assert "lessons.md" in done.out
    assert "CI takes nine minutes" in done.out
    assert "came with git" not in run.ok("review").out


def test_a_person_approves_with_review(
    careful: Team, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bob = careful
    monkeypatch.setenv("ENGRAMDOWN_HOME", str(bob.home))
    monkeypatch.chdir(bob.desk.top)
    assert run.ok("context").out.strip() == ""
    shown = run.ok("review").out
    assert "somebody else's" in shown
    assert "it came with git" in shown
    run.ok("review", "--all")
    assert "nine minutes" in run.ok("context").out
    assert "Nothing is waiting" in run.ok("review").out


# ---- a law ----

# Words that no reader takes for two values of one thing.
WORDS: Final = ("maps", "chess", "tulips", "lanterns", "violins")


# Each example runs git some thirty times.
@pytest.mark.slow
@settings(max_examples=20 if os.environ.get("CI") else 3)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", "pull", "approve", "switch", "hand", "decline"]),
            st.sampled_from(WORDS),
        ),
        min_size=3,
        max_size=8,
    )
)
def test_nothing_unapproved_is_in_any_context(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[str, str]]
) -> None:
    ann, bob = team_in(tmp_path_factory.mktemp("team"), review=True)
    approved: set[str] = set()
    for at, (what, word) in enumerate(story):
        if what == "ann":
            ann.learns(f"Ann says {word}")
            ann.desk.commit()
            ann.pulls("--no-rebase", "-X", "ours")
            ann.desk.git("push", "--quiet", "origin", "HEAD:main")
        elif what == "bob":
            bob.learns(f"Bob says {word}")
            bob.desk.commit()
        elif what == "hand":
            bob.hand.adds("rules.md", f"\n## Always\n\n- Bob writes {word}")
            bob.news()
            bob.desk.commit()
        elif what == "pull":
            bob.desk.commit()
            bob.pulls("--no-rebase", "-X", "theirs")
        elif what == "switch":
            commits = bob.desk.git("rev-list", "HEAD").split()
            commit = commits[at % len(commits)]
            bob.desk.git("checkout", "--quiet", "-B", f"work-{at}", commit)
        else:
            for proposal in bob.cortex().pending()[:1]:
                assert "Bob says" not in proposal.engram.text
                decision = "accept" if what == "approve" else "decline"
                bob.cortex().resolve(proposal.id, decision)
                approved |= {proposal.engram.text} if what == "approve" else set()
            bob.desk.commit()
        seen = [line[2:] for line in bob.sees().split("\n") if line.startswith("- ")]
        assert [text for text in seen if "Bob" not in text and text not in approved] == []
        waiting = [proposal.engram.text for proposal in bob.cortex().pending()]
        # What is saved in the very moment after a merge may be the merge's, for all we can tell.
        assert [text for text in waiting if "Bob says" in text] == []
