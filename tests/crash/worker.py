"""Works in a child process that is killed: ``python -m`` this, FOLDER, NUMBER, SIGNAL.

Promises: as in :mod:`tests.crash.sleeper`; its model says something else each time that it is asked
about a session, so that what was written twice can be told.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from engramdown import Cortex
from engramdown.sleep.worker import work_once
from tests.crash.sleeper import Counting, signalled

FINISHED: Final = ("alder", "birch", "cedar")
ORPHANS: Final = ("dogwood", "elm")
EMPTY: Final = ("fir", "ginkgo")
IDLE: Final = "hazel"
_NUMBERS: Final = " ".join(map(str, range(60)))
_SESSION: Final = re.compile(r"session (\w+)")
_WRITTEN: Final = re.compile(r"- (Answer \d+ about \w+)")


class Talking(Counting):
    """The same about the work of a worker."""

    def answer(self, schema: type[BaseModel], count: int, user: str) -> dict[str, Any]:
        """Return the fields of an answer that names the session."""
        session = _SESSION.search(user)
        assert session
        said = f"Answer {count} about {session[1]}"
        answers: dict[str, dict[str, Any]] = {
            "Card": {"title": said},
            "FoundFacts": {"worth_persisting": True, "items": [{"text": said, "messages": [1]}]},
            "Summary": {"text": said},
        }
        return answers[schema.__name__]


def opened(folder: Path) -> Cortex:
    """Open the scopes in ``folder``."""
    model = Talking(folder / "asked")
    return Cortex.open(folder / "project", folder / "home", model=model)


def build(folder: Path) -> None:
    """Make scopes with sessions that ended, that nobody ended, that are empty, and that rest."""
    (folder / "home").mkdir()
    said = 'durability = "fast"\n[consolidation]\nextract_facts = true\n'
    (folder / "home" / "config.toml").write_text(said, encoding="utf-8")
    (folder / "project" / ".engramdown" / "memory").mkdir(parents=True)
    memory = opened(folder).episodes
    assert memory is not None
    now = datetime.now(UTC)
    for name in (*FINISHED, *ORPHANS, *EMPTY):
        at = now - timedelta(hours=30 if name in ORPHANS else 1)
        memory.start_session(name, at=at)
        if name in EMPTY:
            memory.log(name, "tool_result", "nothing", at=at)
        else:
            # Whatever number an answer has, it was said.
            said = f"This is session {name}, and I live there. Answers about it: {_NUMBERS}."
            memory.log(name, "user", said, at=at)
            memory.log(name, "assistant", "I will keep that in mind for later.", at=at)
        if name not in ORPHANS:
            memory.end(name, at=at)
    for number in range(40):
        at = now - timedelta(minutes=40)
        role = "assistant" if number % 2 else "user"
        memory.log(IDLE, role, f"This is session {IDLE}, message {number}", at=at)
    memory.close()


def cards(folder: Path) -> Counter[str]:
    """Return how often a model's card was written for each session, and a summary."""
    found: Counter[str] = Counter()
    for path in (folder / "project" / ".engramdown" / "gists").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").strip().split("\n"):
            said = json.loads(line)
            found[f"{path.stem} {said['kind'] if said.get('kind') == 'card' else 'summary'}"] += 1
    return found


def facts(folder: Path) -> Counter[str]:
    """Return how often a fact about each session stands in memory."""
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("memory/**/*.md"))
    return Counter(found[1].rpartition(" ")[2] for found in _WRITTEN.finditer(text))


def main() -> None:
    """Do a round in the folder that the command line names."""
    cortex = opened(Path(sys.argv[1]))

    def work() -> bool:
        summary = work_once(cortex.scopes, rest=lambda _: None)
        assert not summary.trouble, summary.trouble
        return bool(summary.busy)

    signalled(work)


if __name__ == "__main__":
    main()
