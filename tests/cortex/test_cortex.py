"""The coordinator: what is written, what waits, what a model sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from engramdown import Cortex, Engram, Hippocampus
from engramdown.engram import Confidence, Kind, Scope, Source
from engramdown.errors import (
    AmbiguousIdError,
    EntryNotFoundError,
    InvalidEngramError,
    LockTimeoutError,
    SettingsError,
    StoreError,
)
from engramdown.hippocampus.changeset import Act
from engramdown.storage.disk import Disk
from tests.cortex.person import Person

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def rule(
    text: str, kind: Kind = "always", confidence: Confidence = "high", source: Source = "llm"
) -> Engram:
    """Return a rule of the project."""
    return Engram(text, kind, "project", confidence, source=source)


def theirs(text: str, kind: Kind = "always", scope: Scope = "project") -> Engram:
    """Return what a user said."""
    return Engram(text, kind, scope, "high", source="user")


def texts(cortex: Cortex) -> list[str]:
    """Return what is remembered in both scopes."""
    return [entry.text for entry in cortex.entries()]


class TestOpening:
    """Scopes are found from the working directory; nothing is created by looking."""

    def test_it_creates_nothing(self, isolated_home: Path) -> None:
        cortex = Cortex.open()
        assert cortex.entries() == []
        assert cortex.pending() == []
        assert cortex.build_memory_context("hello") == ""
        assert [path.name for path in isolated_home.rglob("*")] == ["start"]

    def test_the_project_is_found_from_below(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".engramdown").mkdir()
        (tmp_path / "src" / "deep").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "src" / "deep")
        Cortex.open().encode(rule("Use uv"))
        assert "Use uv" in Person(tmp_path / ".engramdown").reads("rules.md")

    def test_a_project_begins_where_it_is_first_written(self) -> None:
        Cortex.open().encode(rule("Use uv"))
        assert (Path.cwd() / ".engramdown" / "memory" / "rules.md").exists()

    def test_both_scopes_can_be_named(self, tmp_path: Path) -> None:
        cortex = Cortex.open(project=tmp_path / "work", home=tmp_path / "mine")
        cortex.encode([rule("Use uv"), theirs("Be brief", scope="global")])
        assert Person(tmp_path / "work" / ".engramdown").reads("rules.md").count("Use uv") == 1
        assert Person(tmp_path / "mine").reads("rules.md").count("Be brief") == 1

    def test_in_the_home_folder_there_is_no_project(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(isolated_home)
        cortex = Cortex.open()
        kept, refused = cortex.propose([theirs("Be brief", scope="global"), rule("Use uv")])
        assert kept.action == "encoded"
        assert refused.action == "failed"
        assert f"{isolated_home}: is not a project" in refused.reason
        assert texts(cortex) == ["Be brief"]
        assert not (isolated_home / ".engramdown" / ".engramdown").exists()

    def test_a_mode_that_is_none_names_the_three(self, cortex: Cortex) -> None:
        with pytest.raises(SettingsError, match="'on' is not one of autopilot, copilot, off"):
            Cortex.open(mode="on")
        with pytest.raises(InvalidEngramError, match="mode: 'on' is not one of autopilot"):
            Cortex(cortex.scopes.global_hc, cortex.scopes.project_hc, mode="on")
        with pytest.raises(InvalidEngramError, match="mode: 'Off' is not one of autopilot"):
            cortex.mode = "Off"
        assert cortex.mode == "autopilot"

    def test_hand_edits_are_taken_in_and_told(
        self, cortex: Cortex, project: Path, person: Person
    ) -> None:
        cortex.encode(rule("Use uv"))
        person.changes("rules.md", "Use uv", "Use uv, never pip")
        later = Cortex.open(project=project)
        assert later.scopes.notices() == [f"{person.memory}: took in what you or git changed"]
        assert later.entries()[0].basis == "verified"

    def test_a_trouble_that_lasts_is_told_once(self, cortex: Cortex, person: Person) -> None:
        cortex.encode(rule("Use uv"))
        (person.memory / "rules.md").unlink()
        (person.memory / "rules.md").mkdir()
        for _ in range(3):
            cortex.propose(rule("Use tabs"))
        assert len(cortex.scopes.notices()) == 1
        assert "could not look for hand edits" in cortex.scopes.notices()[0]


class TestProposing:
    """Every engram gets a receipt, in its place."""

    def test_one_or_many_in_any_form(self, cortex: Cortex) -> None:
        def stream() -> Iterator[Engram]:
            yield rule("Three")

        for engrams in (rule("One"), [rule("Two")], stream()):
            assert [receipt.action for receipt in cortex.propose(engrams)] == ["encoded"]
        assert cortex.propose([]) == []

    def test_what_is_no_engram_is_named_by_its_type(self, cortex: Cortex) -> None:
        mistake: Any = f"The token is {KEY}"
        for act in (cortex.propose, cortex.encode):
            with pytest.raises(InvalidEngramError, match="a str is not an Engram; pass Engram"):
                act([mistake])

    def test_receipts_come_in_order_whatever_became_of_each(self, copilot: Cortex) -> None:
        copilot.encode(rule("Known"))
        copilot.resolve(copilot.propose(rule("Unwanted", confidence="low"))[0].id, "decline")
        receipts = copilot.propose(
            [
                rule("Unsure", confidence="low"),
                rule("Known"),
                Engram("Sure", "lesson", "global", "high"),
                rule("Unwanted"),
                rule("Sure too"),
            ]
        )
        assert [receipt.action for receipt in receipts] == [
            "queued",
            "merged",
            "encoded",
            "discarded",
            "encoded",
        ]
        assert [receipt.engram.text for receipt in receipts] == [
            "Unsure",
            "Known",
            "Sure",
            "Unwanted",
            "Sure too",
        ]

    def test_encoded_means_that_the_line_is_there(self, cortex: Cortex, person: Person) -> None:
        (receipt,) = cortex.propose(rule("Use uv"))
        assert person.reads(receipt.file).split("\n")[receipt.line - 1].startswith("- Use uv")
        assert [entry.id for entry in cortex.recall("uv")] == [receipt.id]

    def test_a_fact_about_the_user_is_kept_globally(self, cortex: Cortex, at_home: Person) -> None:
        cortex.propose(Engram("Name: Ada", "profile", "project", "high", source="user"))
        assert "Name: Ada" in at_home.reads("profile.md")

    def test_a_batch_is_one_step_of_each_journal(self, cortex: Cortex) -> None:
        scopes: list[Scope] = ["global", "project"]
        batch = [
            Engram(f"Lesson {number}", "lesson", scope) for number in range(150) for scope in scopes
        ]
        assert {receipt.action for receipt in cortex.propose(batch)} == {"encoded"}
        assert [len(store.history()) for store in cortex.scopes.stores] == [1, 1]
        assert len(cortex.entries()) == 300

    def test_so_is_one_that_waits(self, copilot: Cortex) -> None:
        batch = [rule(f"Rule {number}", confidence="low") for number in range(300)]
        assert {receipt.action for receipt in copilot.propose(batch)} == {"queued"}
        assert [len(store.history()) for store in copilot.scopes.stores] == [0, 1]
        assert len(copilot.pending()) == 300

    @pytest.mark.parametrize("text", ["Use uv", "use  UV."])
    def test_what_is_known_is_merged_and_not_asked_about(self, copilot: Cortex, text: str) -> None:
        known = copilot.encode(rule("Use uv"))[0]
        (receipt,) = copilot.propose(rule(text, confidence="low"))
        assert (receipt.action, receipt.reason, receipt.id) == ("merged", "known already", known.id)
        assert copilot.pending() == []

    def test_what_waits_already_is_not_queued_again(self, copilot: Cortex) -> None:
        first = copilot.propose(rule("Use uv", confidence="low"))[0]
        again = copilot.propose(rule("use UV", confidence="low"))[0]
        assert (again.action, again.id, again.line) == ("queued", first.id, first.line)

    def test_hearing_it_again_makes_it_surer_but_never_verified(self, cortex: Cortex) -> None:
        cortex.propose(rule("Use uv", confidence="low", source="llm"))
        cortex.propose(rule("Use uv", confidence="high", source="user"))
        (entry,) = cortex.entries()
        assert (entry.confidence, entry.source, entry.basis) == ("high", "user", "told")

    def test_nobody_but_a_person_verifies(self, cortex: Cortex) -> None:
        claim = Engram("Use uv", "always", "project", "high", basis="verified")
        for _ in range(2):
            cortex.propose(claim)
            assert [entry.basis for entry in cortex.entries()] == ["inferred"]

    def test_a_claim_that_waits_claims_no_more(self, copilot: Cortex, person: Person) -> None:
        copilot.propose(Engram("Use uv", "always", "project", "low", basis="verified"))
        assert "basis:verified" not in person.reads("pending.md")

    def test_what_contradicts_a_person_would_replace_their_memory(self, cortex: Cortex) -> None:
        known = cortex.encode(theirs("Retry 3 times", "lesson"))[0]
        (receipt,) = cortex.propose(rule("Retry 5 times", "lesson"))
        assert receipt.action == "queued"
        assert "'Retry 3 times'" in receipt.reason
        (proposal,) = cortex.pending()
        assert proposal.hold == "contradicts what you wrote or confirmed"
        assert proposal.replaces is not None
        assert (proposal.op, proposal.replaces.id) == ("replace", known.id)

    def test_what_contradicts_the_other_scope_replaces_nothing(self, cortex: Cortex) -> None:
        cortex.encode(theirs("Retry 3 times", "lesson", "global"))
        cortex.propose(rule("Retry 5 times", "lesson"))
        (proposal,) = cortex.pending()
        assert (proposal.op, proposal.replaces) == ("encode", None)

    def test_the_word_of_a_user_is_never_held_for_contradicting(self, cortex: Cortex) -> None:
        cortex.encode(theirs("Retry 3 times", "lesson"))
        (receipt,) = cortex.propose(theirs("Retry 5 times", "lesson"))
        assert receipt.action == "encoded"
        assert texts(cortex) == ["Retry 3 times", "Retry 5 times"]

    def test_asking_the_gate_writes_nothing(self, cortex: Cortex, project: Path) -> None:
        assert cortex.encoding_gate(rule("Use uv")).action == "encode"
        assert cortex.encoding_gate(rule(f"The token is {KEY}")).code == "secret"
        assert list(project.iterdir()) == []


class TestOff:
    """Memory that is switched off is read and not written."""

    def test_everything_is_discarded(self, cortex: Cortex) -> None:
        cortex.encode(rule("Use uv"))
        cortex.mode = "off"
        receipts = cortex.propose([theirs("Use tabs"), rule("Use uv")])
        assert [(receipt.action, receipt.reason) for receipt in receipts] == [
            ("discarded", "memory is switched off"),
            ("discarded", "memory is switched off"),
        ]
        assert "Use uv" in cortex.build_memory_context()
        assert cortex.encoding_gate(rule("Use uv")).code == "off"

    def test_a_broken_store_is_no_trouble(self, cortex: Cortex, person: Person) -> None:
        (person.memory / "rules.md").mkdir(parents=True)
        cortex.mode = "off"
        assert cortex.propose(rule("Use uv"))[0].action == "discarded"

    def test_what_a_person_decides_is_carried_out(self, copilot: Cortex, person: Person) -> None:
        copilot.propose([rule("Use uv", confidence="low"), rule("Use tabs", confidence="low")])
        copilot.mode = "off"
        person.ticks("Use tabs")
        copilot.review.apply_ticks()
        copilot.resolve(copilot.pending()[0].id)
        assert texts(copilot) == ["Use tabs", "Use uv"]


class TestTrouble:
    """What could not be read or written is told in a receipt."""

    def test_a_folder_that_cannot_be_written(self, cortex: Cortex, person: Person) -> None:
        cortex.encode(rule("Use uv"))
        person.memory.chmod(0o555)
        receipts = cortex.propose([rule("Use tabs"), Engram("Be brief", "always", "global")])
        assert [receipt.action for receipt in receipts] == ["failed", "encoded"]
        assert str(person.memory) in receipts[0].reason
        assert texts(cortex) == ["Be brief", "Use uv"]

    def test_a_file_that_cannot_be_read(self, cortex: Cortex, person: Person) -> None:
        (person.memory / "rules.md").mkdir(parents=True)
        (receipt,) = cortex.propose(rule(f"The token is {KEY}"))
        assert receipt.action == "failed"
        assert "rules.md" in receipt.reason
        assert KEY not in repr(receipt)

    def test_the_sure_word_of_a_user_needs_nothing_that_is_broken_elsewhere(
        self, cortex: Cortex, at_home: Person
    ) -> None:
        (at_home.memory / "lessons.md").mkdir(parents=True)
        assert cortex.propose(theirs("Use uv"))[0].action == "encoded"
        assert cortex.propose(rule("Use tabs"))[0].action == "failed"

    def test_a_lock_that_is_held(self, project: Path) -> None:
        (project / ".engramdown").mkdir()
        (project / ".engramdown" / "config.toml").write_text(
            "lock_timeout = 0.05\n", encoding="utf-8"
        )
        holder, other = (Cortex.open(project=project, mode="copilot") for _ in range(2))
        waiting = other.propose(rule("Use uv", confidence="low"))[0].id

        def while_held(_: object) -> None:
            assert other.propose(rule("Use tabs"))[0].action == "failed"
            with pytest.raises(LockTimeoutError, match=r"lock_timeout in config\.toml"):
                other.resolve(waiting)

        holder.scopes.stores[1].files.change(Act("encode", "user"), while_held)
        assert texts(other) == []
        assert [proposal.id for proposal in other.pending()] == [waiting]

    def test_a_tick_that_cannot_be_carried_out_stays(self, copilot: Cortex, person: Person) -> None:
        copilot.propose(rule("Use uv", confidence="low"))
        person.ticks("Use uv")
        copilot.review.apply_ticks()
        assert texts(copilot) == ["Use uv"]
        copilot.propose(rule("Use tabs", confidence="low"))
        person.ticks("Use tabs")
        person.memory.chmod(0o555)
        (receipt,) = copilot.review.apply_ticks()
        assert (receipt.action, receipt.file) == ("failed", "pending.md")
        assert any("what you ticked" in notice for notice in copilot.scopes.notices())
        person.memory.chmod(0o755)
        assert [receipt.action for receipt in copilot.review.apply_ticks()] == ["encoded"]


class TestWritingUnasked:
    """`encode` is for what a person has decided."""

    def test_it_asks_nobody(self, copilot: Cortex) -> None:
        copilot.mode = "off"
        assert copilot.encode(rule("Use uv", confidence="low"))[0].action == "encoded"

    def test_a_person_may_say_verified(self, cortex: Cortex) -> None:
        cortex.encode(Engram("Use uv", "always", "project", basis="verified"))
        assert cortex.entries()[0].basis == "verified"

    def test_a_secret_is_hidden(self, cortex: Cortex, person: Person) -> None:
        (receipt,) = cortex.encode(rule(f"The token is {KEY}"))
        assert receipt.engram.text == "The token is [redacted: GitHub token]"
        assert KEY not in person.everything()


class TestDeciding:
    """What a person decided about what waits."""

    def test_global_proposals_come_first(self, copilot: Cortex, at_home: Person) -> None:
        copilot.propose([rule("Use uv", confidence="low"), Engram("Be brief", "always", "global")])
        proposals = copilot.pending()
        assert [proposal.engram.text for proposal in proposals] == ["Be brief", "Use uv"]
        assert proposals[0].file == str(at_home.memory / "pending.md")
        assert [proposal.line for proposal in proposals] == [3, 3]

    def test_a_prefix_will_do(self, copilot: Cortex) -> None:
        waiting = copilot.propose(rule("Use uv", confidence="low"))[0].id
        assert copilot.resolve(waiting[:4]).action == "encoded"

    def test_one_that_is_not_unique_is_told(self, copilot: Cortex, person: Person) -> None:
        person.saves("pending.md", "- [ ] a <!-- id:abcd1234 -->\n- [ ] b <!-- id:abcd5678 -->\n")
        with pytest.raises(AmbiguousIdError, match="abcd1234, abcd5678"):
            copilot.resolve("abcd")

    def test_of_two_with_one_id_the_first_is_meant(
        self, copilot: Cortex, at_home: Person, person: Person
    ) -> None:
        for each in (at_home, person):
            each.saves("pending.md", "- [ ] Use uv\n")
        first, second = copilot.pending()
        assert first.id == second.id
        assert copilot.resolve(first.id).engram.scope == "global"
        assert [each.file for each in copilot.pending()] == [second.file]

    def test_one_that_is_not_there_says_where_to_look(self, copilot: Cortex) -> None:
        with pytest.raises(EntryNotFoundError, match="engramdown review"):
            copilot.resolve("nothere1")

    def test_skipping_leaves_it_there(self, copilot: Cortex) -> None:
        waiting = copilot.propose(rule("Use uv", confidence="low"))[0]
        receipt = copilot.resolve(waiting.id, "skip")
        assert (receipt.action, receipt.reason, receipt.id) == ("queued", "skipped", waiting.id)
        assert len(copilot.pending()) == 1

    def test_empty_words_are_refused_and_it_still_waits(self, copilot: Cortex) -> None:
        waiting = copilot.propose(rule("Use uv", confidence="low"))[0]
        with pytest.raises(InvalidEngramError, match="text: is empty"):
            copilot.resolve(waiting.id, text=" ")
        assert len(copilot.pending()) == 1

    @pytest.mark.parametrize("decision", ["accept", "decline", "skip"])
    def test_words_with_a_secret_are_hidden(
        self, copilot: Cortex, person: Person, decision: str
    ) -> None:
        waiting = copilot.propose(rule("Use uv", confidence="low"))[0]
        receipt = copilot.resolve(waiting.id, decision, text=f"The token is {KEY}")
        assert KEY not in repr(receipt)
        assert KEY not in person.everything()

    def test_moved_to_the_other_scope_it_is_kept_there(
        self, copilot: Cortex, person: Person, at_home: Person
    ) -> None:
        copilot.propose(rule("Be brief", confidence="low"))
        person.changes("pending.md", "scope:project", "scope:global")
        receipt = copilot.resolve(copilot.pending()[0].id)
        assert receipt.action == "encoded"
        (entry,) = copilot.entries()
        assert (entry.scope, entry.basis) == ("global", "verified")
        assert "Be brief" in at_home.reads("rules.md")
        assert person.reads("pending.md") == "# Pending\n\n"

    def test_turned_into_a_fact_about_the_user_it_is_kept_globally(
        self, copilot: Cortex, person: Person
    ) -> None:
        copilot.propose(rule("Name: Ada", confidence="low"))
        person.changes("pending.md", "kind:always", "kind:profile")
        copilot.resolve(copilot.pending()[0].id)
        assert [str(fact) for fact in copilot.scopes.global_hc.recall_identity()] == ["Name: Ada"]

    def test_what_was_declined_is_discarded_in_every_mode_but_not_for_the_user(
        self, copilot: Cortex
    ) -> None:
        copilot.resolve(copilot.propose(rule("Use tabs", confidence="low"))[0].id, "decline")
        for mode in ("copilot", "autopilot"):
            copilot.mode = mode
            (receipt,) = copilot.propose(rule("use TABS!"))
            assert receipt.action == "discarded"
            assert receipt.reason == "you turned this down before: 'Use tabs'"
        assert copilot.propose(theirs("Use tabs"))[0].action == "encoded"

    def test_a_tombstone_of_one_scope_holds_in_the_other(self, copilot: Cortex) -> None:
        copilot.resolve(copilot.propose(rule("Use tabs", confidence="low"))[0].id, "decline")
        (receipt,) = copilot.propose(Engram("Use tabs", "always", "global", "high"))
        assert receipt.action == "discarded"

    def test_a_secret_that_was_declined_is_not_asked_about_again(self, copilot: Cortex) -> None:
        copilot.resolve(copilot.propose(rule(f"The token is {KEY}"))[0].id, "decline")
        (receipt,) = copilot.propose(rule(f"The token is {KEY}"))
        assert receipt.action == "discarded"
        assert KEY not in repr(receipt)


class TestEntries:
    """Memories of both scopes by their ids."""

    def test_one_is_found_by_a_prefix_in_either_scope(self, cortex: Cortex) -> None:
        mine, ours = cortex.encode([theirs("Be brief", scope="global"), rule("Use uv")])
        assert cortex.find(mine.id[:5]).text == "Be brief"
        assert cortex.find(ours.id[:5]).text == "Use uv"

    def test_a_prefix_of_two_is_told(self, cortex: Cortex) -> None:
        cortex.encode([rule(f"Rule {number}") for number in range(40)])
        with pytest.raises(AmbiguousIdError):
            cortex.find(next(iter(crowded(cortex))))

    @pytest.mark.parametrize("scope", ["global", "project"])
    def test_one_is_forgotten_and_restored_where_it_was(self, cortex: Cortex, scope: Scope) -> None:
        made = cortex.encode(Engram("Use uv", "always", scope))[0]
        gone = cortex.forget(made.id[:6], why=f"it held {KEY}")
        assert (gone.id, texts(cortex)) == (made.id, [])
        assert cortex.propose(rule("use uv"))[0].action == "discarded"
        assert cortex.restore(made.id).scope == scope
        assert texts(cortex) == ["Use uv"]
        assert cortex.propose(Engram("use uv", "always", scope))[0].action == "merged"

    def test_a_prefix_of_what_is_retired_in_both_scopes_is_told(self, cortex: Cortex) -> None:
        for number in range(30):
            cortex.encode([theirs(f"Ours {number}", scope="global"), rule(f"Mine {number}")])
        scopes: dict[str, set[Scope]] = {}
        for entry in cortex.entries():
            scopes.setdefault(entry.id[0], set()).add(entry.scope)
        first = next(key for key, found in scopes.items() if len(found) == 2)
        mine = next(entry for entry in cortex.scopes.project_hc.entries() if entry.id[0] == first)
        ours = next(entry for entry in cortex.scopes.global_hc.entries() if entry.id[0] == first)
        for gone in (mine, ours):
            cortex.forget(gone.id)
        with pytest.raises(AmbiguousIdError) as caught:
            cortex.restore(first)
        assert set(caught.value.matches) == {mine.id, ours.id}
        assert cortex.restore(ours.id).scope == "global"
        assert cortex.restore(first).id == mine.id

    def test_why_it_was_forgotten_holds_no_secret(self, cortex: Cortex, person: Person) -> None:
        made = cortex.encode(rule("Use uv"))[0]
        cortex.forget(made.id, why=f"it held {KEY}")
        assert KEY not in person.everything()
        assert "it held [redacted: GitHub token]" in person.everything()

    def test_what_was_never_retired_cannot_be_restored(self, cortex: Cortex) -> None:
        with pytest.raises(EntryNotFoundError, match="in the archive"):
            cortex.restore("nothere1")

    def test_other_words_keep_the_id_and_lose_the_secret(
        self, cortex: Cortex, person: Person
    ) -> None:
        made = cortex.encode(rule("Use uv"))[0]
        entry = cortex.update(made.id[:6], f"The token is {KEY}")
        assert (entry.id, entry.text) == (made.id, "The token is [redacted: GitHub token]")
        assert KEY not in person.everything()

    def test_recall_ranks_and_limits(self, cortex: Cortex) -> None:
        cortex.encode(
            [
                rule("The cache lives in Redis", "lesson"),
                rule("Deploy on Mondays"),
                rule("Deploy the cache first", "lesson"),
            ]
        )
        assert cortex.recall("deploy cache")[0].text == "Deploy the cache first"
        assert len(cortex.recall("deploy cache", limit=2)) == 2
        assert cortex.recall("deploy", limit=-1) == []
        assert cortex.recall("nothing like it") == []
        assert cortex.recall('\x00" AND (') == []

    def test_recall_finds_what_was_just_written(self, cortex: Cortex) -> None:
        assert cortex.recall("uv") == []
        cortex.encode(rule("Use uv"))
        assert len(cortex.recall("uv")) == 1


class TestContext:
    """What a model is to see."""

    def test_an_unchanged_memory_gives_unchanged_bytes(self, cortex: Cortex, project: Path) -> None:
        cortex.encode([rule(f"Rule {number}") for number in range(20)])
        first = cortex.build_memory_context("a message")
        assert cortex.build_memory_context("a message") == first
        assert cortex.build_memory_context("quite another one") == first
        assert Cortex.open(project=project).build_memory_context("a message") == first
        cortex.encode(rule("One more"))
        assert cortex.build_memory_context("a message") != first

    def test_what_waits_and_private_notes_and_metadata_do_not_appear(
        self, copilot: Cortex, person: Person
    ) -> None:
        copilot.propose(rule("A mere idea", confidence="low"))
        copilot.encode(rule("Use uv"))
        person.changes("rules.md", "## Always", "<!-- a private note -->\n\n## Always")
        copilot.forget(copilot.encode(rule("Gone for good"))[0].id)
        context = copilot.build_memory_context("idea")
        assert "Use uv" in context
        for hidden in ("mere idea", "private note", "id:", "Gone", "Pending", "<!--"):
            assert hidden not in context

    def test_the_soul_of_the_project_wins(
        self, cortex: Cortex, person: Person, at_home: Person
    ) -> None:
        at_home.saves("soul.md", "You are patient.\n")
        assert "You are patient." in cortex.build_memory_context()
        person.saves("soul.md", "You are quick.\n")
        context = cortex.build_memory_context()
        assert "You are quick." in context
        assert "patient" not in context
        person.saves("soul.md", " \n")
        assert "You are patient." in cortex.build_memory_context()

    def test_a_scope_may_say_it_in_its_own_words(
        self, cortex: Cortex, project: Path, isolated_home: Path
    ) -> None:
        cortex.encode(rule("Use uv"))
        for scope, words in ((isolated_home, "Global frame"), (project, "Project frame")):
            folder = scope / ".engramdown" / "templates"
            folder.mkdir(parents=True)
            (folder / "context.j2").write_text(
                f"{words}\n{{{{ sections | join('\\n') }}}}", encoding="utf-8"
            )
            assert cortex.build_memory_context().startswith(words)

    def test_budgets_come_from_the_settings(self, project: Path, at_home: Person) -> None:
        (project / ".engramdown").mkdir()
        (project / ".engramdown" / "config.toml").write_text(
            "[budgets]\nproject_lessons = 60\n", encoding="utf-8"
        )
        at_home.saves("../config.toml", "[budgets]\nscratchpad = 0\n")
        cortex = Cortex.open(project=project)
        lessons = [f"In the scratchpad, lesson number {number}" for number in range(50)]
        cortex.encode([rule(text, "lesson") for text in lessons])
        (section,) = cortex.build_memory_context().sections
        assert section.budget == 60
        assert section.tokens <= 60
        assert len(section.left_out) + len(section.shown) == 50
        assert cortex.get_scratchpad_context() == ""

    def test_what_is_known_about_scratchpads_is_told_apart(self, cortex: Cortex) -> None:
        assert cortex.get_scratchpad_context() == ""
        cortex.encode(
            [
                rule("When a scratchpad is long, start another", "when"),
                Engram("A scratchpad cell has no network", "lesson", "global"),
                rule("Use uv"),
            ]
        )
        words = cortex.get_scratchpad_context()
        assert "start another" in words
        assert "no network" in words
        assert "uv" not in words

    @pytest.mark.parametrize("budget", [500, 60, 0])
    def test_what_is_told_of_scratchpads_is_paid_for_once(
        self, cortex: Cortex, at_home: Person, project: Path, budget: int
    ) -> None:
        at_home.saves("../config.toml", f"[budgets]\nscratchpad = {budget}\n")
        texts = [
            *(f"When a scratchpad is long, do {number}" for number in range(3)),
            *(f"A scratchpad cell has no network {number}" for number in range(3)),
        ]
        cortex.encode(
            [
                *(rule(text, "when") for text in texts[:3]),
                *(Engram(text, "lesson", "global") for text in texts[3:]),
                rule("Always empty the scratchpad"),
                Engram("pytest needs uv", "lesson", "project", topic="scratchpad"),
            ]
        )
        texts += ["Always empty the scratchpad", "pytest needs uv"]
        other = Cortex.open(project=project)
        both = f"{other.build_memory_context()}\n{other.get_scratchpad_context()}".split("\n")
        assert [both.count(f"- {text}") for text in texts] == [1] * len(texts)
        whole = str(other.build_memory_context(scratchpad=True)).split("\n")
        assert [whole.count(f"- {text}") for text in texts] == [1] * len(texts)
        with other.session() as session:
            turn = str(session.begin_turn("hello"))
            assert turn == str(other.build_memory_context("hello"))
            session.end_turn()
            assert "no network 2" in session.begin_turn("hello", scratchpad=True)


class TestDryRuns:
    """A dry run tells what it would do, and does nothing."""

    def test_nothing_is_written(self, copilot: Cortex, project: Path, isolated_home: Path) -> None:
        before = sorted(isolated_home.rglob("*"))
        copilot.scopes.dry_run()
        receipts = copilot.propose(
            [rule("Use uv"), rule("Unsure", confidence="low"), theirs("Be brief", scope="global")]
        )
        assert [receipt.action for receipt in receipts] == ["encoded", "queued", "encoded"]
        assert sorted(isolated_home.rglob("*")) == before
        assert list(project.iterdir()) == []

    def test_what_would_be_written_is_told_file_by_file(self, copilot: Cortex) -> None:
        copilot.encode(rule("Use uv"))
        copilot.scopes.dry_run()
        copilot.propose(rule("Use tabs"))
        waiting = copilot.propose(rule("Unsure", confidence="low"))[0].id
        copilot.resolve(waiting)
        changes = {change.path.name: change for change in copilot.scopes.planned_changes()}
        assert "Use tabs" not in changes["rules.md"].before
        assert "Use tabs" in changes["rules.md"].after
        assert "Unsure" in changes["rules.md"].after

    def test_steps_build_on_each_other(self, copilot: Cortex) -> None:
        copilot.scopes.dry_run()
        made = copilot.encode(rule("Use uv"))[0]
        assert copilot.propose(rule("use uv", confidence="low"))[0].action == "merged"
        copilot.forget(made.id)
        assert texts(copilot) == []
        assert copilot.propose(rule("use uv"))[0].action == "discarded"


def crowded(cortex: Cortex) -> Iterator[str]:
    """Yield the first characters that several ids begin with."""
    firsts = [entry.id[0] for entry in cortex.entries()]
    yield from (first for first in firsts if firsts.count(first) > 1)


def test_a_store_may_be_any_two_folders(tmp_path: Path) -> None:
    fast = Disk(durable=False)
    cortex = Cortex(
        Hippocampus(tmp_path / "global", "global", disk=fast),
        Hippocampus(tmp_path / "project", "project", disk=fast),
    )
    cortex.propose([rule("Use uv"), theirs("Be brief", scope="global")])
    assert texts(cortex) == ["Be brief", "Use uv"]
    assert [store.scope for store in cortex.scopes.stores] == ["global", "project"]


def test_a_broken_store_can_still_be_told_apart_from_an_empty_one(
    cortex: Cortex, person: Person
) -> None:
    cortex.encode(rule("Use uv", "lesson"))
    assert cortex.scopes.unread() == []
    (person.memory / "rules.md").unlink(missing_ok=True)
    (person.memory / "rules.md").mkdir(parents=True)
    for read in (Cortex.entries, Cortex.build_memory_context, lambda each: each.recall("uv")):
        other = cortex.reopened()
        assert "Use uv" in str(read(other))
        assert [reason for reason in other.scopes.unread() if "rules.md" in reason]
    with pytest.raises(StoreError, match=r"rules\.md"):
        cortex.scopes.usable(cortex.scopes.project_hc)


def test_why_a_proposal_waits_is_told_in_copilot_and_nothing_of_a_persons_own_line(
    copilot: Cortex, person: Person
) -> None:
    (receipt,) = copilot.propose(Engram("Prefer tabs", "always", "project", "low"))
    person.adds("pending.md", "- [ ] My own line")
    person.adds("pending.md", "- [ ] Mine, too <!-- kind:always -->")
    reasons = {each.engram.text: each.reason for each in copilot.pending()}
    why = "you want to be asked about what is not certain"
    assert reasons == {"Prefer tabs": why, "My own line": "", "Mine, too": ""}
    with copilot.session() as session:
        (asked,) = [each for each in session.confirmations() if each.id == receipt.id]
        assert asked.reason == why
