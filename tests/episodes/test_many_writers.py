"""Law: whatever several processes append to one session is there, whole; so it is after a kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from tests.transcripts.test_session_log import read

WRITER = """\
import sys
from pathlib import Path
from engramdown.episodes.memory import EpisodicMemory

memory = EpisodicMemory(Path(sys.argv[1]))
name, count = sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for number in range(count):
    text = f"{name} {number} " + "x" * (number * 37 % 900)
    found = memory.log("shared", "user", text)
    assert found is not None, memory.trouble
    print(found.seq, number, flush=True)
"""


def begin(root: Path, name: str, count: int, report: Path) -> subprocess.Popen[str]:
    """Start a program that appends ``count`` episodes, once it is told to, and reports each."""
    root.mkdir(exist_ok=True)
    with report.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=out,
            encoding="utf-8",
        )


def write_together(root: Path, writers: int, count: int) -> None:
    names = [f"w{number}" for number in range(writers)]
    running = [begin(root, name, count, root / name) for name in names]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = {}
    for name, process in zip(names, running, strict=True):
        process.communicate()
        assert process.returncode == 0
        for line in (root / name).read_text(encoding="utf-8").strip().split("\n"):
            seq, number = line.split()
            said[int(seq)] = (name, int(number))
    episodes = read(root / "episodes" / "shared.jsonl")
    assert [episode.seq for episode in episodes] == list(range(writers * count + 1))
    found = {each.seq: each.text.split(" ")[:2] for each in episodes[1:]}
    assert {seq: (name, int(number)) for seq, (name, number) in found.items()} == said
    assert len({episode.id for episode in episodes}) == len(episodes)
    assert not list((root / "episodes").glob("*.torn-*"))


@pytest.mark.slow
def test_four_writers_lose_nothing(tmp_path: Path) -> None:
    write_together(tmp_path, 4, 250)


@pytest.mark.soak
def test_eight_writers_of_thousands_of_lines_lose_nothing(
    tmp_path: Path, soak_seconds: float
) -> None:
    write_together(tmp_path, 8, int(min(5_000, 500 * max(1, soak_seconds))))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
class TestKilled:
    """A process that is killed in the middle loses nothing that it acknowledged."""

    @pytest.mark.slow
    def test_a_few_times(self, tmp_path: Path) -> None:
        self.kill_and_look(tmp_path, rounds=4)

    @pytest.mark.soak
    def test_many_times(self, tmp_path: Path, soak_seconds: float) -> None:
        end = time.monotonic() + soak_seconds
        number = 0
        while time.monotonic() < end:
            number += 1
            self.kill_and_look(tmp_path / str(number), rounds=10)

    def kill_and_look(self, root: Path, rounds: int) -> None:
        dice = random.Random(rounds)
        acknowledged: dict[int, str] = {}
        for number in range(rounds):
            names = [f"r{number}p{which}" for which in range(2)]
            running = [begin(root, name, 100_000, root / name) for name in names]
            for process in running:
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
            while not all((root / name).stat().st_size for name in names):
                time.sleep(0.01)
            time.sleep(dice.uniform(0, 0.1))
            for process in running:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
            for name in names:
                # The last line of the report may itself be torn.
                for line in (root / name).read_text(encoding="utf-8").split("\n")[:-1]:
                    seq, said = line.split()
                    acknowledged[int(seq)] = f"{name} {said} "
        memory = EpisodicMemory(root)
        assert memory.log("shared", "user", "after all that") is not None
        episodes = {each.seq: each.text for each in read(root / "episodes" / "shared.jsonl")}
        assert len(acknowledged) > rounds
        lost = [said for seq, said in acknowledged.items() if not episodes[seq].startswith(said)]
        assert lost == []
