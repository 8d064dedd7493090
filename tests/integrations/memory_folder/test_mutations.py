"""Deliberate bugs in what a model's commands say, and in values under keys; a law catches each."""

from __future__ import annotations

from typing import Final

import pytest

from engramdown.errors import MemoryCommandError
from tests.mutants import Bug, Core, mutated

# The last one that has a name is asked: what comes in by a door is the real thing.
MODULES: Final = (
    "engramdown.integrations.memory_folder",
    "engramdown.integrations.langgraph",
    "engramdown.gate.keyed_values",
)


def leads_nowhere(core: Core, path: str) -> None:
    try:
        place = core.place_of(path, "project")
    except MemoryCommandError:
        return
    assert place is None, f"{path!r} leads to {place}"


def shows_no(core: Core, words: str, text: str) -> None:
    file = core.parse(text)
    assert words not in core.rendered(file, file.placed())


def keeps_its_kind(core: Core, text: str) -> None:
    file = core.parse(text)
    again = core.parse(core.rendered(file, file.placed())).placed()
    assert [each.kind for each in again] == [each.kind for each in file.placed()]


def rewords_one(core: Core, before: str, after: str) -> None:
    found = core.edits("lessons.md", before, after)
    assert (len(found.reworded), found.removed) == (1, ())


def comes_back(core: Core, value: dict[str, object]) -> None:
    assert core.joined(core.split(value)) == value


def stand_apart(core: Core, one: tuple[str, ...], other: tuple[str, ...]) -> None:
    homes = {core.home_of(each, "project")[:2] for each in (one, other)}
    assert len(homes) == 2


def changes_nothing_else(core: Core, text: str, old: str) -> None:
    try:
        after = core.replaced("/memories/x", text, old, "new")
    except MemoryCommandError:
        return
    assert after.count("new") == 1


def is_refused(core: Core, arguments: dict[str, object]) -> None:
    try:
        command = core.command_from(arguments)
    except MemoryCommandError:
        return
    assert command is None, f"{arguments} is {command}"


RULES: Final = "## Never\n- x\n# Part\n### Deep\n- y\n"

BUGS: Final = (
    Bug(
        "a neighbour of the root is the root",
        "integrations.memory_folder",
        'not path.startswith(f"{ROOT}/")',
        "not path.startswith(ROOT)",
        lambda core: leads_nowhere(core, "/memoriesrules.md"),
    ),
    Bug(
        "a topic may be called anything",
        "integrations.memory_folder",
        "if parts[0] == TOPICS and is_name(name):",
        "if parts[0] == TOPICS:",
        lambda core: leads_nowhere(core, "/memories/topics/CON.md"),
    ),
    Bug(
        "a project has facts about the user",
        "integrations.memory_folder",
        'if name == PROFILE and scope == "project":',
        'if name == PROFILE and scope == "nowhere":',
        lambda core: leads_nowhere(core, "/memories/profile.md"),
    ),
    Bug(
        "a flag is a number",
        "integrations.memory_folder",
        "return isinstance(value, int) and not isinstance(value, bool) and",
        "return isinstance(value, int) and",
        lambda core: is_refused(
            core, {"command": "insert", "path": "x", "insert_line": True, "insert_text": ""}
        ),
    ),
    Bug(
        "what stands twice is replaced twice",
        "integrations.memory_folder",
        "if count > 1:",
        "if count > 2:",
        lambda core: changes_nothing_else(core, "a b a", "a"),
    ),
    Bug(
        "every heading is shown",
        "integrations.memory_folder",
        "shown=_is_kind(block.text)",
        "shown=True",
        lambda core: shows_no(core, "Obey", "## Obey\n\n## Mine\n- x\n"),
    ),
    Bug(
        "a heading that ends a rule's section is not shown",
        "integrations.memory_folder",
        "sections[-1].shown = main.shown = True",
        "sections[-1].shown = True",
        lambda core: keeps_its_kind(core, RULES),
    ),
    Bug(
        "what is said twice is matched once",
        "integrations.memory_folder",
        "matched.add(waiting[said].pop())",
        "matched.update(waiting.pop(said))",
        lambda core: rewords_one(core, "- a\n- a\n", "- a\n- b\n"),
    ),
    Bug(
        "the rest of a value is lost",
        "integrations.langgraph",
        '_compact(whole) if whole else ""',
        '""',
        lambda core: comes_back(core, {"text": "tea", "n": 1}),
    ),
    Bug(
        "a value in another one is lost",
        "integrations.langgraph",
        "    for name in path[:-1]:\n        inner = inner[name]\n",
        "",
        lambda core: comes_back(core, {"content": {"content": "tea"}, "text": ""}),
    ),
    Bug(
        "capitals make no difference",
        "gate.keyed_values",
        "{digest_of(written(namespace))}",
        "{address(written(namespace))[1:]}",
        lambda core: stand_apart(core, ("a", "B"), ("a", "b")),
    ),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what.replace(" ", "-"))
def test_a_law_catches_this_bug(bug: Bug) -> None:
    with mutated(MODULES, bug) as core, pytest.raises((AssertionError, AttributeError)):
        bug.law(core)


def test_every_law_holds_without_a_bug() -> None:
    with mutated(MODULES, None) as core:
        for bug in BUGS:
            bug.law(core)


def test_every_module_has_a_bug() -> None:
    assert {f"engramdown.{bug.module}" for bug in BUGS} == set(MODULES)
