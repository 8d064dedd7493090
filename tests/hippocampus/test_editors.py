"""A person saves at any moment, with any editor, while others write.

Nothing that either wrote is lost, nothing that the person deleted comes back, nothing is doubled.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.storage.disk import Disk

Editor = Callable[[Path, str], None]

AGENT: Final = """
import sys, time
from engramdown import Hippocampus
from engramdown.storage.disk import Disk
store = Hippocampus(sys.argv[1], disk=Disk(durable=False))
for number in range(int(sys.argv[3])):
    store.encode_rule(f"agent {sys.argv[2]} says {number}", kind="always")
    time.sleep(0.004)
"""


def vim(path: Path, text: str) -> None:
    """Move the old file away and write a new one."""
    backup = path.with_name(f"{path.name}~")
    path.replace(backup)
    path.write_text(text, encoding="utf-8")
    backup.unlink()


def nano(path: Path, text: str) -> None:
    """Cut the file and write it in place."""
    path.write_text(text, encoding="utf-8")


def slow(path: Path, text: str) -> None:
    """Write in place, in two pieces with a pause between them."""
    with path.open("w", encoding="utf-8") as file:
        file.flush()
        time.sleep(0.01)
        file.write(text[: len(text) // 2])
        file.flush()
        time.sleep(0.01)
        file.write(text[len(text) // 2 :])


def sed(path: Path, text: str) -> None:
    """Write a file beside it and rename that."""
    new = path.with_name("sedAbCdEf")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def git(path: Path, text: str) -> None:
    """Remove the file and create it."""
    path.unlink()
    path.write_text(text, encoding="utf-8")


SAVES: Final = 200
"""How often a person saves at most while agents write."""
EDITORS: Final[tuple[Editor, ...]] = (vim, nano, slow, sed, git)


def texts(root: Path) -> list[str]:
    store = Hippocampus(root, disk=Disk(durable=False))
    store.notice()
    return [entry.text for entry in store.entries()]


@pytest.mark.slow
@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.__name__)
def test_a_person_and_three_agents(
    editor: Editor, tmp_path: Path, child_env: dict[str, str]
) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - a failing test shows it
    dice = random.Random(seed)
    path = tmp_path / "memory" / "rules.md"
    Hippocampus(tmp_path).encode_rule("from the beginning", kind="always")
    agents = [
        subprocess.Popen([sys.executable, "-c", AGENT, str(tmp_path), str(n), "25"], env=child_env)
        for n in range(3)
    ]
    saved = 0
    while any(agent.poll() is None for agent in agents):
        seen = path.read_text(encoding="utf-8") if path.exists() else ""
        # On a machine that is busy with other work, nobody would ever be done otherwise.
        if saved < SAVES and seen.endswith("\n") and "## Always" in seen:
            # The buffer is stale by the time it is saved, as any editor's is.
            time.sleep(dice.choice([0.0, 0.005]))
            editor(path, f"{seen}- by hand {saved}\n")
            saved += 1
        time.sleep(0.05)
    assert [agent.wait() for agent in agents] == [0, 0, 0]
    found = Counter(texts(tmp_path))
    archived = {item.entry.text for item in Hippocampus(tmp_path).archived()}
    expected = {f"agent {n} says {number}" for n in range(3) for number in range(25)}
    expected |= {f"by hand {number}" for number in range(saved)} | {"from the beginning"}
    assert expected - found.keys() - archived == set()
    assert expected - found.keys() == set()
    assert {text: count for text, count in found.items() if count > 1} == {}


@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.__name__)
def test_what_a_person_deletes_stays_away(editor: Editor, tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)
    for number in range(4):
        store.encode_rule(f"rule {number}", kind="always")
    path = tmp_path / "memory" / "rules.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    editor(path, "\n".join(line for line in lines if "rule 1" not in line))
    store.encode_rule("rule 4", kind="always")
    assert texts(tmp_path) == ["rule 0", "rule 2", "rule 3", "rule 4"]
    assert [(item.entry.text, item.reason) for item in store.archived()] == [("rule 1", "deleted")]


def test_a_stale_buffer_takes_no_newer_line_away(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)
    store.encode_rule("rule 0", kind="always")
    path = tmp_path / "memory" / "rules.md"
    buffer = path.read_text(encoding="utf-8")
    store.encode_rule("rule 1", kind="always")
    store.encode_rule("rule 2", kind="always")
    nano(path, buffer.replace("rule 0", "rule 0, by hand"))
    assert sorted(texts(tmp_path)) == ["rule 0, by hand", "rule 1", "rule 2"]
    pending = (tmp_path / "memory" / "pending.md").read_text(encoding="utf-8")
    assert "rule 1" in pending
    assert "op:forget" in pending


def test_a_branch_of_git_comes_and_goes(tmp_path: Path) -> None:
    def run(*arguments: str) -> None:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    root = tmp_path / ".engramdown"
    store = Hippocampus(root)
    store.encode_rule("on main", kind="always")
    run("init", "-b", "main")
    run("add", ".engramdown")
    run("commit", "-m", "one")
    run("checkout", "-b", "other")
    store.encode_rule("on other", kind="always")
    run("commit", "-am", "two")
    run("checkout", "main")
    assert texts(root) == ["on main"]
    run("stash", "--include-untracked")
    run("checkout", "other")
    assert texts(root) == ["on main", "on other"]
    ignored = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    assert "history.jsonl" in ignored
    assert ".lock" in ignored


def test_a_mode_and_an_owner_stay(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)
    store.encode_rule("rule 0", kind="always")
    path = tmp_path / "memory" / "rules.md"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    store.encode_rule("rule 1", kind="always")
    assert path.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o700
    assert path.stat().st_uid == os.getuid()
