"""Every job that asks a model, each so set up that it is the only one that asks.

Promises: nothing but the job decides what becomes of an answer; what it left is told whole.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown import Cortex, Engram
from engramdown.errors import ModelError
from engramdown.sleep.worker import fill_card
from tests.sleep.test_sleep import THINGS, record

__all__ = ["JOBS", "Told", "good", "memory", "ready", "run", "with_text"]

JOBS: Final = ("replay", "cerebellum", "identity", "compaction", "card")
SESSION: Final = "s1"


class Told(NamedTuple):
    """What a job told of an answer.

    Attributes:
        refusals: Why something is not used, in words.
        actions: What became of each thing that was learned, or of each operation.
    """

    refusals: tuple[str, ...]
    actions: tuple[str, ...]


def ready(job: str, cortex: Cortex) -> Cortex:
    """Let a job be due in ``cortex``, and no other that asks."""
    if job == "replay":
        _calls(cortex, 5)
    elif job == "cerebellum":
        record(cortex, SESSION, fails=1)
    elif job == "identity":
        record(cortex, SESSION, *(f"What about {thing}?" for thing in THINGS[:5]))
    elif job == "card":
        record(cortex, SESSION, "Why is CI red?")
    # What stands there already must stand there afterwards; and a full file is compacted.
    names = THINGS if job == "compaction" else THINGS[:3]
    cortex.encode(
        [Engram(f"{name.title()} is kept at home", "lesson", "project") for name in names]
    )
    return cortex


def _calls(cortex: Cortex, count: int) -> None:
    memory = cortex.episodes
    assert memory is not None
    memory.start_session(SESSION)
    for number in range(count):
        memory.log(SESSION, "scratchpad", f"step {number}", name="pad")
    memory.end(SESSION)
    memory.close()


def good(job: str, cortex: Cortex) -> dict[str, Any]:
    """Return an answer that a job takes."""
    one, other = [entry.id for entry in cortex.entries() if entry.kind == "lesson"][:2]
    merge = {"operation": "merge", "ids": [one, other], "text": "Amber and basalt are kept at home"}
    card = {"title": "Mending CI", "one_liner": "CI", "paragraph": "It was red.", "decisions": []}
    answers: dict[str, dict[str, Any]] = {
        "replay": {"items": [{"text": "Tests need uv", "cells": [1]}]},
        "cerebellum": {"lessons": [{"text": "pytest needs uv", "cells": [1]}]},
        "identity": {"facts": [{"key": "Editor", "value": "vim", "messages": [1]}]},
        "compaction": {"operations": [merge]},
        "card": card,
    }
    return answers[job]


def with_text(job: str, cortex: Cortex, text: str) -> dict[str, Any]:
    """Return the answer of a job with ``text`` in each place where a text can stand."""
    answer = good(job, cortex)
    if job == "card":
        return {"title": text, "one_liner": text, "paragraph": text, "decisions": [text]}
    ((field, (item,)),) = answer.items()
    if job == "compaction":
        ids = [entry.id for entry in cortex.entries()]
        return {
            field: [
                {**item, "ids": ids[0:2], "text": text},
                {**item, "ids": ids[2:4], "reason": text[:400]},
                {"operation": "move", "ids": ids[4:5], "topic": text[:120]},
            ]
        }
    places = {"replay": ("text", "topic"), "cerebellum": ("text",), "identity": ("key", "value")}
    short = {"topic": text[:200], "key": text[:200]}
    return {field: [{**item, place: short.get(place, text)} for place in places[job]]}


def run(job: str, cortex: Cortex, model: object) -> Told:
    """Run a job with a model, and return what it told."""
    cortex.scopes.model = model
    if job == "card":
        assert cortex.episodes is not None
        try:
            return Told(
                (), ("filled" if fill_card(cortex.scopes, cortex.episodes, SESSION) else "",)
            )
        except ModelError as error:
            return Told((str(error),), ())
    summary = cortex.sleep(scope="project")
    report = next(each for each in summary.jobs if each.job == job)
    assert summary.failed == {}
    refused = [each.reason for each in report.compacted if each.action not in _DONE]
    why = [report.skipped, *report.problems, *report.refused, *refused]
    actions = [str(each.action) for each in report.receipts]
    actions += [str(each.action) for each in report.compacted]
    return Told(tuple(filter(None, why)), tuple(actions))


_DONE: Final = frozenset({"applied", "queued", "nothing"})


def memory(cortex: Cortex, more: Callable[[Path], bool] = lambda _: False) -> dict[str, bytes]:
    """Return the bytes of every file of memory, and of ``more`` files of the scopes."""
    return {
        str(path): path.read_bytes()
        for store in cortex.scopes.stores
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and (path.suffix == ".md" or more(path))
    }
