"""An experiment: a person saves a SKILL.md as editors do, while agents add lines to it.

Promises: what the person saved is there as soon as it is saved, and until they save again, with or
without lines of the agents behind it; nobody ever reads a torn text; nothing lies about at the end.
An editor that was opened before a line came takes it away: a person replaces the text on purpose,
and there is no journal of skills that could tell.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.skilled import CHARTS, opened
from tests.hippocampus.editors import STYLES

_AGENTS: Final = 2
_SAVES: Final = 6
_PATIENCE: Final = 5.0


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Save in every style, again and again; a case is a save."""
    while True:
        for style in dice.sample([*STYLES], len(STYLES)):
            root = folder / f"{style}-{dice.randrange(2**32):08x}"
            yield Trial(style, _session(root, style, dice), _SAVES)


def _session(root: Path, style: str, dice: random.Random) -> str:
    """Let a person save while agents write, and return what is wrong."""
    path = opened(root).create("charts", parse_front_matter(CHARTS)).path
    over = threading.Event()
    wrong: list[str] = []
    agents = [
        threading.Thread(target=_agent, args=(opened(root), name, over, wrong))
        for name in range(_AGENTS)
    ]
    for agent in agents:
        agent.start()
    try:
        text = CHARTS
        for number in range(_SAVES):
            text += f"By hand {number}.\n"
            for _ in STYLES[style](path, text):
                time.sleep(dice.random() * 0.004)
            wrong += _look(path, text)
            time.sleep(dice.random() * 0.02)
    finally:
        over.set()
        for agent in agents:
            agent.join()
    opened(root).tidy()
    wrong += _look(path, text)
    wrong += [
        f"left behind: {left.name}"
        for left in path.parent.iterdir()
        if left != path and not _is_save(left, text)
    ]
    return "; ".join(wrong[:3])


def _agent(store: SkillStore, name: int, over: threading.Event, wrong: list[str]) -> None:
    """Add lines until it is over; what is refused is tried again."""
    number = 0
    while not over.is_set():
        line = f"Agent {name} learned {number}.\n"
        try:
            store.edit("charts", partial(_with, line))
            number += 1
        except StoreError as error:
            if "nothing was written" not in str(error):
                wrong.append(f"an agent: {error}")
        time.sleep(0.001)


def _with(line: str, page: FrontMatter) -> FrontMatter:
    return page.with_body(page.body + line)


def _look(path: Path, saved: str) -> list[str]:
    """Return what is wrong with what is read now."""
    disk = Disk()
    until = time.monotonic() + _PATIENCE
    found = disk.read(path)
    # In the middle of an exchange somebody else's text may have the name, for a moment.
    while (found is None or not found.startswith(saved.encode())) and time.monotonic() < until:
        time.sleep(0.001)
        found = disk.read(path)
    text = (found or b"").decode()
    if not text.startswith(saved):
        return [f"the save is gone: {text[-120:]!r}"]
    more = text.removeprefix(saved).split("\n")[:-1]
    return [f"torn: {line!r}" for line in more if not line.startswith("Agent ")][:1]


def _is_save(left: Path, last: str) -> bool:
    """Whether a file was kept beside, and is what the person saved once."""
    said = "".join(line for line in left.read_text("utf-8").splitlines(keepends=True))
    return left.name.startswith("SKILL.other-") and last.startswith(said.partition("Agent ")[0])
