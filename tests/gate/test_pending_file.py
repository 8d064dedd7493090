"""What waits in pending.md: read, accepted, declined, by one or by several at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import CONFIDENCES, KINDS, SOURCES, Engram, Kind
from engramdown.errors import EntryNotFoundError, InvalidSkillError, StoreError
from engramdown.gate.intake import Waiting
from engramdown.gate.pending import Order, Pending, TickRefusedError, identity
from engramdown.gate.pending_file import FileQueue, SkillDraft, draft_text, read_draft
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import Document, Placed
from engramdown.storage.disk import Disk
from tests.cortex.entries import any_text
from tests.cortex.person import Person
from tests.gate.decisions import accept, decline
from tests.tables import every

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return an empty store; durability is not what is tested here."""
    return Hippocampus(tmp_path / ".engramdown", disk=Disk(durable=False))


@pytest.fixture
def queue(store: Hippocampus) -> FileQueue:
    """Return the queue of the store."""
    return FileQueue(store)


@pytest.fixture
def person(store: Hippocampus) -> Person:
    """Return somebody who edits the files of the store."""
    return Person(store.root)


def said(text: str, kind: Kind = "lesson") -> Engram:
    """Return an engram of the project."""
    return Engram(text, kind, "project")


def proposal(text: str, kind: Kind = "lesson") -> Pending:
    """Return a proposal to remember ``text``."""
    return Pending(new_id(), said(text, kind))


def propose(queue: FileQueue, text: str, kind: Kind = "lesson") -> Pending:
    """Let a proposal wait, and return it as it waits."""
    queue.add([proposal(text, kind)])
    return next(item for item in queue.pending() if item.engram.text == text)


def texts(store: Hippocampus) -> list[str]:
    """Return what is remembered."""
    return [entry.text for entry in store.entries()]


class TestAdding:
    """A proposal becomes one line that any editor can tick."""

    @pytest.mark.slow
    @freeze_time("2026-02-27 12:00:00")
    def test_the_line_is_the_one_of_the_format(self, queue: FileQueue, person: Person) -> None:
        engram = Engram(
            "Prefer pytest fixtures over setUp",
            "always",
            "project",
            source="consolidation",
            origin="20260227-101500-4f2a#12",
        )
        queue.add([Pending("p81dz5ka", engram)])
        assert person.reads("pending.md") == (
            "# Pending\n\n"
            "- [ ] Prefer pytest fixtures over setUp <!-- id:p81dz5ka kind:always scope:project "
            "confidence:medium source:consolidation from:20260227-101500-4f2a#12 ts:2026-02-27 "
            "-->\n"
        )

    @given(
        engram=st.builds(
            Engram,
            any_text.filter(lambda text: text.strip() != "" and "\ud800" not in text),
            st.sampled_from(KINDS),
            st.just("project"),
            st.sampled_from(CONFIDENCES),
            st.sampled_from(["", "api"]),
            st.sampled_from(SOURCES),
            expires=st.sampled_from(["", "2027-01-31"]),
        )
    )
    def test_what_is_read_is_what_was_proposed(
        self, tmp_path_factory: pytest.TempPathFactory, engram: Engram
    ) -> None:
        folder = tmp_path_factory.mktemp("scope")
        store = Hippocampus(folder, disk=Disk(durable=False))
        (added,) = FileQueue(store).add([Pending(new_id(), engram)])
        (item,) = FileQueue(store).pending()
        assert item == added
        assert item.engram == engram
        accept(FileQueue(store), item, item.engram)
        assert texts(store) == [engram.text]
        assert FileQueue(store).pending() == []

    def test_what_waits_already_is_not_added_again(self, queue: FileQueue) -> None:
        first = propose(queue, "Use uv")
        assert queue.add([proposal("use UV.")]) == [first]
        assert len(queue.pending()) == 1

    def test_the_same_twice_in_a_batch_is_one(self, queue: FileQueue) -> None:
        one, two = queue.add([proposal("Use uv"), proposal("use UV.")])
        assert one == two
        assert len(queue.pending()) == 1

    def test_another_kind_of_memory_is_another_proposal(self, queue: FileQueue) -> None:
        queue.add([proposal("Use pip", "always"), proposal("Use pip", "never")])
        assert [item.engram.kind for item in queue.pending()] == ["always", "never"]

    def test_a_line_that_somebody_decided_on_meanwhile_is_still_told(
        self, store: Hippocampus
    ) -> None:
        class Rival(FileQueue):
            def pending(self) -> list[Pending]:
                return []

        added = Rival(store).add([item := proposal("Use uv")])
        assert added == [item]

    def test_what_it_would_do_is_kept(self, queue: FileQueue) -> None:
        plain = proposal("Deploy on Mondays")
        item = replace(plain, op="replace", of="k3v9q2ht", reason="contradiction")
        held = replace(proposal("Obey"), hold="instruction", reason="instruction")
        queue.add([item, held])
        read = queue.pending()
        assert (read[0].op, read[0].of, read[0].reason) == ("replace", "k3v9q2ht", "contradiction")
        assert (read[1].hold, read[1].reason) == ("instruction", "")
        assert identity(read[0]) == identity(item)


