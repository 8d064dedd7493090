"""Any story: whatever a person and an assistant do by turns, memory is what the model says.

The model is three sets: what is remembered, what waits, what was turned down. After every step the
files say the same, each text once, and what the model sees holds all of the first and none of the
others.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engramdown import Cortex, Engram
from engramdown.engram import Kind
from tests.cortex.person import Person

# Claims that have nothing to do with each other, of every kind that a project keeps.
CLAIMS: Final[dict[str, Kind]] = {
    "Paint the fence green": "always",
    "Feed pigeons at noon": "never",
    "Rain drums on tin roofs": "when",
    "Apricots ripen in July": "lesson",
    "Violins need rosin": "lesson",
    "Ships carry two\nanchors": "lesson",
    "## Owls <!-- hunt --> silently": "always",
}
claims: Final = st.sampled_from(sorted(CLAIMS))


class AnyStory(RuleBasedStateMachine):
    """A person, an assistant, and the files of one project."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "home").mkdir()
        (self.folder / "home" / "config.toml").write_text('durability = "fast"\n', encoding="utf-8")
        self.person = Person(self.folder / ".engramdown")
        self.live: set[str] = set()
        self.waiting: set[str] = set()
        self.unwanted: set[str] = set()
        self.cortex = self.open()

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    def open(self) -> Cortex:
        """Open memory as another process would."""
        return Cortex.open(project=self.folder, home=self.folder / "home", mode="copilot")

    def remembered(self, claim: str) -> None:
        """Take note that a claim stands in memory, whatever a person thought of it before."""
        self.live.add(claim)
        self.unwanted.discard(claim)

    def propose(self, engram: Engram, mode: str) -> str:
        """Propose an engram, and return what became of it."""
        self.cortex.mode = mode
        return self.cortex.propose(engram)[0].action

    @rule()
    def another_process(self) -> None:
        """Close memory and open it again."""
        self.cortex = self.open()

    @rule(claim=claims)
    def the_user_says(self, claim: str) -> None:
        """A user's word is kept."""
        known = claim in self.live
        told = Engram(claim, CLAIMS[claim], "project", "high", source="user")
        said = self.propose(told, "copilot")
        assert said == ("merged" if known else "encoded")
        self.remembered(claim)

    @rule(claim=claims, mode=st.sampled_from(["autopilot", "copilot", "off"]))
    def the_assistant_learns(self, claim: str, mode: str) -> None:
        """What the assistant learned goes through the gate."""
        said = self.propose(Engram(claim, CLAIMS[claim], "project"), mode)
        if mode != "off" and claim in self.live:
            # What stands is not turned down, though the same words were declined meanwhile.
            assert said == "merged"
            self.remembered(claim)
        elif mode == "off" or claim in self.unwanted:
            assert said == "discarded"
        elif mode == "copilot":
            assert said == "queued"
            self.waiting.add(claim)
        else:
            assert said == "encoded"
            self.remembered(claim)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), decision=st.sampled_from(["accept", "decline", "skip"]))
    def the_person_decides(self, data: st.DataObject, decision: str) -> None:
        """A decision is carried out at once."""
        claim = data.draw(st.sampled_from(sorted(self.waiting)))
        (proposal,) = [item for item in self.cortex.pending() if item.engram.text == claim]
        self.cortex.resolve(proposal.id[:7], decision)
        self.decided(claim, decision)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), tick=st.sampled_from(["x", "-"]))
    def the_person_ticks(self, data: st.DataObject, tick: str) -> None:
        """A tick is carried out between turns, by whoever comes first."""
        claim = data.draw(st.sampled_from(sorted(self.waiting)))
        self.person.ticks(words_of(claim), tick)
        receipts = [*self.open().review.apply_ticks(), *self.cortex.review.apply_ticks()]
        assert [receipt.engram.text for receipt in receipts] == [claim]
        self.decided(claim, "accept" if tick == "x" else "decline")

    def decided(self, claim: str, decision: str) -> None:
        """Take note of a decision."""
        if decision != "skip":
            self.waiting.remove(claim)
        if decision == "accept":
            self.remembered(claim)
        elif decision == "decline":
            self.unwanted.add(claim)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def the_person_forgets(self, data: st.DataObject) -> None:
        """A memory is retired by its id."""
        claim = data.draw(st.sampled_from(sorted(self.live)))
        (entry,) = [entry for entry in self.cortex.entries() if entry.text == claim]
        self.cortex.forget(entry.id)
        self.live.remove(claim)
        self.unwanted.add(claim)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def the_person_deletes(self, data: st.DataObject) -> None:
        """A memory is deleted in an editor."""
        claim = data.draw(st.sampled_from(sorted(self.live)))
        (entry,) = [entry for entry in self.cortex.entries() if entry.text == claim]
        self.cut(entry.file, words_of(claim), len(claim.split("\n")))
        self.live.remove(claim)
        self.unwanted.add(claim)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def the_person_deletes_a_proposal(self, data: st.DataObject) -> None:
        """A proposal is deleted in an editor: that is a no."""
        claim = data.draw(st.sampled_from(sorted(self.waiting)))
        self.cut("pending.md", words_of(claim), len(claim.split("\n")))
        self.waiting.remove(claim)
        self.unwanted.add(claim)

    def cut(self, name: str, words: str, count: int) -> None:
        """Delete ``count`` lines of a file from the one with ``words`` on."""
        lines = self.person.reads(name).split("\n")
        at = next(at for at, line in enumerate(lines) if words in line)
        del lines[at : at + count]
        self.person.saves(name, "\n".join(lines))

    @precondition(lambda self: self.unwanted - self.live)
    @rule(data=st.data())
    def the_person_restores(self, data: st.DataObject) -> None:
        """What was retired comes back."""
        claim = data.draw(st.sampled_from(sorted(self.unwanted - self.live)))
        self.cortex = self.open()
        archived = self.cortex.scopes.stores[1].archived()
        entry = next(item.entry for item in archived if item.entry.text == claim)
        self.cortex.restore(entry.id)
        self.live.add(claim)
        left = self.cortex.scopes.stores[1].archived()
        if not any(item.entry.text == claim for item in left):
            self.unwanted.discard(claim)

    @invariant()
    def memory_is_what_the_model_says(self) -> None:
        """Each text stands once, where it belongs, for this process and for the next one."""
        for cortex in (self.cortex, self.open()):
            assert sorted(entry.text for entry in cortex.entries()) == sorted(self.live)
            pending = cortex.pending()
            assert sorted(item.engram.text for item in pending) == sorted(self.waiting)
        for entry in self.cortex.entries():
            assert entry.kind == CLAIMS[entry.text]

    @invariant()
    def a_model_sees_what_is_remembered(self) -> None:
        """All of it, and nothing that waits or was turned down."""
        context = self.cortex.build_memory_context("fence")
        for claim in CLAIMS:
            assert (words_of(claim) in context) == (claim in self.live)


def words_of(claim: str) -> str:
    """Return words of a claim that stand in the file as they are."""
    first, *_ = claim.removeprefix("## ").replace("\n", " <").split(" <")
    return first


AnyStory.TestCase.settings = settings(max_examples=10, stateful_step_count=20)
test_any_story = pytest.mark.slow(AnyStory.TestCase)
