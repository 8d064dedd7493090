"""Names that are paths, devices or tricks: refused, or made a plain name inside of the scope."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram, EpisodicMemory
from engramdown.cortex.tools import TOOLS
from engramdown.errors import EngramdownError
from tests.cli.conftest import Runner
from tests.cortex.person import Person

NAMES: Final = [
    *("../../etc/passwd", "..\\..\\x", "/abs", "C:\\x", "C:x", "\\\\srv\\share", "a/b", "a\\b"),
    *("a\0b", ".", "..", "...", "", " ", "-rf", "~root", "${HOME}", "$(id)", "`id`"),
    *(".git", ".GIT", "git~1", ".lock", ".gitignore", "CON", "aux.txt", "COM1", "LPT9.md", "NUL"),
    *("nul.md", "a.", "a ", "a:b", "a:$DATA", "x" * 256, "\u00e9" * 128, "e\u0301"),
    *("\u202egnp.md", "\u200brules", "ru\u043bes", "a\nb", "abc\n", "%2e%2e%2f", "..%c0%af"),
    *(
        "\uff0e\uff0e\uff0fx",
        "rules.md.lock",
        "../memory_x",
        "topics/../../x",
        "a\x1b[2Jb",
        "\ud800",
    ),
]
SAFE: Final = re.compile(r"[^\W_]([^\W_]|-){0,119}")


@pytest.fixture(params=NAMES, ids=ascii)
def name(request: pytest.FixtureRequest) -> str:
    """Return each name."""
    return str(request.param)


def outside(project: Path) -> set[str]:
    """Return what stands around the project's memory."""
    inside = project / ".engramdown"
    return {str(path) for path in project.parent.rglob("*") if not path.is_relative_to(inside)}


def topics_are_plain(project: Path) -> None:
    memory = project / ".engramdown" / "memory"
    for path in memory.rglob("*"):
        if path.parent.name == "topics":
            assert SAFE.fullmatch(path.name.removesuffix(".md")), path.name
        else:
            assert path.name in {"topics", "rules.md", "lessons.md", "pending.md", ".lock"}


def test_a_topic_is_refused_or_plain(cortex: Cortex, project: Path, name: str) -> None:
    before = outside(project)
    try:
        engram = Engram("The build needs two passes", "lesson", "project", topic=name)
    except EngramdownError:
        pass
    else:
        (receipt,) = cortex.propose([engram])
        assert receipt.action in {"encoded", "queued", "failed"}
    assert outside(project) == before
    topics_are_plain(project)


def test_a_session_is_refused_or_in_its_folder(project: Path, name: str) -> None:
    before = outside(project)
    memory = EpisodicMemory(project / ".engramdown")
    with contextlib.suppress(EngramdownError):
        memory.start_session(session=name)
    memory.log(name, "user", "hello")
    memory.close()
    assert outside(project) == before
    found = (project / ".engramdown" / "episodes").glob("*.jsonl")
    assert all(SAFE.fullmatch(path.stem.replace(".", "-")) for path in found)


@pytest.mark.parametrize("name", NAMES[::4], ids=ascii)
def test_no_command_takes_it_out_of_the_scope(
    run: Runner, home: Person, project: Path, name: str
) -> None:
    before = outside(project)
    assert home.memory.is_dir()
    for words in (
        ["remember", "Two passes", "--topic", name],
        ["recall", "passes", "--topic", name],
        ["log", "user", "hello", "--session", name],
        ["log", "show", name],
        ["show", name],
        ["forget", name],
        ["why", name],
        ["restore", name],
        ["undo", name],
        ["export", name],
    ):
        done = run(*words)
        assert done.code in {0, 1, 2, 3}
        assert "Traceback" not in done.err
        assert "\x1b" not in done.out + done.err
    assert outside(project) == before
    topics_are_plain(project)


def test_no_call_of_a_tool_does(cortex: Cortex, project: Path, name: str) -> None:
    before = outside(project)
    for arguments in ({"query": name}, {"query": "x", "session": name}, {"query": "x", name: name}):
        answer = TOOLS["recall"](cortex, arguments)
        assert answer.text
        assert "\x1b" not in answer.text
    assert outside(project) == before
