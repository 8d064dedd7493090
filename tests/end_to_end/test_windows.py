"""A story on a system without ``fcntl``, exchange of names, leases and links, as Windows is.

tests/end_to_end/windows.py pretends; no more can be done on another system.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

STORY: Final = [
    (["init"], 0),
    (["remember", "Always pin the image by digest"], 0),
    (["remember", "Never push on Friday"], 0),
    (["remember", "--topic", "ci", "The build needs two passes"], 0),
    (["recall", "image", "--json"], 0),
    (["undo"], 0),
    (["remember", "--topic", "ci", "The build needs three passes"], 0),
    ({"edit": [".engramdown/memory/rules.md", "pin the image", "pin every image"]}, 0),
    (["forget", "id of Friday", "--why", "we do now"], 0),
    (["log", "user", "Why is CI red?"], 0),
    (["log", "assistant", "Two tests depend on the clock."], 0),
    (["recall", "clock", "--json"], 0),
    (["log", "list"], 0),
    (["context"], 0),
    (["history"], 0),
    (["doctor"], 0),
]


def live(seed: int, links: str, folder: Path, env: dict[str, str]) -> str:
    """Run the story in ``folder``; return what is wrong, or ``""``."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.windows", str(seed), links],
        check=False,
        cwd=folder,
        env=env,
        input="".join(json.dumps(command) + "\n" for command, _ in STORY),
        capture_output=True,
        encoding="utf-8",
    )
    codes = [int(code) for code in re.findall(r"^-> (\d+)$", done.stdout, re.MULTILINE)]
    memory = folder / ".engramdown" / "memory"
    left = [path.name for path in memory.rglob("*") if path.suffix in {".tmp", ".part"}]
    said = "".join(path.read_text(encoding="utf-8") for path in sorted(memory.rglob("*.md")))
    there = ["pin every image", "three passes"]
    refused = re.search(r"^refused (\d+)$", done.stderr, re.MULTILINE)
    if codes != [code for _, code in STORY]:
        return f"{codes}\n{done.stdout}\n{done.stderr}"
    if left or not all(text in said for text in there) or "two passes" in said:
        return f"{left}\n{said}"
    if "Friday" in (memory / "rules.md").read_text(encoding="utf-8"):
        return said
    return "" if refused and int(refused[1]) else "no call was refused"


@pytest.mark.slow
@pytest.mark.parametrize("links", ["links", "no-links"])
def test_the_story_ends_well_whatever_is_in_use_for_a_moment(
    links: str, tmp_path: Path, child_env: dict[str, str]
) -> None:
    assert live(1, links, tmp_path, child_env) == ""


@pytest.mark.soak
def test_the_story_ends_well_whenever_a_file_is_in_use(
    tmp_path: Path, child_env: dict[str, str], soak_seconds: float
) -> None:
    end = time.monotonic() + soak_seconds
    while time.monotonic() < end:
        seed = random.randrange(10**9)
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert live(seed, ("links", "no-links")[seed % 2], folder, child_env) == "", seed