class TestReading:
    """Only lines of a task list are proposals; the rest is the person's."""

    @pytest.mark.parametrize(
        "line, text, tick",
        [
            pytest.param("- [ ] my own line", "my own line", "", id="open"),
            pytest.param("- [x] my own line", "my own line", "x", id="accepted"),
            pytest.param("- [X] my own line", "my own line", "x", id="capital"),
            pytest.param("- [-] my own line", "my own line", "-", id="declined"),
            pytest.param("* [x] a star", "a star", "x", id="star"),
            pytest.param("+ [x] a plus", "a plus", "x", id="plus"),
            pytest.param("- [x] two\n  lines", "two\nlines", "x", id="two-lines"),
            pytest.param("- [ ] [x] a box in the text", "[x] a box in the text", "", id="boxes"),
        ],
    )
    def test_a_line_of_a_persons_own(
        self, queue: FileQueue, person: Person, line: str, text: str, tick: str
    ) -> None:
        person.saves("pending.md", f"{line}\n")
        (item,) = queue.pending()
        assert (item.engram.text, item.tick) == (text, tick)
        assert (item.engram.source, item.engram.confidence) == ("user", "high")
        assert item.engram.kind == "lesson"
        assert item.id.startswith("_")

    @pytest.mark.parametrize(
        "line, kind",
        [
            pytest.param("- [x] Always run make", "always", id="always"),
            pytest.param("- [ ] Please never push to main", "never", id="never"),
            pytest.param("- [-] When CI is red, look at the log", "when", id="when"),
            pytest.param("- [x] CI is slow", "lesson", id="lesson"),
            pytest.param("- [x] Never push <!-- kind:lesson -->", "lesson", id="said"),
            pytest.param("- [x] Never push <!-- id:k3v9q2ht -->", "lesson", id="ours"),
            pytest.param("- [x] My name is Ada", "lesson", id="fact-in-a-project"),
        ],
    )
    def test_the_kind_of_a_persons_own_line_is_found_in_its_words(
        self, queue: FileQueue, person: Person, line: str, kind: str
    ) -> None:
        person.saves("pending.md", f"{line}\n")
        (item,) = queue.pending()
        assert item.engram.kind == kind

    def test_a_fact_about_the_user_in_the_global_scope_is_one(self, tmp_path: Path) -> None:
        store = Hippocampus(tmp_path / "home", "global", disk=Disk(durable=False))
        Person(store.root).saves("pending.md", "- [x] My name is Ada\n")
        (item,) = FileQueue(store).pending()
        assert item.engram.kind == "profile"

    @pytest.mark.parametrize(
        "line",
        [
            pytest.param("- a note", id="no-box"),
            pytest.param("- [x]", id="empty"),
            pytest.param("- [x] <!-- id:k3v9q2ht -->", id="only-metadata"),
            pytest.param("- [y] hm", id="another-letter"),
            pytest.param("- [x]glued", id="glued"),
            pytest.param("[x] a paragraph", id="paragraph"),
            pytest.param("```\n- [x] in code\n```", id="code"),
            pytest.param("> - [x] quoted", id="quoted"),
            pytest.param("1984 [x] a year", id="year"),
            pytest.param("<!--\n- [x] in a private note\n-->", id="private-note"),
            pytest.param("## [x] a heading", id="heading"),
        ],
    )
    def test_what_is_no_proposal(self, queue: FileQueue, person: Person, line: str) -> None:
        person.saves("pending.md", f"{line}\n")
        assert queue.pending() == []

    @pytest.mark.parametrize(
        "data, problem",
        [
            pytest.param(b"- [x] caf\xe9", "not UTF-8", id="bytes"),
            pytest.param(b"- [x] a <!-- id:a expires:2027-1-1 -->", "not a date", id="date"),
            pytest.param(b"- [x] a <!-- id:a topic:../x -->", "looks like a path", id="topic"),
        ],
    )
    def test_a_line_that_cannot_be_a_memory_waits_and_says_why(
        self, store: Hippocampus, queue: FileQueue, person: Person, data: bytes, problem: str
    ) -> None:
        person.saves("pending.md", "")
        (store.memory / "pending.md").write_bytes(data + b"\n- [x] whole\n")
        broken, whole = queue.pending()
        assert problem in broken.problem
        with pytest.raises(StoreError, match=r"pending\.md:1: .*; mend the line"):
            accept(queue, broken, broken.engram)
        accept(queue, whole, whole.engram)
        assert texts(store) == ["whole"]
        assert data in (store.memory / "pending.md").read_bytes()
        decline(queue, broken)
        assert queue.pending() == []

    def test_unknown_values_count_as_absent(self, queue: FileQueue, person: Person) -> None:
        person.saves("pending.md", "- [ ] a <!-- id:a kind:wish op:burn scope:moon hold:odd -->\n")
        (item,) = queue.pending()
        assert (item.engram.kind, item.op, item.engram.scope) == ("lesson", "encode", "project")
        assert item.hold == "odd"


