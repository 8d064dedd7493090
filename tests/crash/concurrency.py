"""Two, four and eight writers at once, as processes and as threads: an experiment of the campaign.

Promises: all that was acknowledged is there, once, however many learned it; no line is torn; the
journal tells of the same files; the small crowds come first.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Final

from engramdown.hippocampus.store import Hippocampus
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.scopes import strays
from tests.crash.sleeper import replayed
from tests.crash.writers import ROLES, SESSION, Writer
from tests.transcripts.test_session_log import read

_FEW: Final = (("processes", 2, 12), ("processes", 4, 60), ("threads", 8, 60))
_MANY: Final = tuple((how, many, 300) for how in ("processes", "threads") for many in (2, 4, 8))
_OF_SKILLS: Final = {"SKILL.md", "skills.lock"}
_OF_A_NEW_SCOPE: Final = {".gitignore", ".lock", "history.jsonl", "lessons.md", "rules.md"}
_ID: Final = re.compile(r"<!-- id:(\w{8})\b")

Said = Sequence[Sequence[str]]
"""What each writer was told to have written."""


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Let every crowd play every role, again and again; a case is an acknowledged write."""
    for number in count():
        for how, many, each in (*_FEW, *_MANY):
            for role in dice.sample([*ROLES], len(ROLES)):
                root = folder / f"{number}"
                run = run_processes if how == "processes" else run_threads
                said = run(role, root, many, each)
                what = f"{role}: {many} {how}, {each} each"
                yield Trial(what, judge(role, root, said), sum(map(len, said)))
                shutil.rmtree(root)


def run_processes(role: str, root: Path, many: int, each: int) -> Said:
    """Let ``many`` processes play a role at once, and return what they said."""
    root.mkdir(parents=True)
    reports = [root.with_name(f"{root.name}.{name}") for name in range(many)]
    command = [sys.executable, "-m", "tests.crash.writers", role, str(root)]
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name, report in enumerate(reports):
            with report.open("wb") as out:
                begun = subprocess.Popen(
                    [*command, str(name), str(each)],
                    stdin=subprocess.PIPE,
                    stdout=out,
                    env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
                )
            running.append(begun)
        for process in running:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
        ended = [process.wait() for process in running]
        assert not any(ended), f"writers of {role} ended with {ended}"
        return [report.read_text(encoding="utf-8").split("\n")[:-1] for report in reports]
    finally:
        for process in running:
            process.kill()
            process.communicate()
        for report in reports:
            report.unlink(missing_ok=True)


def run_threads(role: str, root: Path, many: int, each: int) -> Said:
    """Let ``many`` threads with one store play a role at once, and return what they said."""
    store = Hippocampus(root, disk=Disk(durable=False), lock_timeout=120)
    said: list[list[str]] = [[] for _ in range(many)]
    with ThreadPoolExecutor(many) as pool:
        writers = [Writer(store, name, said[name].append) for name in range(many)]
        for done in [pool.submit(ROLES[role], writer, each) for writer in writers]:
            done.result()
    return said


def judge(role: str, root: Path, said: Said) -> str:
    """Return what is violated, or ``""``."""
    told = [text for texts in said for text in texts]
    if role == "episodes":
        return _judge_episodes(root, told)
    if role == "skills":
        return _judge_skills(root, told)
    store = Hippocampus(root)
    found = Counter(entry.text for entry in store.entries())
    archived = Counter(each.entry.text for each in store.archived())
    wanted, optional = _wanted(role, store, told)
    memory = root / "memory"
    files = {
        path.relative_to(memory).as_posix(): path.read_text(encoding="utf-8")
        for path in [*memory.glob("*.md"), *memory.glob("topics/*.md")]
    }
    main = [text for name, text in files.items() if not name.startswith("topics/")]
    ids = Counter(found for text in main for found in _ID.findall(text))
    problems = {
        "lost": wanted - found.keys() - (archived.keys() if role == "compaction" else set()),
        "too much": found.keys() - wanted - optional,
        "twice": {text for text, times in found.items() if times > 1},
        "one id twice": {each for each, times in ids.items() if times > 1},
        "torn": {name for name, text in files.items() if text and not text.endswith("\n")},
        "stray": set(strays(root)),
        "not in the journal": files.keys() if files != replayed(root) else set(),
        "noticed": {"something"} if store.notice() else set(),
    }
    return "; ".join(f"{name}: {sorted(what)[:5]}" for name, what in problems.items() if what)


def _wanted(role: str, store: Hippocampus, told: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return what has to stand in memory, and what may."""
    if role == "facts":
        last = {text.partition(":")[0]: text for text in told}
        return set(last.values()), set()
    if role == "compaction":
        merged = {text.removeprefix("merged ") for text in told if text.startswith("merged ")}
        return {text.removeprefix("merged ") for text in told}, merged
    if role == "undo":
        ids = {text.removeprefix("undone ") for text in told if text.startswith("undone ")}
        steps = [step for step in store.history() if step.id in ids]
        raws = "".join(each.after or "" for step in steps for each in step.changes)
        texts = {text for text in told if not text.startswith("undone ")}
        undone = {text for text in texts if f"- {text} <" in raws}
        # What all say may have been learned again by somebody else.
        return texts - undone, {text for text in undone if text.startswith("All ")}
    return set(told), set()


def _judge_episodes(root: Path, told: Sequence[str]) -> str:
    episodes = read(root / "episodes" / f"{SESSION}.jsonl")
    numbers = [episode.seq for episode in episodes]
    if numbers != list(range(len(told) + 1)):
        return f"{len(numbers)} lines, {len(told)} acknowledged; numbers {numbers[-3:]}"
    texts = {episode.seq: episode.text for episode in episodes}
    other = [line for line in told if texts[int(line.split(" ", 1)[0])] != line.split(" ", 1)[1]]
    torn = [path.name for path in (root / "episodes").glob("*.torn-*")]
    return f"other: {other[:3]}; torn: {torn}" if other or torn else ""


def _judge_skills(root: Path, told: Sequence[str]) -> str:
    skills = {skill.label: skill for skill in SkillStore(root).skills()}
    lines = Counter(
        line for skill in skills.values() for line in skill.page.body.split("\n")[:-1] if line
    )
    own = {text for text in told if " " not in text}
    said = {*told} - own
    found = {line for line in lines if not line.startswith("# ")}
    problems = {
        "lost": (own - skills.keys()) | (said - found),
        "too much": found - said,
        "twice": {line for line in found if lines[line] > 1},
        "torn": {label for label, skill in skills.items() if not skill.page.body.endswith("\n")},
        "broken": {label for label, skill in skills.items() if skill.findings},
        "stray": {path.name for path in root.rglob("*") if path.is_file()}
        - _OF_SKILLS
        - _OF_A_NEW_SCOPE,
    }
    return "; ".join(f"{name}: {sorted(what)[:5]}" for name, what in problems.items() if what)
