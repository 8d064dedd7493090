"""Skills of both scopes together: which one counts, and a change is made to what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.engram import Scope
from engramdown.errors import (
    InvalidSkillError,
    SkillChangedError,
    SkillNotFoundError,
    SkillRefusedError,
)
from engramdown.settings import Settings
from engramdown.skills.library import (
    Skills,
    open_skills,
    with_body,
    with_description,
    with_text,
)
from engramdown.skills.store import Skill

TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    """Open the skills of a project and of all projects; neither is there yet."""
    places: list[tuple[Scope, Path]] = [("project", tmp_path / "p"), ("global", tmp_path / "g")]
    return open_skills(places, Settings(durability="fast"))


@pytest.fixture
def notes(skills: Skills) -> Skill:
    """Return a skill of the project."""
    return skills.create("project", "notes", skills.drafted("notes", "Take notes", "By hand.\n"))


def test_the_first_scope_wins_and_both_are_known(skills: Skills, notes: Skill) -> None:
    skills.create("global", "notes", skills.drafted("notes", "Otherwise", ""))
    skills.create("global", "maps", skills.drafted("maps", "Make maps", ""))
    known = [
        (each.skill.scope, each.skill.label, each.counts, each.other)
        for each in skills.known()
        if each.skill.scope != "builtin"
    ]
    assert known == [
        ("project", "notes", True, "global"),
        ("global", "maps", True, ""),
        ("global", "notes", False, "project"),
    ]
    assert skills.read("notes").path == notes.path
    assert skills.read("notes", "global").description == "Otherwise"


def test_a_folder_without_a_skill_hides_none(skills: Skills) -> None:
    skills.create("global", "notes", skills.drafted("notes", "Otherwise", ""))
    for label in ("notes", "maps"):
        (skills.stores[0].folder / label / "scripts").mkdir(parents=True)
    assert skills.read("notes").scope == "global"
    counts = {(each.skill.scope, each.skill.label): each.other for each in skills.known()}
    assert counts["global", "notes"] == ""
    with pytest.raises(SkillNotFoundError, match=r"no skill 'maps'; `engramdown skills list`"):
        skills.read("maps")


@pytest.mark.parametrize("change", [with_description, with_body, with_text])
def test_what_somebody_changed_meanwhile_is_not_replaced(
    skills: Skills, notes: Skill, change: object
) -> None:
    theirs = "---\nname: notes\ndescription: Theirs\n---\nTheirs.\n"
    notes.path.write_text(theirs, encoding="utf-8")
    assert callable(change)
    with pytest.raises(SkillChangedError, match=str(notes.path)):
        skills.edit(notes, change(notes, "---\nMine\n"))
    assert notes.path.read_text(encoding="utf-8") == theirs


def test_a_change_of_another_part_is_made_to_what_stands_there(
    skills: Skills, notes: Skill
) -> None:
    skills.edit(notes, with_body(notes, "Their way.\n"))
    skills.edit(notes, with_description(notes, "Mine"))
    now = skills.read("notes")
    assert (now.description, now.page.body) == ("Mine", "Their way.\n")
    # What stands there already is no conflict.
    skills.edit(notes, with_description(notes, "Mine"))
    skills.edit(notes, with_text(notes, now.page.render()))


def test_a_new_secret_is_refused_and_not_repeated(skills: Skills, notes: Skill) -> None:
    for text in (f"{TOKEN}\n", f"one\n{TOKEN}\n"):
        with pytest.raises(SkillRefusedError, match="holds a GitHub token") as caught:
            skills.edit(notes, with_body(notes, text))
        assert TOKEN not in str(caught.value)
    with pytest.raises(SkillRefusedError):
        skills.drafted("keys", "Use the key", TOKEN)
    notes.path.write_text(notes.page.render() + TOKEN, encoding="utf-8")
    skills.edit(notes, with_description(notes, "With a secret"))
    # A second one is new, be it the same.
    held = skills.read("notes")
    with pytest.raises(SkillRefusedError):
        skills.edit(held, with_body(held, f"{TOKEN}\n{TOKEN}\n"))
    skills.edit(held, with_body(held, "Gone.\n"))


@pytest.mark.parametrize(
    "change",
    [
        lambda notes: with_description(notes, " "),
        lambda notes: with_description(notes, "\ud800"),
        lambda notes: with_body(notes, "\udcff"),
    ],
)
def test_what_no_skill_can_say_is_refused(notes: Skill, change: object) -> None:
    assert callable(change)
    with pytest.raises(InvalidSkillError):
        change(notes)
