"""Sleep notices what is done again and again, and a person decides whether it becomes a skill."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramdown import Cortex
from engramdown.consolidation.forms import WrittenSkill
from engramdown.errors import EntryNotFoundError, ModelError, SkillExistsError, StoreError
from engramdown.gate.pending_file import FileQueue, SkillDraft, read_draft, skill_question
from engramdown.hippocampus.store import Hippocampus
from tests.crash.points import Fault
from tests.gate.decisions import accept
from tests.hippocampus.disks import WatchedDisk

RELEASE = ("uv run pytest", "git tag v{}", "uv build", "uv publish")
TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"


@pytest.fixture
def cortex(tmp_path: Path) -> Cortex:
    """Open a project."""
    return Cortex.open(tmp_path / "project", tmp_path / "home")


def work(cortex: Cortex, number: int, said: str = "", commands: tuple[str, ...] = RELEASE) -> None:
    """Have a session in which commands are run, and the user says something at the end."""
    with cortex.session(f"s{number}") as session:
        session.begin_turn("Do it")
        for each in commands:
            call = session.tool_call("bash", {"command": each.format(number)})
            session.tool_result("bash", "done", call)
        session.end_turn("Done.")
        if said:
            session.begin_turn(said)
            session.end_turn("I will.")


def proposed(cortex: Cortex) -> list[SkillDraft]:
    return [read_draft(each.engram.text) for each in cortex.pending() if each.op == "skill"]


def page(tmp_path: Path, label: str) -> Path:
    return tmp_path / "project" / ".engramdown" / "skills" / label / "SKILL.md"


def test_what_is_done_in_three_sessions_is_proposed_once(cortex: Cortex, tmp_path: Path) -> None:
    for number in range(2):
        work(cortex, number)
        cortex.sleep()
    assert proposed(cortex) == []
    work(cortex, 2)
    assert cortex.sleep(dry_run=True).report("project", "skill").receipts
    assert proposed(cortex) == []
    cortex.sleep()
    (draft,) = proposed(cortex)
    assert draft.label == "uv-publish-steps"
    assert "2. `git tag v2` (before: `git tag v1`)" in draft.body
    assert not page(tmp_path, draft.label).exists()
    # It waits without anybody being asked in a conversation.
    with cortex.session("now") as session:
        assert session.confirmations() == []
    work(cortex, 3)
    cortex.sleep()
    assert len(proposed(cortex)) == 1


def test_a_person_changes_a_draft_in_the_file_and_ticks_it(cortex: Cortex, tmp_path: Path) -> None:
    work(cortex, 1, "Remember how to release the app.")
    cortex.sleep()
    file = tmp_path / "project" / ".engramdown" / "memory" / "pending.md"
    text = file.read_text(encoding="utf-8")
    assert "- [ ] Skill `release-the-app`: Release the app. Steps: pytest," in text
    assert "\n  3. `uv build`\n" in text
    text = text.replace("- [ ] Skill `release-the-app`", "- [x] Skill `ship`")
    text = text.replace("  3. `uv build`", "  3. `uv build`\n\n     Look at dist/.")
    file.write_text(text, encoding="utf-8")
    (receipt,) = cortex.review.apply_ticks()
    assert (receipt.action, receipt.file) == ("encoded", "skills/ship/SKILL.md")
    said = page(tmp_path, "ship").read_text(encoding="utf-8")
    assert said.startswith("---\nname: ship\ndescription: ")
    assert "3. `uv build`\n\n   Look at dist/.\n" in said
    assert "learned-from: s1#" in said
    assert file.read_text(encoding="utf-8").count("Skill") == 0
    assert cortex.skills.recall("ship").scope == "project"
    work(cortex, 2, "Remember how to release the app.")
    cortex.sleep()
    assert proposed(cortex) == []


@pytest.mark.parametrize("how", ["decline", "delete"])
def test_what_is_turned_down_is_not_proposed_again(
    cortex: Cortex, tmp_path: Path, how: str
) -> None:
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    (waiting,) = cortex.pending()
    file = tmp_path / "project" / ".engramdown" / "memory" / "pending.md"
    if how == "decline":
        assert cortex.resolve(waiting.id, "decline").action == "discarded"
    else:
        file.write_text("# Pending\n", encoding="utf-8")
    # As in another clone, where nobody knows what was proposed here.
    (tmp_path / "project" / ".engramdown" / "sleep.jsonl").unlink()
    work(cortex, 2, "make a skill of this")
    cortex.sleep()
    assert proposed(cortex) == []
    archive = (file.parent / "archive.md").read_text(encoding="utf-8")
    assert "op:skill" in archive
    assert not page(tmp_path, "uv-publish-steps").exists()


def test_what_cannot_be_a_skill_waits_and_says_why(cortex: Cortex, tmp_path: Path) -> None:
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    (waiting,) = cortex.pending()
    with pytest.raises(ValueError, match="is no skill; write"):
        cortex.resolve(waiting.id, "accept", "Ship it")
    mine = page(tmp_path, "ship")
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: ship\ndescription: Mine\n---\nMine.\n", encoding="utf-8")
    with pytest.raises(SkillExistsError, match="is there already"):
        cortex.resolve(waiting.id, "accept", "Skill `ship`: Ship\n\n1. Ship.")
    assert "Mine." in mine.read_text(encoding="utf-8")
    assert len(cortex.pending()) == 1
    receipt = cortex.resolve(waiting.id, "accept", f"Skill `keys`: Use keys\n\nUse {TOKEN}.")
    assert receipt.action == "encoded"
    assert TOKEN not in page(tmp_path, "keys").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_acceptance_that_is_cut_short_anywhere_is_finished_by_the_next(
    cortex: Cortex, tmp_path: Path
) -> None:
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    before = tmp_path / "project" / ".engramdown"
    (waiting,) = FileQueue(cortex.scopes.stores[-1]).pending()
    landed = 0
    for number in count(1):
        root = tmp_path / f"cut-{number}" / ".engramdown"
        shutil.copytree(before, root)
        fault = Fault(number, errno.EIO, sticky=False)
        cut_short = FileQueue(Hippocampus(root, disk=WatchedDisk(fault)))
        with contextlib.suppress(StoreError, OSError):
            accept(cut_short, waiting, waiting.engram)
        fault.heal()
        after = FileQueue(Hippocampus(root))
        for item in after.pending():
            # A step that was written down is finished first, and then nothing waits.
            with contextlib.suppress(EntryNotFoundError):
                accept(after, item, item.engram)
        assert after.pending() == []
        said = (root / "skills" / "uv-publish-steps" / "SKILL.md").read_text(encoding="utf-8")
        assert said.endswith("4. `uv publish`\n")
        landed += bool(fault.landed)
        if not fault.landed:
            break
    assert landed > 10


def test_a_proposal_can_be_undone_and_does_not_come_back(cortex: Cortex) -> None:
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    assert len(proposed(cortex)) == 1
    cortex.scopes.stores[-1].undo()
    assert proposed(cortex) == []
    work(cortex, 2, "make a skill of this")
    cortex.sleep()
    assert proposed(cortex) == []


@pytest.mark.parametrize("there", [True, False])
def test_with_a_step_more_it_is_still_what_was_turned_down(
    cortex: Cortex,
    tmp_path: Path,
    there: bool,  # noqa: FBT001 - a case
) -> None:
    for number in range(3):
        work(cortex, number)
    cortex.sleep()
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "decline")
    if not there:
        (tmp_path / "project" / ".engramdown" / "sleep.jsonl").unlink()
    for number in range(3, 6):
        work(cortex, number, "", (*RELEASE, "make announce"))
    cortex.sleep()
    assert proposed(cortex) == []


def test_a_dry_run_of_accepting_writes_no_skill(cortex: Cortex, tmp_path: Path) -> None:
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    cortex.scopes.dry_run()
    (waiting,) = cortex.pending()
    assert cortex.resolve(waiting.id, "accept").file == "skills/uv-publish-steps/SKILL.md"
    assert not page(tmp_path, "uv-publish-steps").exists()
    assert cortex.scopes.planned_changes()


def test_an_assistant_that_speaks_as_the_user_asks_for_nothing(cortex: Cortex) -> None:
    with cortex.session("child", parent="other") as session:
        session.begin_turn("Do it")
        for each in RELEASE:
            call = session.tool_call("bash", {"command": each})
            session.tool_result("bash", "done", call)
        session.end_turn("Done.")
        session.begin_turn("make a skill of this")
        session.end_turn("I will.")
    cortex.sleep()
    assert proposed(cortex) == []


def test_a_secret_in_a_command_is_in_no_proposal(cortex: Cortex) -> None:
    work(cortex, 1, "make a skill of this", (*RELEASE[:3], f"uv publish --token {TOKEN}"))
    cortex.sleep()
    (draft,) = proposed(cortex)
    assert TOKEN not in f"{draft}"
    assert "uv publish --token" in draft.body


class Scribe:
    """A model that writes procedures down."""

    name = "scribe"

    def __init__(self, answer: Callable[[str], WrittenSkill]) -> None:
        """Answer as told."""
        self.asked: list[str] = []
        self._answer = answer

    def ask(self, schema: type[Any], system: str, user: str) -> Any:  # noqa: ANN401 - any form
        """Return an answer of the form."""
        if schema is not WrittenSkill:
            raise ModelError("no answer of the form")
        del system
        self.asked.append(user)
        return self._answer(user)


def test_a_model_words_what_was_noticed(tmp_path: Path) -> None:
    def answer(user: str) -> WrittenSkill:
        assert "- Step 2: git tag v1" in user.replace('"', "")
        return WrittenSkill(
            worth_keeping=True,
            label="Release The App",
            description=f"Release the app.\nUse when {TOKEN} is due.",
            body="1. Test.\n\x1b[2J2. Tag.",
        )

    model = Scribe(answer)
    cortex = Cortex.open(tmp_path / "project", tmp_path / "home", model=model)
    work(cortex, 1, "make a skill of this")
    summary = cortex.sleep()
    (draft,) = proposed(cortex)
    assert draft.label == "release-the-app"
    assert draft.description.startswith("Release the app. Use when ")
    assert TOKEN not in draft.description
    assert draft.body == "1. Test.\n␛[2J2. Tag.\n"
    assert len(model.asked) == 1
    assert summary.spent.calls >= 1


def test_what_a_model_finds_not_worth_keeping_is_not_proposed(tmp_path: Path) -> None:
    model = Scribe(lambda _: WrittenSkill(worth_keeping=False, label="", description="", body=""))
    cortex = Cortex.open(tmp_path / "project", tmp_path / "home", model=model)
    work(cortex, 1, "make a skill of this")
    cortex.sleep()
    work(cortex, 2, "make a skill of this")
    cortex.sleep()
    assert proposed(cortex) == []
    assert len(model.asked) == 1


def test_where_a_model_fails_what_was_done_is_proposed(tmp_path: Path) -> None:
    def answer(_: str) -> WrittenSkill:
        raise ModelError("no answer of the form")

    cortex = Cortex.open(tmp_path / "project", tmp_path / "home", model=Scribe(answer))
    work(cortex, 1, "make a skill of this")
    summary = cortex.sleep()
    assert [draft.label for draft in proposed(cortex)] == ["uv-publish-steps"]
    assert summary.report("project", "skill").problems


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(does=st.text(min_size=1, max_size=80), body=st.text(max_size=300))
def test_every_draft_survives_the_way_through_the_list(
    cortex: Cortex, does: str, body: str
) -> None:
    does = " ".join(does.split())
    if not does.strip() or not does.isprintable() or not body.replace("\n", "").isprintable():
        return
    queue = FileQueue(cortex.scopes.stores[-1])
    item = skill_question(SkillDraft("ship", does, body), "project", of="x", origin="", why="asked")
    (added,) = queue.add([item])
    try:
        found = read_draft(added.engram.text)
        assert found.description == does
        assert found.body.split() == body.split()
        assert added.engram.text == item.engram.text
    finally:
        queue.drop(added)
