"""engramdown watch beside a person in several editors and eight assistants who write."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import IO, Any, Final

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner
from tests.hippocampus.editors import STYLES, save

WRITER: Final = """
import sys, time
from engramdown import Cortex
name, until = sys.argv[1], time.time() + float(sys.argv[2])
store = Cortex.open().scopes.project_hc
number = 0
while not number or time.time() < until:
    store.encode_lesson(f"Learned by {name}, number {number}", topic=f"topic {name}")
    print(number, flush=True)
    number += 1
    time.sleep(0.05)
"""


def read(lines: IO[bytes], found: list[dict[str, Any]]) -> None:
    """Collect what is told until nothing more comes."""
    found.extend(json.loads(line) for line in lines)


@pytest.mark.soak
def test_everything_is_kept_and_told_once(
    run: Runner, memory: Path, child_env: dict[str, str], soak_seconds: float
) -> None:
    dice = random.Random(7)
    lessons = memory / "lessons.md"
    watch = subprocess.Popen(
        ["engramdown", "watch", "--json"], env=child_env, stdout=subprocess.PIPE
    )
    writers: list[subprocess.Popen[str]] = []
    told: list[dict[str, Any]] = []
    try:
        assert watch.stdout is not None
        for _ in ("global", "project"):
            assert json.loads(watch.stdout.readline())["what"] == "watching"
        reader = threading.Thread(target=read, args=(watch.stdout, told))
        reader.start()
        writers += [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(name), str(soak_seconds)],
                env=child_env,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
            for name in range(8)
        ]
        mine: list[str] = []
        end = time.monotonic() + soak_seconds
        while time.monotonic() < end:
            text = lessons.read_text(encoding="utf-8")
            if text.endswith("\n"):
                mine.append(f"By hand, number {len(mine)}")
                save(dice.choice(list(STYLES)), lessons, f"{text}- {mine[-1]}\n")
            time.sleep(dice.random() * 0.5)
        wanted = [
            f"Learned by {name}, number {number}"
            for name, writer in enumerate(writers)
            for number in writer.communicate()[0].split()
        ]
        assert len(wanted) >= 8
        last = run.remember("--lesson", "The last one")
        patience = time.monotonic() + 60
        while not any(item["id"] == last for item in list(told)):
            assert time.monotonic() < patience
            time.sleep(0.05)
    finally:
        watch.terminate()
        watch.wait()
        for writer in writers:
            writer.kill()
            # Waits for it, and closes its output.
            writer.__exit__(None, None, None)
    reader.join()
    watch.stdout.close()
    texts = Counter(entry.text for entry in Cortex.open().scopes.project_hc.entries())
    assert {text: texts[text] for text in (*wanted, *mine)} == dict.fromkeys((*wanted, *mine), 1)
    learned = Counter(item["text"] for item in told if item["what"] == "learned")
    assert {text: learned[text] for text in wanted} == dict.fromkeys(wanted, 1)
    assert {text for text in mine if not learned[text]} == set()
    assert not [item for item in told if item["what"] in ("trouble", "forgot")]
