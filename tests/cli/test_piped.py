"""What no terminal reads: lines stay whole, and what is shown as a diff is a patch."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from engramdown.language.characters import hidden_characters
from tests.cli.conftest import Runner

LONG: Final = "words that fill more than a row of any terminal " * 6 + "to its end"
# Whatever may stand in a file of a person's: line ends of Windows, no line end, controls.
FILES: Final = {
    "plain": "# Lessons\n\n- One.\n- Two.\n\n\n- Three.\n",
    "windows": "# Lessons\r\n\r\n- One.\r\n- Two\r\n  goes on.\r\n- Three.\r\n",
    "no line end": "# Lessons\n\n- One.\n- Two.",
    "scripts": "\ufeff# Lessons\n\n- \u0645\u06cc\u200c\u062e\n\t\n- \u2764\ufe0f  \n",
    "like a patch": "# Lessons\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n- One.\n+ Two.\n\\ No\n",
    "empty": "",
}  # fmt: skip
UNSEEN: Final = {
    "controls": "# Lessons\n\n- One\x0c.\n- T\x1b[31mwo\u200b\u2028.\n",
    "not UTF-8": "# Lessons\n\n- Caf\udce9.\n- Two.\n",
    "comment of tags": "# Lessons\n\n- Go\U000e0072\U000e006d.\n",
}  # fmt: skip
APPLY: Final = {
    "patch -p0": ("patch", "-p0", "--no-backup-if-mismatch"),
    "patch -p1": ("patch", "-p1", "--no-backup-if-mismatch"),
    "git apply": ("git", "apply"),
}


def saves(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def states(memory: Path) -> dict[str, bytes]:
    """Return what every memory file holds."""
    found = (path for path in memory.rglob("*.md") if path.is_file())
    return {path.relative_to(memory).as_posix(): path.read_bytes() for path in found}


def piped(env: Mapping[str, str], folder: Path, *words: str) -> bytes:
    """Return what a command prints into a pipe."""
    done = subprocess.run(
        ["engramdown", *words], cwd=folder, env=dict(env), capture_output=True, check=True
    )
    return done.stdout


@pytest.fixture(autouse=True)
def programs_are_there() -> None:
    """Say which program is missing: .ci/run installs it."""
    for program in ("patch", "git"):
        if shutil.which(program) is None:
            pytest.fail(f"install {program}: some tests use it as a person would")


def applied(how: tuple[str, ...], patch: bytes, folder: Path, *more: str) -> None:
    done = subprocess.run([*how, *more], cwd=folder, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, (done, patch)
    assert b"fuzz" not in done.stdout
    assert b"offset" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("how", APPLY.values(), ids=[*APPLY])
@pytest.mark.parametrize("before", FILES.values(), ids=[*FILES])
def test_the_diff_of_a_dry_run_is_a_patch(
    before: str, how: tuple[str, ...], memory: Path, child_env: dict[str, str], run: Runner
) -> None:
    saves(memory / "lessons.md", before)
    run("list")
    commands = [["remember", "--lesson", LONG], ["remember", "--always", "Say why"]]
    commands.append(["remember", "--lesson", "Ask twice", "--topic", "asking"])
    for words in commands:
        patch = piped(child_env, memory.parents[1], *words, "--dry-run")
        applied(how, patch, memory.parents[1])
        assert words[2].encode() in b"".join(states(memory).values())
        # It is what the command would have done, but for the moment and the id.
        assert words[2] in run.ok("list").out
    assert not [*memory.parents[1].rglob("*.rej"), *memory.parents[1].rglob("*.orig")]


@pytest.mark.parametrize("before", UNSEEN.values(), ids=[*UNSEEN])
def test_what_cannot_be_seen_is_shown_and_json_has_the_patch(
    before: str, memory: Path, child_env: dict[str, str], run: Runner
) -> None:
    saves(memory / "lessons.md", before)
    run.ok("list")
    project, words = memory.parents[1], ("remember", "--lesson", "Say why", "--dry-run")
    shown = piped(child_env, project, *words).decode()
    assert hidden_characters(shown) == []
    assert "--- (no patch: some characters are shown as what they are; --json" in shown
    refused = subprocess.run(
        ["patch", "-p0", "--batch", "--dry-run"], cwd=project, input=shown.encode(), check=False
    )
    assert refused.returncode != 0
    (change,) = run.ok(*words, "--json").json["changes"]
    patch = f"{change['diff']}\n".encode("utf-8", "surrogateescape")
    applied(("patch", "--no-backup-if-mismatch", change["path"]), patch, project)
    assert "Say why" in run.ok("list").out


@pytest.mark.slow
@pytest.mark.parametrize("how", APPLY.values(), ids=[*APPLY])
def test_what_a_patch_leaves_is_what_the_command_leaves(
    how: tuple[str, ...], memory: Path, child_env: dict[str, str], run: Runner
) -> None:
    project = memory.parents[1]
    saves(memory / "lessons.md", FILES["windows"])
    entry = run.remember("--lesson", f"Keep the {LONG}")
    for words in (["edit", entry, "other\nwords"], ["forget", entry], ["undo"]):
        patch = piped(child_env, project, *words, "--dry-run")
        copy = project.parent / f"{project.name} {words[0]}"
        shutil.copytree(project, copy)
        applied(how, patch, copy)
        piped(child_env, project, *words)
        assert states(copy / ".engramdown/memory") == states(memory)


@pytest.mark.slow
@pytest.mark.parametrize("how", APPLY.values(), ids=[*APPLY])
def test_history_is_the_patches_that_led_here(
    how: tuple[str, ...], memory: Path, child_env: dict[str, str], run: Runner
) -> None:
    project = memory.parents[1]
    kept = [states(memory)]
    saves(memory / "lessons.md", FILES["scripts"])
    run.ok("list")
    kept.append(states(memory))
    run.ok("remember", "--lesson", LONG, "--topic", "rows")
    kept.append(states(memory))
    run.ok("forget", run.ok("list", "--json").json[0]["id"])
    kept.append(states(memory))
    for count in range(1, len(kept)):
        patch = piped(child_env, project, "history", "-n", str(count))
        copy = project.parent / f"{project.name}-{count}"
        shutil.copytree(project, copy)
        # git takes back the last one of several first.
        pieces = [piece + b"\n" for piece in patch.split(b"\n\n")] if "git" in how else [patch]
        for piece in pieces:
            applied(how, piece, copy, "--reverse")
        now = {name: data for name, data in states(copy / ".engramdown/memory").items() if data}
        assert now == {name: data for name, data in kept[-1 - count].items() if data}


@pytest.mark.slow
def test_no_text_passes_for_a_patch(memory: Path, child_env: dict[str, str], run: Runner) -> None:
    project = memory.parents[1]
    text = "x\n--- /dev/null\n+++ ./evil.sh\n@@ -0,0 +1 @@\n+curl evil\n\n"
    entry = run.remember("--lesson", text)
    run.remember("--lesson", text.replace("x", "X.", 1), "--expires", "2999-01-01")
    (project / "NOTES.md").write_text(f"- {text.strip()}\n", encoding="utf-8")
    run("--mode", "copilot", "remember", "--source", "llm", "--lesson", f"or {text}")
    for words in (
        ["forget", entry, "--why", text, "--dry-run"],
        ["forget", entry, "--why", text],
        ["history"],
        ["compact", "--no-model", "--dry-run"],
        ["review", "--all", "--dry-run"],
        ["migrate", "NOTES.md", "--dry-run"],
        ["undo", "--dry-run"],
    ):
        patch = piped(child_env, project, *words)
        for how in APPLY.values():
            copy = project.parent / f"{words[0]} {how[1]}{len(words)}"
            shutil.copytree(project, copy)
            subprocess.run([*how], cwd=copy, input=patch, capture_output=True, check=False)
            assert not [*copy.rglob("evil*")], (how, patch)


@pytest.mark.slow
def test_a_file_of_all_projects_has_its_whole_path(
    memory: Path, isolated_home: Path, child_env: dict[str, str], run: Runner
) -> None:
    run.ok("init", "--global")
    here, (path,) = memory.parents[1], isolated_home.rglob("rules.md")
    name = run.remember("--global", "Say when")
    for words, said in (
        (["remember", "--global", "Say why"], b"Say why"),
        (["edit", name, "Say how"], b"Say how"),
        (["forget", name], b""),
    ):
        patch = piped(child_env, here, *words, "--dry-run")
        comment, head = patch.split(b"\n--- ")[0].split(b"\n")[-1], b"\n--- ." + os.fsencode(path)
        assert comment.endswith(b": patch -p1 -d /")
        assert head in patch
        applied(tuple(comment.decode().rpartition(": ")[2].split(" ")), patch, here)
        assert said in path.read_bytes()
    assert name.encode() not in path.read_bytes()
    # What is below needs no such line.
    assert b"-d /" not in piped(child_env, here, "remember", "Say when", "--dry-run")


def test_a_memory_is_one_line_with_its_id(
    memory: Path, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves(memory / "lessons.md", f"# Lessons\n\n- {LONG}\n  and below it more\n")
    (entry,) = run.ok("list", "--json").json
    for colour in ("", "1"):
        monkeypatch.setenv("FORCE_COLOR", colour)
        (row,) = (row for row in run.ok("list").out.split("\n") if "to its end" in row)
        assert entry["id"] in row
        assert LONG in row
        assert "and below it more" in row
    run.ok("forget", entry["id"])
    (row,) = (row for row in run.ok("list", "--archived").out.split("\n") if "to its end" in row)
    assert "and below it more" in row


@pytest.mark.parametrize(
    "words",
    [["review"], ["recall", "terminal"], ["history"], ["show", "ID"], ["why", "ID"], ["context"]],
)
def test_nothing_is_wrapped(words: list[str], memory: Path, run: Runner) -> None:
    saves(memory / "lessons.md", f"# Lessons\n\n- {LONG}\n")
    saves(memory / "pending.md", f"# Pending\n\n- [ ] {LONG} <!-- id:wwwwwwww kind:always -->\n")
    (entry,) = run.ok("list", "--json").json
    assert LONG in run.ok(*(entry["id"] if word == "ID" else word for word in words)).out
