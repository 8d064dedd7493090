"""Any number of processes and threads write at once, and all of it is there afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.markdown.document import parse
from tests.hippocampus.disks import Point, WatchedDisk

RULES: Final = """
import sys
from engramdown import Hippocampus
store = Hippocampus(sys.argv[1])
for number in range(int(sys.argv[3])):
    text = f"worker {sys.argv[2]} says {number}"
    assert store.encode_rule(text, kind="always", source="user").text == text
"""
MIXED: Final = """
import sys
from engramdown import Hippocampus
store, worker = Hippocampus(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    store.encode_rule(f"worker {worker} says {number}", kind="never")
    store.encode_lesson(f"worker {worker} learned {number}", topic=f"topic {number % 3}")
    store.rewrite_identity([f"Worker {worker}: {number}"])
    gone = store.encode_lesson(f"worker {worker} forgets {number}")
    store.forget(gone.id)
"""


def run_at_once(script: str, root: Path, workers: int, each: int, env: Mapping[str, str]) -> None:
    """Run ``script`` in as many processes as there are workers, all at once."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(root), str(worker), str(each)], env=dict(env)
        )
        for worker in range(workers)
    ]
    assert [process.wait(timeout=300) for process in started] == [0] * workers


def check_rules(root: Path, workers: int, each: int) -> None:
    """Check that each rule stands on a line of its own, once, and that nothing else is left."""
    text = (root / "memory" / "rules.md").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    said = {re.sub(r" <!--.*", "", line) for line in lines}
    expected = {f"- worker {worker} says {n}" for worker in range(workers) for n in range(each)}
    assert said == expected
    assert len(lines) == len(expected)
    assert len({re.findall(r"\bid:(\w{8})\b", line)[0] for line in lines}) == len(lines)
    assert not list((root / "memory").glob("*.tmp"))


@pytest.mark.slow
def test_four_processes_lose_nothing(tmp_path: Path, child_env: dict[str, str]) -> None:
    run_at_once(RULES, tmp_path, 4, 25, child_env)
    check_rules(tmp_path, 4, 25)
    assert len(Hippocampus(tmp_path).history()) == 100


@pytest.mark.slow
def test_rules_lessons_facts_and_forgetting_at_once(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    run_at_once(MIXED, tmp_path, 4, 8, child_env)
    store = Hippocampus(tmp_path)
    lessons = {entry.text for entry in store.recall_lessons()}
    assert {entry.text for entry in store.recall_rules()} == {
        f"worker {worker} says {number}" for worker in range(4) for number in range(8)
    }
    assert lessons == {f"worker {w} learned {number}" for w in range(4) for number in range(8)}
    topics = [entry.text for n in range(3) for entry in store.recall_topic(f"topic {n}")]
    assert sorted(topics) == sorted(lessons)
    assert sorted(map(str, store.recall_identity())) == [f"Worker {w}: 7" for w in range(4)]
    reasons = [item.reason for item in store.archived()]
    assert (reasons.count("forgotten"), reasons.count("replaced")) == (32, 28)


def test_eight_threads_with_one_store_lose_nothing(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)

    def write(worker: int) -> None:
        for number in range(10):
            store.encode_rule(f"worker {worker} says {number}", kind="when", source="user")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    check_rules(tmp_path, 8, 10)


def test_a_person_who_saves_all_the_time_keeps_nobody_out(tmp_path: Path) -> None:
    root = tmp_path / ".engramdown"
    Hippocampus(root).encode_lesson("first")
    lessons = root / "memory" / "lessons.md"
    saves = count()

    def person(point: Point) -> None:
        if (point.call, point.moment) == ("create", "before"):
            with lessons.open("a", encoding="utf-8") as file:
                file.write(f"- saved {next(saves)}\n")

    Hippocampus(root, disk=WatchedDisk(person)).encode_lesson("second")
    Hippocampus(root).notice()
    wanted = {"first", "second", *(f"saved {number}" for number in range(next(saves)))}
    assert {entry.text for entry in Hippocampus(root).entries()} == wanted


@pytest.mark.slow
def test_a_reader_sees_whole_files_only(tmp_path: Path, child_env: dict[str, str]) -> None:
    root, worker = tmp_path, [sys.executable, "-c", RULES, str(tmp_path), "0", "60"]
    path = root / "memory" / "rules.md"
    with subprocess.Popen(worker, env=child_env) as process:
        seen = 0
        while process.poll() is None:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            assert not text or text.endswith("\n")
            count = len(parse(text).placed())
            assert count >= seen
            seen = count
    assert process.returncode == 0
