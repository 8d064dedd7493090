"""Skills that were cloned, and names of skills that are paths, devices or tricks."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

import pytest

from tests.attacks.test_names import outside
from tests.cli.conftest import Runner
from tests.cortex.person import Person

HEAD: Final = "---\nname: evil\ndescription: Harmless\n"
SHOWN: Final = set("\x1b\x07\x00\x9b\u202e\u2066\u200b")
HOSTILE: Final = {
    "alias-bomb": "---\na: &a [x, x]\nb: &b [*a, *a]\nname: *b\ndescription: *b\n---\n",
    "merge-keys": "---\n<<: {name: evil}\nname: {<<: *a}\ndescription: !!merge x\n---\n",
    "python-tag": "---\nname: evil\ndescription: !!python/object/apply:os.system ['id']\n---\n",
    "brackets": "---\nname: " + "[" * 1_000_000 + "\n---\n",
    "braces-in-a-row": "---\nname: evil\ndescription: " + "{a: " * 250_000 + "\n---\n",
    "quotes": "---\nname: '" + "''" * 100_000 + "\n---\n",
    "backslashes": '---\nname: "' + "\\" * 200_000 + "\n---\n",
    "keys": "---\n" + "a: b\n" * 3_000 + "---\n",
    "blank-lines": "---\nname: >\n" + " \n" * 50_000 + "---\n",
    "spaces": "---\nname:" + " " * 200_000 + "\n---\n",
    "not-closed": HEAD + "x: y\n" * 1_000,
    "never-begun": "- - - " * 1_000,
    "nul": HEAD + "---\na\0b\n",
    "escapes": HEAD.replace("Harmless", "\x1b]0;x\x07\x9b31mred") + "---\n\x1b[2J\n",
    "escaped-escapes": HEAD.replace("Harmless", '"\\e[2J\\x07\\u202Eevil\\0"') + "---\nx\n",
    "bidi": HEAD.replace("Harmless", "\u202eevil\u2066 \u200b") + "---\n\u202eevil\n",
    "no-utf-8": HEAD + "---\n\udcff\udcfe\n",
    "a-name-that-is-a-path": "---\nname: ../../../etc\ndescription: x\n---\nx\n",
    "a-forged-end": HEAD + "other: |\n  a\n---\nname: good\n---\n",
    "empty": "",
}

LABELS: Final = [
    *("../../etc", "..\\..\\x", "/abs", "C:\\x", "C:x", "a/b", "a\\b", "a\0b", ".", "..", ""),
    *(" ", "-rf", "~root", "${HOME}", "$(id)", ".git", ".lock", "CON", "aux", "com1", "nul.md"),
    *("a.", "a:b", "x" * 65, "x" * 5_000, "e\u0301", "\u202egnp", "\u200bx", "ru\u043bes", "a\nb"),
    *("abc\n", "%2e%2e%2f", "\uff0e\uff0e\uff0fx", "a\x1b[2Jb", "\ud800", "Rules", "SKILL.md"),
]


@pytest.fixture
def evil(home: Person, project: Path) -> Path:
    """Return the SKILL.md of a skill that is not there yet, in a project that was cloned."""
    assert home.memory.is_dir()
    folder = project / ".engramdown" / "skills" / "evil"
    folder.mkdir(parents=True)
    return folder / "SKILL.md"


@pytest.mark.parametrize("label", LABELS, ids=lambda label: ascii(label)[:30])
def test_a_label_leads_nowhere_else(run: Runner, home: Person, project: Path, label: str) -> None:
    assert home.memory.is_dir()
    before = outside(project)
    for words in (
        ["new", "--description", "x", "--", label],
        ["new", "--global", "--description", "x", "--", label],
        ["show", "--", label],
        ["edit", "--description", "x", "--", label],
        ["validate", "--", label],
    ):
        done = run("skills", *words)
        assert done.code in {1, 2}
        assert SHOWN.isdisjoint(done.out + done.err)
        assert "Traceback" not in done.err
    assert outside(project) == before
    assert list((project / ".engramdown").rglob("SKILL.md")) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_skill_is_told_and_left_as_it_is(run: Runner, evil: Path, name: str) -> None:
    data = HOSTILE[name].encode("utf-8", "surrogateescape")
    evil.write_bytes(data)
    good = evil.parent.parent / "good" / "SKILL.md"
    run.ok("skills", "new", "good", "--description", "Is fine")
    begun = time.process_time()
    for words in (["list"], ["list", "--json"], ["show", "evil"], ["validate"]):
        done = run("skills", *words)
        assert done.code in {0, 1}
        assert SHOWN.isdisjoint(done.out + done.err)
    # What grows faster would take hours; tests.fuzz.growth measures that.
    assert time.process_time() - begun < 120
    assert "Is fine" in run("skills").out
    assert run("skills", "validate", "good").code == 0
    assert evil.read_bytes() == data
    assert good.exists()


def test_a_skill_that_is_a_link_out_of_the_project_is_not_read(run: Runner, evil: Path) -> None:
    private = evil.parents[4] / "private"
    private.mkdir()
    (private / "SKILL.md").write_text("private key", encoding="utf-8")
    evil.symlink_to(private / "SKILL.md")
    evil.parent.with_name("linked").symlink_to(private)
    for words in (
        *(["list"], ["list", "--json"], ["validate"], ["show", "evil"], ["show", "linked"]),
        *(["edit", label, "--description", "x"] for label in ("evil", "linked")),
        *(["new", label, "--description", "x"] for label in ("evil", "linked")),
    ):
        done = run("skills", *words)
        assert "private key" not in done.out + done.err
        assert done.code == (0 if words[0] == "list" else 1 if words[:2] == ["new", "evil"] else 3)
    assert (private / "SKILL.md").read_text(encoding="utf-8") == "private key"
    assert [path.name for path in private.iterdir()] == ["SKILL.md"]


def test_a_terabyte_of_holes_a_pipe_and_a_folder_are_never_waited_for(
    run: Runner, evil: Path
) -> None:
    with evil.open("wb") as file:
        file.truncate(1 << 40)
    for label, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        (evil.parent.with_name(label)).mkdir()
        make(evil.parent.with_name(label) / "SKILL.md")
    assert run("skills", "validate").code == 3
    assert run("skills", "list").code == 0
    for label in ("evil", "pipe", "folder"):
        assert run("skills", "show", label).code == 3
        assert run("skills", "edit", label, "--description", "x").code == 3