class TestAccepting:
    """The memory is written and the line is gone, in a single step."""

    def test_it_is_written_as_verified(self, store: Hippocampus, queue: FileQueue) -> None:
        item = propose(queue, "Use uv", "always")
        written = accept(queue, item, item.engram)
        assert written is not None
        (entry,) = store.entries()
        assert (written.action, written.entry) == ("encoded", entry)
        assert (entry.kind, entry.basis, entry.source) == ("always", "verified", "llm")
        assert store.history()[-1].op == "accept"
        assert queue.pending() == []

    def test_one_step_can_be_undone(self, store: Hippocampus, queue: FileQueue) -> None:
        item = propose(queue, "Use uv")
        accept(queue, item, item.engram)
        store.undo()
        assert texts(store) == []
        assert queue.pending() == [item]

    def test_a_lesson_with_a_topic_is_verified_in_both_files(
        self, queue: FileQueue, person: Person
    ) -> None:
        queue.add([Pending(new_id(), Engram("Batch of 50", "lesson", "project", topic="api"))])
        (item,) = queue.pending()
        accept(queue, item, item.engram)
        for name in ("lessons.md", "topics/api.md"):
            assert "basis:verified" in person.reads(name)

    def test_other_words_are_written_instead(self, store: Hippocampus, queue: FileQueue) -> None:
        item = propose(queue, "Use uv")
        accept(queue, item, replace(item.engram, text="Use uv, never pip"))
        assert texts(store) == ["Use uv, never pip"]
        assert queue.pending() == []

    def test_what_is_known_meanwhile_is_verified_there(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        item = propose(queue, "Use uv")
        person.saves("lessons.md", "- use UV. <!-- id:k3v9q2ht source:llm -->\n")
        written = accept(queue, item, item.engram)
        assert written is not None
        assert (written.action, written.entry.id) == ("merged", "k3v9q2ht")
        assert [entry.basis for entry in store.entries()] == ["verified"]

    def test_what_is_remembered_meanwhile_waits_no_longer(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        propose(queue, "Use uv")
        other = propose(queue, "Use ruff")
        store.encode([said("use UV.")])
        assert queue.pending() == [replace(other, line=queue.pending()[0].line)]
        store.undo()
        assert [item.engram.text for item in queue.pending()] == ["Use uv", "Use ruff"]

    def test_a_fact_that_replaced_another_one_meanwhile_waits_no_longer(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        (ada,) = store.rewrite_identity(["Name: Ada"])
        queue.add([replace(proposal("Name: Grace", "profile"), op="replace", of=ada.id)])
        store.rewrite_identity(["Name: Grace"])
        assert queue.pending() == []

    def test_what_a_person_wrote_meanwhile_stays_as_it_is(
        self, queue: FileQueue, person: Person
    ) -> None:
        item = propose(queue, "Use uv")
        person.saves("lessons.md", "- Use uv\n")
        written = accept(queue, item, item.engram)
        assert written is not None
        assert written.action == "merged"
        assert person.reads("lessons.md") == "- Use uv\n"

    def test_a_line_of_a_persons_own_is_theirs(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        person.saves("pending.md", "# To do\n\n- a note\n- [x] my own line\n")
        (item,) = queue.pending()
        accept(queue, item, item.engram)
        (entry,) = store.entries()
        assert (entry.text, entry.source, entry.by_person) == ("my own line", "user", True)
        assert person.reads("pending.md") == "# To do\n\n- a note\n"

    def test_a_rule_of_a_persons_own_is_filed_as_one(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        person.saves("pending.md", "- [x] Always run make\n")
        (item,) = queue.pending()
        accept(queue, item, item.engram)
        assert [(entry.text, entry.kind) for entry in store.recall_rules()] == [
            ("Always run make", "always")
        ]

    def test_the_same_line_twice_is_one_memory(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        person.saves("pending.md", "- [x] mine\n- [x] mine\n")
        actions = [accept(queue, item, item.engram) for item in queue.pending()]
        assert [written.action for written in actions if written] == ["encoded", "merged"]
        assert texts(store) == ["mine"]
        assert queue.pending() == []

    def test_a_copied_line_with_other_words_is_another_proposal(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        propose(queue, "Use uv")
        line = person.reads("pending.md").split("\n")[2]
        person.adds("pending.md", line.replace("Use uv", "Use tabs"))
        for item in reversed(queue.pending()):
            accept(queue, item, item.engram)
        assert texts(store) == ["Use tabs", "Use uv"]

    def test_a_tombstone_is_lifted_by_the_second_thought(self, queue: FileQueue) -> None:
        decline(queue, propose(queue, "Use uv"))
        assert queue.turned_down() == [("Use uv", "lesson")]
        item = propose(queue, "Use uv")
        accept(queue, item, item.engram)
        assert queue.turned_down() == []

    def test_a_retired_memory_has_no_receipt(self, store: Hippocampus, queue: FileQueue) -> None:
        known = store.encode([said("Use pip")])[0].entry
        queue.add([replace(proposal("Delete: Use pip"), op="forget", of=known.id)])
        (item,) = queue.pending()
        assert accept(queue, item, item.engram) is None
        assert texts(store) == []
        assert queue.turned_down() == [("Use pip", "lesson")]


class TestReplacing:
    """What is replaced is in the archive first."""

    def ask(self, queue: FileQueue, text: str, of: str, kind: Kind = "lesson") -> Pending:
        """Propose to replace a memory."""
        queue.add([replace(proposal(text, kind), op="replace", of=of)])
        return queue.pending()[-1]

    def test_the_older_one_moves_to_the_archive(self, store: Hippocampus, queue: FileQueue) -> None:
        old = store.encode([Engram("Retry 3 times", "lesson", "project", topic="api")])[0].entry
        item = self.ask(queue, "Retry 5 times", old.id)
        accept(queue, item, item.engram)
        assert texts(store) == ["Retry 5 times"]
        (gone,) = store.archived()
        assert (gone.entry.id, gone.entry.text, gone.reason) == (
            old.id,
            "Retry 3 times",
            "replaced",
        )
        assert store.recall_topic("api") == []

    def test_what_was_replaced_may_be_learned_again(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        old = store.encode([said("Retry 3 times")])[0].entry
        item = self.ask(queue, "Retry 5 times", old.id)
        accept(queue, item, item.engram)
        assert queue.turned_down() == []

    def test_a_line_of_a_persons_own_can_be_replaced(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        person.saves("rules.md", "## Never\n\n- Deploy on Fridays\n\nThanks!\n")
        (old,) = [entry for entry in store.entries() if entry.kind == "never"][:1]
        item = self.ask(queue, "Deploy on Fridays", old.id, "always")
        accept(queue, item, item.engram)
        assert [entry.kind for entry in store.entries() if "Fridays" in entry.text] == ["always"]
        assert store.archived()[0].entry.text == "Deploy on Fridays"

    def test_if_it_is_gone_already_the_new_one_is_written(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        old = store.encode([said("Retry 3 times")])[0].entry
        item = self.ask(queue, "Retry 5 times", old.id)
        store.forget(old.id)
        written = accept(queue, item, item.engram)
        assert written is not None
        assert written.action == "encoded"
        assert texts(store) == ["Retry 5 times"]

    def test_a_copy_with_words_of_its_own_is_archived_too(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        old = store.encode([Engram("Retry 3 times", "lesson", "project", topic="api")])[0].entry
        person.changes("topics/api.md", "Retry 3 times", "Retry 3 times, with jitter")
        item = self.ask(queue, "Retry 5 times", old.id)
        accept(queue, item, item.engram)
        kept = {gone.entry.text for gone in store.archived()} | set(texts(store))
        assert {"Retry 5 times", "Retry 3 times, with jitter"} <= kept

    def test_turned_back_into_the_older_one_it_confirms_it(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        old = store.encode([said("Retry 3 times")])[0].entry
        item = self.ask(queue, "Retry 5 times", old.id)
        written = accept(queue, item, replace(item.engram, text="Retry 3 times"))
        assert written is not None
        assert (written.action, written.entry.id) == ("merged", old.id)
        assert written.entry.basis == "verified"
        assert store.archived() == []

    def test_forgetting_what_was_replaced_before_leaves_a_tombstone(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        old = store.encode([said("Retry 3 times")])[0].entry
        item = self.ask(queue, "Retry 5 times", old.id)
        accept(queue, item, item.engram)
        again = store.encode([said("Retry 3 times")])[0].entry
        queue.add([replace(proposal("Delete: Retry 3 times"), op="forget", of=again.id)])
        (item,) = queue.pending()
        accept(queue, item, item.engram)
        assert queue.turned_down() == [("Retry 3 times", "lesson")]


class TestDeclining:
    """What is declined leaves a tombstone."""

    def test_it_moves_to_the_archive(self, store: Hippocampus, queue: FileQueue) -> None:
        decline(queue, propose(queue, "Use pip", "never"))
        (gone,) = store.archived()
        assert (gone.entry.text, gone.reason, gone.was) == ("Use pip", "declined", "pending.md")
        assert queue.turned_down() == [("Use pip", "never")]
        assert queue.pending() == []

    def test_there_it_is_no_proposal_any_more(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        item = replace(proposal("Use pip"), op="replace", of="k3v9q2ht", hold="contradiction")
        queue.add([item])
        decline(queue, queue.pending()[0])
        for key in ("op:", "of:", "hold:"):
            assert key not in person.reads("archive.md")
        assert store.restore(item.id).text == "Use pip"
        assert person.reads("lessons.md").count(f"id:{item.id}") == 1

    def test_a_line_of_a_persons_own_does_too(self, queue: FileQueue, person: Person) -> None:
        person.saves("pending.md", "- [-] my own line\n")
        decline(queue, queue.pending()[0])
        assert queue.turned_down() == [("my own line", "lesson")]
        assert person.reads("pending.md") == ""

    def test_a_question_about_a_deletion_leaves_none(
        self, store: Hippocampus, queue: FileQueue
    ) -> None:
        known = store.encode([said("Use pip")])[0].entry
        queue.add([replace(proposal("Delete: Use pip"), op="forget", of=known.id)])
        decline(queue, queue.pending()[0])
        assert queue.turned_down() == []
        assert texts(store) == ["Use pip"]

    def test_nor_does_a_question_that_is_deleted_in_an_editor(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        known = store.encode([said("Never use pip here")])[0].entry
        queue.add([replace(proposal("Delete: Never use pip here"), op="forget", of=known.id)])
        person.deletes("pending.md", "Delete:")
        store.notice()
        assert queue.turned_down() == []

    def test_nor_does_a_note_that_is_deleted_in_an_editor(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        propose(queue, "Use uv")
        person.adds("pending.md", "- ask Ada about the cache")
        store.notice()
        person.deletes("pending.md", "ask Ada")
        store.notice()
        assert queue.turned_down() == []

    def test_a_proposal_that_is_deleted_in_an_editor_is_declined(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        propose(queue, "Use uv")
        person.deletes("pending.md", "Use uv")
        store.notice()
        assert queue.turned_down() == [("Use uv", "lesson")]

    @pytest.mark.parametrize("meta", ["", " <!-- id:k3v9q2ht kind:always -->"])
    def test_a_secret_that_a_person_typed_does_not_get_into_the_archive(
        self, queue: FileQueue, person: Person, meta: str
    ) -> None:
        person.saves("pending.md", f"- [-] The token is {KEY}{meta}\n")
        decline(queue, queue.pending()[0])
        assert KEY not in person.reads("archive.md")
        assert [text for text, _ in queue.turned_down()] == [
            "The token is [redacted: GitHub token]"
        ]
        assert queue.pending() == []


class TestAtOnce:
    """Several decide at once: one of them does, and the others are told."""

    @pytest.mark.parametrize("first", ["accept", "decline"])
    @pytest.mark.parametrize("second", ["accept", "decline"])
    def test_who_comes_second_is_refused(
        self, store: Hippocampus, queue: FileQueue, first: str, second: str
    ) -> None:
        item = propose(queue, "Use uv")
        other = FileQueue(Hippocampus(store.root, disk=Disk(durable=False)))
        for who, decision in ((queue, first), (other, second)):
            if who is other:
                steps = len(store.history())
                with pytest.raises(EntryNotFoundError, match=r"pending\.md as it was"):
                    decide(other, decision, item)
                assert len(store.history()) == steps
            else:
                decide(who, decision, item)
        assert texts(store) == (["Use uv"] if first == "accept" else [])

    @pytest.mark.parametrize(
        "old, new",
        [
            pytest.param("Use uv", "Use uv and nothing else", id="text"),
            pytest.param("kind:lesson", "kind:always", id="kind"),
            pytest.param("- [x]", "- [ ]", id="unticked"),
            pytest.param("- [x]", "- [-]", id="declined"),
        ],
    )
    def test_what_changed_meanwhile_is_not_forced(
        self, store: Hippocampus, queue: FileQueue, person: Person, old: str, new: str
    ) -> None:
        propose(queue, "Use uv")
        person.ticks("Use uv")
        (item,) = queue.pending()
        person.changes("pending.md", old, new)
        with pytest.raises(EntryNotFoundError):
            accept(queue, item, item.engram)
        assert texts(store) == []
        assert new in person.reads("pending.md")

    def test_a_tick_that_came_meanwhile_changes_nothing(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        item = propose(queue, "Use uv")
        person.ticks("Use uv")
        accept(queue, item, item.engram)
        assert texts(store) == ["Use uv"]

    def test_lines_that_came_above_meanwhile_change_nothing(
        self, store: Hippocampus, queue: FileQueue, person: Person
    ) -> None:
        item = propose(queue, "Use uv")
        person.changes("pending.md", "# Pending\n", "# Pending\n\nHello.\n\n- [ ] another\n")
        accept(queue, item, item.engram)
        assert texts(store) == ["Use uv"]

    @pytest.mark.slow
    def test_of_four_processes_one_accepts(
        self, store: Hippocampus, queue: FileQueue, child_env: dict[str, str]
    ) -> None:
        for number in range(8):
            propose(queue, f"Lesson {number}")
        script = (
            "import sys\n"
            "from engramdown import Cortex, EngramdownError\n"
            "cortex = Cortex.open(project=sys.argv[1])\n"
            "for number in range(8):\n"
            "    for proposal in cortex.pending()[:1]:\n"
            "        try:\n"
            "            print(cortex.resolve(proposal.id, 'accept').action)\n"
            "        except EngramdownError as error:\n"
            "            print(type(error).__name__)\n"
        )
        command = [sys.executable, "-c", script, str(store.root)]
        running = [
            subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE, encoding="utf-8")
            for _ in range(4)
        ]
        said = "".join(process.communicate(timeout=120)[0] for process in running).split()
        assert {process.returncode for process in running} == {0}
        assert said.count("encoded") == 8
        assert set(said) <= {"encoded", "EntryNotFoundError"}
        assert sorted(texts(store)) == [f"Lesson {number}" for number in range(8)]


def decide(queue: FileQueue, decision: str, item: Pending) -> None:
    """Accept or decline."""
    if decision == "accept":
        accept(queue, item, item.engram)
    else:
        decline(queue, item)


def both(store: Hippocampus) -> Waiting:
    """Return what waits in the store of a project, with nothing in the global one."""
    return Waiting({"global": Hippocampus(store.root / "home", "global"), "project": store})


def ticked(count: int, kind: str = "always", more: str = "") -> str:
    """Return a page with so many ticked lines."""
    line = (
        "- [x] Rule number {at} <!-- id:{at:08d} kind:{kind} scope:project source:llm{more} -->\n"
    )
    return "# Pending\n\n" + "".join(
        line.format(at=at, kind=kind, more=more.format(at=at)) for at in range(count)
    )


class TestMany:
    """What a person decided about many lines is one pass over the file."""

    def test_what_is_accepted_is_one_step_and_what_is_declined_another(
        self, store: Hippocampus, person: Person
    ) -> None:
        person.saves("pending.md", ticked(6).replace("[x] Rule number 4", "[-] Rule number 4"))
        receipts = both(store).apply_ticks(print)
        assert [each.action for each in receipts].count("encoded") == 5
        assert receipts[4].action == "discarded"
        assert [(step.op, step.why) for step in store.history()[1:]] == [
            ("decline", "declined proposal 00000004"),
            ("accept", "accepted 5 proposals"),
        ]
        assert person.reads("pending.md") == "# Pending\n\n"
        store.undo()
        assert [item.engram.text for item in FileQueue(store).pending()] == [
            f"Rule number {at}" for at in (0, 1, 2, 3, 5)
        ]

    def test_one_that_cannot_be_carried_out_keeps_no_other_waiting(
        self, store: Hippocampus, person: Person
    ) -> None:
        text = ticked(3).replace("source:llm -->", "source:llm expires:never -->", 1)
        person.saves("pending.md", text)
        told: list[str] = []
        receipts = both(store).apply_ticks(told.append)
        assert [each.action for each in receipts] == ["failed", "encoded", "encoded"]
        assert "mend the line in an editor" in told[0]
        assert texts(store) == ["Rule number 1", "Rule number 2"]
        assert [item.id for item in FileQueue(store).pending()] == ["00000000"]

    @pytest.mark.parametrize("op, left", [("forget", 0), ("replace", 40)])
    def test_memories_that_give_way_are_found_in_one_reading(
        self, store: Hippocampus, person: Person, op: str, left: int
    ) -> None:
        old = "".join(f"- Old {at} <!-- id:m{at:07d} source:user -->\n" for at in range(40))
        person.saves("lessons.md", f"# Lessons\n\n{old}")
        person.saves("pending.md", ticked(40, "lesson", f" op:{op} of:m{{at:07d}}"))
        receipts = both(store).apply_ticks(print)
        assert {each.action for each in receipts} == {"encoded" if left else "forgotten"}
        assert len(texts(store)) == left
        assert not [text for text in texts(store) if text.startswith("Old")]
        assert len(store.archived()) == 40

    def test_a_memory_that_a_line_before_changed_is_found_again(
        self, store: Hippocampus, person: Person
    ) -> None:
        person.saves("rules.md", "## Always\n\n- Old <!-- id:mmmmmmmm source:llm -->\n- Other\n")
        lines = (
            "- [x] Old <!-- id:aaaaaaa1 kind:always source:llm -->\n"
            "- [x] Delete: Old <!-- id:aaaaaaa2 kind:always op:forget of:mmmmmmmm -->\n"
            "- [x] Delete: Old <!-- id:aaaaaaa3 kind:always op:forget of:mmmmmmmm -->\n"
        )
        person.saves("pending.md", lines)
        receipts = both(store).apply_ticks(print)
        assert [each.action for each in receipts] == ["merged", "forgotten", "forgotten"]
        assert texts(store) == ["Other"]

    def test_it_stops_when_there_is_no_time_and_goes_on_the_next_time(
        self, store: Hippocampus, person: Person
    ) -> None:
        person.saves("pending.md", ticked(9).replace("[x] Rule number 8", "[-] Rule number 8"))
        asked = iter([True, True, False])
        waiting = both(store)
        done = waiting.apply_ticks(print, None, lambda: next(asked, False))
        assert [each.action for each in done] == ["encoded", "encoded", "discarded"]
        assert [item.tick for item in FileQueue(store).pending()] == ["x"] * 6
        assert waiting.apply_ticks(print, None, lambda: False)[0].action == "encoded"
        assert len(waiting.apply_ticks(print)) == 5
        assert FileQueue(store).pending() == []

    @pytest.mark.slow
    def test_twice_as_many_are_read_twice_as_often(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def lines_read(count: int) -> int:
            store = Hippocampus(tmp_path / str(count), disk=Disk(durable=False))
            Person(store.root).saves("pending.md", ticked(count))
            read, place = 0, Document._place

            def counting(document: Document) -> Iterator[Placed]:
                nonlocal read
                read += len(document.blocks)
                return place(document)

            monkeypatch.setattr(Document, "_place", counting)
            assert len(both(store).apply_ticks(print)) == count
            monkeypatch.undo()
            return read

        assert lines_read(400) < 2.5 * lines_read(200)


def test_what_is_decided_is_not_carried_out_against_a_reason() -> None:
    item = Pending("aaaaaaaa", Engram("Use uv", "always", "project"))
    Order(item, item.engram).check()
    Order(item, item.engram, why_not=str).check()
    with pytest.raises(TickRefusedError, match="somebody else's"):
        Order(item, item.engram, why_not=lambda: "somebody else's").check()


WORDS = st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(
    lambda text: 0 < len(text) <= 1024 and text.isprintable()
)  # fmt: skip


@given(st.from_regex(r"[a-z]{3,9}(-[a-z]{3,9})?", fullmatch=True), WORDS, st.text())
def test_a_draft_is_read_as_it_was_written(label: str, does: str, body: str) -> None:
    if any(char != "\n" and not char.isprintable() for char in body):
        body = ""
    body = "\n".join(line.rstrip() for line in body.strip().split("\n"))
    draft = SkillDraft(label, does, f"{body}\n" if body else "")
    assert read_draft(draft_text(draft)) == draft


def test_a_person_may_change_every_word() -> None:
    text = "Skill `ship-it` :  Ship\n  the app\n \n1. Ship.\n\n   ```sh\n   ship\n   ```\n"
    assert read_draft(text) == SkillDraft(
        "ship-it", "Ship the app", "1. Ship.\n\n   ```sh\n   ship\n   ```\n"
    )


@every(
    "text, said",
    [
        ("Ship it", "is no skill; write `Skill `"),
        ("Skill ship-it: Ship", "is no skill"),
        ("Skill `Ship It`: Ship", "'Ship It' is not a label; use small letters"),
        ("Skill `../x`: Ship", "is not a label; use small letters"),
        ("Skill `ship`:\n\n1. Ship", "description: has 0 characters"),
        (f"Skill `ship`: {'x' * 1025}", "has 1025 characters"),
    ],
)
def test_what_is_no_skill_says_why(text: str, said: str) -> None:
    with pytest.raises(InvalidSkillError, match=said):
        read_draft(text)
