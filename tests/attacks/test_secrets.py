"""A secret is written nowhere where it was not meant to be, and shown in nothing that is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from engramdown import Cortex, Engram, Hippocampus
from engramdown.errors import EngramdownError
from tests.cli.conftest import Runner
from tests.cortex.person import Person

# Made here, so that no scanner takes this file for a leak.
KEY: Final = "ghp_" + "a1B2c3D4e5F6" * 3
PASSWORD: Final = "plum-7" + "-tree-Q9"
ADDRESS: Final = f"postgres://ann:{PASSWORD}@db.example.org/shop"
BOTH: Final = f"Deploy with {KEY} to {ADDRESS}"


def everything(*folders: Path) -> str:
    """Return all bytes of all files below the folders."""
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in paths)


def engram(**more: Any) -> Engram:  # noqa: ANN401 - fields of an engram
    fields: dict[str, Any] = {"text": BOTH, "kind": "lesson", "scope": "project"}
    return Engram(**(fields | more))


def _stored(cortex: Cortex) -> Hippocampus:
    assert isinstance(cortex.scopes.project_hc, Hippocampus)
    return cortex.scopes.project_hc


def _propose(cortex: Cortex) -> object:
    return cortex.propose(
        [
            engram(source="user", confidence="high"),
            engram(kind="always", via="tool"),
            engram(text="Two passes", topic=f"key {KEY}", source="user", confidence="high"),
            engram(text="Three passes", origin=f"{KEY}#1"),
            engram(kind="profile", scope="global", source="user", confidence="high"),
        ]
    )


def _encode(cortex: Cortex) -> object:
    return cortex.encode([engram(source="user", confidence="high")])


def _accept_edited(cortex: Cortex) -> object:
    cortex.mode = "copilot"
    (waiting,) = cortex.propose([engram(text="Use uv", confidence="low")])
    return cortex.resolve(waiting.id, "accept", text=BOTH)


def _update(cortex: Cortex) -> object:
    (made,) = cortex.propose([engram(text="Use uv", source="user", confidence="high")])
    return cortex.update(made.id, BOTH), cortex.forget(made.id, why=BOTH), cortex.restore(made.id)


def _tools(cortex: Cortex) -> object:
    with cortex.session() as session:
        session.begin_turn("Why is CI red?")
        session.tool_call("shell", {"cmd": f"curl -H 'Authorization: token {KEY}'", "url": ADDRESS})
        session.tool_result("shell", f"{BOTH}\n" * 900, error=BOTH)
        session.end_turn("Done.")
        cards = session.id
    cortex.sleep()
    return cards, str(cortex.build_memory_context("deploy"))


WAYS: Final[dict[str, Callable[[Cortex], object]]] = {
    "propose": _propose,
    "encode": _encode,
    "review": _accept_edited,
    "update": _update,
    "tools": _tools,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_into_memory_writes_one(
    cortex: Cortex, project: Path, isolated_home: Path, way: str
) -> None:
    told = repr(WAYS[way](cortex)) + repr(cortex.entries()) + str(cortex.build_memory_context())
    if cortex.episodes is not None:
        cortex.episodes.close()
    found = everything(project, isolated_home) + told
    assert KEY not in found
    assert PASSWORD not in found
    assert way == "tools" or "[redacted: " in found


def test_what_a_person_ticked_by_hand_is_written_without_it(
    cortex: Cortex, there: Person, project: Path
) -> None:
    """Their own line stood in their own file; no memory, receipt or prompt is made of it."""
    there.saves("pending.md", f"# Pending\n\n- [x] {BOTH} <!-- kind:always -->\n")
    told = repr(cortex.review.apply_ticks()) + str(cortex.build_memory_context())
    found = told + there.reads("rules.md") + there.reads("pending.md") + there.reads("archive.md")
    assert KEY not in found
    assert PASSWORD not in found
    assert "[redacted: GitHub token]" in there.reads("rules.md")
    assert project.is_dir()


def _said(project: Path, text: str) -> str:
    """Let a person say ``text`` in a session, and return what the transcript holds of it."""
    cortex = Cortex.open(project=project, mode="autopilot")
    with cortex.session() as session:
        session.begin_turn(text)
        session.end_turn("I will.")
        name = session.id
    cortex.sleep()
    assert cortex.episodes is not None
    said = cortex.episodes.session(name).episodes[1].text
    cortex.episodes.close()
    return said


def test_what_a_person_said_is_hidden_wherever_it_goes(home: Person, project: Path) -> None:
    said = _said(project, f"Remember: {BOTH}. Das Passwort lautet {WORD}.")
    assert said.count("[redacted: ") == 3
    assert KEY not in everything(project / ".engramdown")
    assert WORD not in everything(project / ".engramdown")
    assert KEY not in everything(home.memory)


def test_tools_alone_are_hidden_where_only_the_person_says_so(home: Person, project: Path) -> None:
    tools = '[episodes]\nredact = "tools"\n'
    (project / ".engramdown" / "config.toml").write_text(tools, encoding="utf-8")
    assert KEY not in _said(project, f"Remember: {BOTH}")
    (home.memory.parent / "config.toml").write_text(tools, encoding="utf-8")
    assert KEY in _said(project, f"Remember: {BOTH}")
    memory = project / ".engramdown" / "memory"
    assert KEY not in everything(memory)
    assert KEY not in everything(home.memory)


WORD: Final = "Apfel" + "!77baum"


COMMANDS: Final = [
    ["remember", BOTH],
    ["remember", BOTH, "--json"],
    ["remember", BOTH, "--dry-run"],
    ["remember", f"Always {BOTH}", "--json"],
    ["remember", "Two passes", "--topic", KEY],
    ["remember", BOTH, "--global"],
    ["edit", "ID", BOTH],
    ["edit", "ID", BOTH, "--json"],
    ["forget", "ID", "--why", BOTH],
    ["log", "tool_call", BOTH, "--name", "shell"],
    ["log", "tool_result", BOTH, "--name", "shell"],
    ["import", "claude-code", "NOTES", "--dry-run"],
    ["migrate", "--yes", "--json"],
    ["migrate", "--dry-run"],
]
SHOWING: Final = [
    *(["list"], ["list", "--json"], ["history"], ["history", "--json"], ["review"], ["doctor"]),
    *(["review", "--json"], ["context"], ["context", "--json"], ["recall", "deploy"], ["stats"]),
    *(["recall", "deploy", "--json"], ["log", "list"], ["undo", "--dry-run"], ["sleep"]),
]


def test_no_command_writes_or_shows_one(
    run: Runner, home: Person, there: Person, project: Path, isolated_home: Path
) -> None:
    there.saves("rules.md", "# Rules\n\n## Always\n\n- Use uv <!-- id:aaaaaaaa -->\n")
    notes = project / "CLAUDE.md"
    notes.write_text(f"# Notes\n\n- {BOTH}\n", encoding="utf-8")
    assert home.memory.is_dir()
    for arguments in [*COMMANDS, *SHOWING]:
        words = {"ID": "aaaaaaaa", "NOTES": str(notes)}
        done = run(*(words.get(word, word) for word in arguments))
        for hidden in (KEY, PASSWORD):
            assert hidden not in done.out, arguments
            assert hidden not in done.err, arguments
    notes.unlink()
    found = everything(project, isolated_home)
    assert KEY not in found
    assert PASSWORD not in found
    assert "[redacted: GitHub token]" in found


def test_no_error_shows_one(cortex: Cortex, run: Runner) -> None:
    for call in (
        lambda: engram(text=BOTH, kind=KEY),
        lambda: engram(text="x", topic=f"../{KEY}"),
        lambda: cortex.forget(KEY),
        lambda: cortex.resolve(KEY),
        lambda: cortex.resolve("a", KEY),
    ):
        with pytest.raises(EngramdownError) as caught:
            call()
        assert KEY not in str(caught.value)
    for arguments in (["show", KEY], ["why", KEY], ["log", "show", KEY], ["export", KEY]):
        assert KEY not in run(*arguments).err


def test_no_prompt_to_a_model_holds_one(cortex: Cortex, there: Person) -> None:
    """What a tool gave back is hidden before it is written, so no job can send it on."""
    with cortex.session() as session:
        session.begin_turn("Deploy")
        session.tool_result("shell", json.dumps({"key": KEY, "url": ADDRESS}))
        session.end_turn("Done.")
        name = session.id
    assert cortex.episodes is not None
    lines = cortex.episodes.session(name).episodes
    cortex.episodes.close()
    assert KEY not in repr(lines)
    assert PASSWORD not in repr(lines)
    assert there.memory.is_dir()
