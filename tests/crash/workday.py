"""What an assistant does in an hour of work: ``python -m`` this, with its errand on standard input.

Promises: each thing is told before it is begun and after it was acknowledged, a line of JSON each,
so that of one who is killed in between it is known what may or may not be there; everything goes
through the public names, in one process per assistant.

An errand is a JSON object: ``name``, ``project`` and ``home``, ``mode``, ``seed``, ``turns``,
``new`` (code words for what it learns), ``mine`` (what nobody else touches, by code word),
``tight`` (whether there is no room now and then), ``report`` (the file in which it tells).
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from engramdown import Cortex, Engram, Entry, Session
from engramdown.clock import today
from engramdown.engram import Confidence, Kind
from engramdown.errors import EngramdownError, EntryNotFoundError, StoreError
from tests.crash.places import file_limit

FORMS: Final[dict[Kind, tuple[str, ...]]] = {
    "always": ("Run {} before {} is deployed", "Keep {} next to {}"),
    "never": ("Let {} near {}", "Delete {} while {} runs"),
    "when": ("{} restarts: wait for {}", "{} is late: ask {}"),
    "lesson": ("{} needs twice the memory of {}", "{} was moved behind {}", "{} talks to {} only"),
}
"""What is learned: the words of a memory, with its code word first."""
TWIN: Final = ("Keep the {} crates in the cellar", "In the cellar, please keep the {} crates.")
"""The same thing said twice: the second is found to be the first in other words."""
_PASSING: Final = 0.08
_TOPICS: Final = ("", "", "ci", "deep sea", "storage")


class Assistant:
    """One that works in a session."""

    def __init__(self, errand: dict[str, Any]) -> None:
        """Begin with an errand."""
        self._errand = errand
        self._dice = random.Random(errand["seed"])
        self._report = os.open(errand["report"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._new: list[str] = errand["new"]
        self._mine: dict[str, str] = errand["mine"]
        self._gone: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._numbers = 0
        self._journal = Path(errand["project"]) / ".engramdown" / "history.jsonl"
        self.cortex = Cortex.open(errand["project"], errand["home"], errand["mode"])

    def work(self) -> None:
        """Work through the turns of a session."""
        with self.cortex.session(title=f"{self._errand['name']}'s work") as session:
            self.tell(session=session.id)
            for number in range(self._errand["turns"]):
                self._turn(session, number)
                self._between(session)
        self.tell(ended=session.id)

    def tell(self, **said: object) -> None:
        """Write down what is begun or done, in one piece."""
        os.write(self._report, f"{json.dumps(said)}\n".encode())

    # What is said.

    def _turn(self, session: Session, number: int) -> None:
        """One question, a few tools, one answer."""
        name = self._errand["name"]
        asked = f"{name} asks question {number}: why does {self._dice.random():.9f} fail?"
        if self._new and self._dice.random() < 0.3:
            # Found in the night, by who reads the transcript.
            code = self._new.pop()
            self.tell(talk=code)
            asked = f"From now on always use {code} for deployments. {name}, {number}."
        session.begin_turn(asked)
        self._said(session, asked)
        for at in range(self._dice.randrange(3)):
            call = session.tool_call("shell", {"cmd": f"make {name}-{number}-{at}"})
            output = f"output {name} {number} {at} " + "x" * self._dice.choice((0, 200, 5000))
            session.tool_result("shell", output, call, error=self._dice.random() < 0.2)
            # What is long stands in the line cut short.
            self._said(session, f"output {name} {number} {at} ")
        if self._dice.random() < 0.7:
            self._learn()
        reply = f"{name} answers question {number} with {self._dice.random():.9f}"
        session.end_turn(reply)
        self._said(session, reply)

    def _said(self, session: Session, text: str) -> None:
        if not session.degraded:
            self.tell(said=text, where=session.id)

    def _between(self, session: Session) -> None:
        """Between two turns: what was asked is answered, and memory is tended."""
        for proposal in session.confirmations():
            text = proposal.engram.text
            code = next((each for each, said in self._waiting.items() if said == text), "")
            if code and self._dice.random() < 0.6:
                self._decide(session, proposal.id, code)
        acts = (self._learn, self._learn, self._repeat, self._reword, self._forget, self._restore)
        for _ in range(self._dice.randrange(3)):
            self._dice.choice((*acts, self._fact))()
        time.sleep(self._dice.choice((0.0, 0.0, 0.02, 0.1)))

    # What is remembered.

    def _do(self, what: str, code: str, text: str, act: Callable[[], object]) -> str:
        """Do something, and return what became of it, ``""`` if it was refused."""
        self._numbers += 1
        self.tell(begin=self._numbers, what=what, code=code, text=text)
        room = self._journal.stat().st_size + self._dice.randrange(400)
        # Now and then there is no room for what is written.
        tight = self._errand["tight"] and self._dice.random() < 0.15
        try:
            with file_limit(room) if tight else nullcontext():
                became = act()
        except (StoreError, EntryNotFoundError) as error:
            self.tell(refused=self._numbers, why=str(error))
            return ""
        if became in ("failed", "discarded"):
            self.tell(refused=self._numbers, why=became)
            return ""
        self.tell(done=self._numbers, became=became or what)
        return str(became or what)

    def _learn(self) -> None:
        """Learn something new; now and then the same once more in other words."""
        if not self._new:
            return
        code = self._new.pop()
        kind: Kind = self._dice.choice(("always", "never", "when", "lesson", "lesson", "lesson"))
        text = self._dice.choice(FORMS[kind]).format(code, f"{code[::-1]}")
        if kind == "lesson" and self._dice.random() < 0.2:
            text, other = (form.format(code) for form in TWIN)
            self._propose(code, text, kind)
            code, text = f"{code}'", other
        self._propose(code, text, kind)

    def _propose(self, code: str, text: str, kind: Kind) -> None:
        topic = self._dice.choice(_TOPICS) if kind == "lesson" else ""
        sure: Confidence = self._dice.choice(("high", "medium", "medium"))
        day = today() + timedelta(days=self._dice.randrange(3))
        engram = Engram(
            text,
            kind,
            "project",
            sure,
            topic,
            self._dice.choice(("llm", "user")),
            # Some of it holds for a few days only.
            expires=day.isoformat() if self._dice.random() < _PASSING else "",
        )
        became = self._do("learn", code, text, lambda: self.cortex.propose(engram)[0].action)
        if became == "queued":
            self._waiting[code] = text
        elif became and "'" not in code and not text.startswith("Keep the"):
            self._mine[code] = text

    def _repeat(self) -> None:
        """Say what is known already."""
        if self._mine:
            code = self._dice.choice(sorted(self._mine))
            entry = self._find(code)
            if entry is not None:
                again = Engram(entry.text, entry.kind, "project", "high", source="user")
                self._do("repeat", code, entry.text, lambda: self.cortex.propose(again)[0].action)

    def _reword(self) -> None:
        """Put a memory in other words."""
        code = self._dice.choice(sorted(self._mine)) if self._mine else ""
        entry = self._find(code)
        if entry is not None:
            text = f"{code} is now said otherwise, {self._dice.randrange(10**6)}"
            if self._do("reword", code, text, lambda: _done(self.cortex.update(entry.id, text))):
                self._mine[code] = text

    def _forget(self) -> None:
        """Retire a memory."""
        code = self._dice.choice(sorted(self._mine)) if self._mine else ""
        entry = self._find(code)
        if entry is not None and self._dice.random() < 0.5:
            text = self._mine.pop(code)
            if self._do("forget", code, "", lambda: _done(self.cortex.forget(entry.id, "old"))):
                self._gone[code] = text

    def _restore(self) -> None:
        """Bring back what was retired."""
        if not self._gone:
            return
        code = self._dice.choice(sorted(self._gone))
        found = [
            each.entry
            for store in self.cortex.scopes.stores
            for each in store.archived()
            if each.entry.text == self._gone[code] and each.reason == "forgotten"
        ]
        if found:
            text = self._gone.pop(code)
            restore = self.cortex.restore
            if self._do("restore", code, text, lambda: _done(restore(found[-1].id))):
                self._mine[code] = text

    def _fact(self) -> None:
        """Learn what the user uses today, instead of what they used yesterday."""
        code = f"Tool of {self._errand['name']}"
        text = f"{code}: {self._dice.randrange(10**6)}"
        fact = Engram(text, "profile", "global", "high", source="user")
        self._do("fact", code, text, lambda: self.cortex.encode(fact)[0].action)

    def _decide(self, session: Session, proposal: str, code: str) -> None:
        """Let the user decide about what waits."""
        waited = text = self._waiting.pop(code)
        is_own = "'" not in code and not text.startswith("Keep the")
        how = self._dice.choice(("accept", "accept", "decline", "edit" if is_own else "accept"))
        words = None
        if how == "edit":
            how, words = (
                "accept",
                f"{code} as the user wants it said, {self._dice.randrange(10**6)}",
            )
            text = words

        def act() -> str:
            action = session.resolve(proposal, how, words).action
            return "failed" if action == "failed" else how

        if self._do(how, code, text, act):
            if how != "decline" and is_own:
                self._mine[code] = text
        else:
            self._waiting[code] = waited

    def _find(self, code: str) -> Entry | None:
        wanted = self._mine.get(code)
        return next((each for each in self.cortex.entries() if each.text == wanted), None)


def _done(entry: object) -> str:
    del entry
    return ""


def look(project: str, home: str) -> dict[str, Any]:
    """Open memory as the next one does, and return what stands in it."""
    cortex = Cortex.open(project, home)
    ticked = cortex.review.apply_ticks()
    stores = cortex.scopes.stores
    return {
        "notices": cortex.scopes.notices(),
        "ticked": [[each.action, each.engram.text, each.reason] for each in ticked],
        "again": any(store.notice() for store in stores),
        "entries": [[e.id, e.text, e.file, e.kind, e.scope, e.source] for e in cortex.entries()],
        "pending": [[each.id, each.op, each.engram.text] for each in cortex.pending()],
        "archived": [
            [each.entry.text, each.reason] for store in stores for each in store.archived()
        ],
        "topics": [
            [each.topic, each.text]
            for store in stores
            for each in store.entries()
            if each.topic and each.text not in map(str, store.recall_topic(each.topic))
        ],
        "history": [len(store.history()) for store in stores],
    }


def main() -> None:
    """Do the errand of standard input, or ``look PROJECT HOME``."""
    if sys.argv[1:2] == ["look"]:
        sys.stdout.write(json.dumps(look(*sys.argv[2:])))
        return
    errand = json.load(sys.stdin)
    try:
        Assistant(errand).work()
    except EngramdownError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        raise


if __name__ == "__main__":
    main()
