"""The fault campaign: experiments that try to break a promise, and what came of them.

Promises: every experiment gets its share of the time and dice of its own, so that a seed repeats
it; what an experiment raises, or yields as wrong, is a violation that is shown and never swallowed.
"""

from __future__ import annotations

import random
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final


class MissingError(Exception):
    """What an experiment needs is not here: it says so, and nothing was tried."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One case of an experiment.

    Attributes:
        what: What was done, so that a person can find it again.
        wrong: What is violated; empty if nothing is.
        count: How many cases it stands for.
    """

    what: str
    wrong: str = ""
    count: int = 1


Experiment = Callable[[Path, random.Random], Iterator[Trial]]
"""Tries cases in an empty folder, with dice, until it has tried all or is not asked again."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An experiment of the campaign.

    Attributes:
        where: Its module and function, ``"tests.crash.kills:trials"``.
        promise: The number of the promise in docs/reliability.md that it tries to break.
        share: How much of the time it gets, beside the others.
    """

    where: str
    promise: int
    share: float = 1.0


@dataclass(slots=True)
class Outcome:
    """What came of an experiment.

    Attributes:
        name: Its name.
        seed: What its dice began with.
        cases: How many cases were tried.
        seconds: How long that took.
        finished: Whether nothing was left to try.
        missing: What it needs and is not here; then nothing was tried.
        wrong: What was violated, a text each.
    """

    name: str
    seed: int
    cases: int = 0
    seconds: float = 0.0
    finished: bool = False
    missing: str = ""
    wrong: list[str] = field(default_factory=list)


EXPERIMENTS: Final[dict[str, Listed]] = {
    "memory-killed": Listed("tests.crash.faults:memory_killed", 2),
    "memory-failed": Listed("tests.crash.faults:memory_failed", 8, share=2.0),
    "transcripts-cut-short": Listed("tests.crash.faults:transcripts_cut_short", 12, share=2.0),
    "jobs-cut-short": Listed("tests.crash.faults:jobs_cut_short", 9),
    "skills-cut-short": Listed("tests.crash.faults:skills_cut_short", 2),
    "skills-failed": Listed("tests.crash.skill_points:trials", 8, share=0.5),
    "points-killed": Listed("tests.crash.points:points_killed", 2),
    "points-failed": Listed("tests.crash.points:points_failed", 8),
    "power-cuts": Listed("tests.crash.power:trials", 3, share=2.0),
    "power-cuts-transcripts": Listed("tests.crash.transcript_cuts:trials", 3),
    "power-cuts-skills": Listed("tests.crash.skill_cuts:trials", 3),
    "power-cuts-gists": Listed("tests.crash.gist_cuts:trials", 3),
    "mutants": Listed("tests.crash.power:mutants", 3),
    "full-disk": Listed("tests.crash.full_disk:full", 8),
    "file-limit": Listed("tests.crash.full_disk:limited", 8),
    "branches": Listed("tests.crash.branches:trials", 13, share=2.0),
    "fuzz": Listed("tests.fuzz.experiment:trials", 7),
    "growth": Listed("tests.fuzz.growth:trials", 15),
    "writers": Listed("tests.crash.concurrency:trials", 4, share=2.0),
    "git-beside": Listed("tests.crash.beside_git:trials", 1),
    "editors": Listed("tests.crash.editing:trials", 5, share=3.0),
    "editors-skills": Listed("tests.crash.skill_editing:trials", 5),
    "vim": Listed("tests.crash.vim:trials", 5),
    "long-run": Listed("tests.crash.long_run:trials", 1, share=2.0),
    "week": Listed("tests.crash.week:trials", 1, share=2.0),
}
"""The campaign, by name: the promises of docs/reliability.md in their order."""


def experiment(name: str) -> Experiment:
    """Return the function of an experiment."""
    module, _, function = EXPERIMENTS[name].where.partition(":")
    found: Experiment = getattr(import_module(module), function)
    return found


def carry_out(
    name: str,
    folder: Path,
    seed: int,
    *,
    seconds: float,
    cases: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Try cases of an experiment until its time is over.

    Args:
        name: Which experiment.
        folder: A folder that is made for it, and removed at its end.
        seed: What its dice begin with.
        seconds: For how long cases are begun.
        cases: How many cases are tried at most.
        tell: Is given each violation at once.
    """
    outcome = Outcome(name, seed)
    folder.mkdir(parents=True)
    begun = time.monotonic()
    trials = experiment(name)(folder, random.Random(f"{name} {seed}"))
    try:
        for trial in _until(trials, outcome):
            outcome.cases += trial.count
            if trial.wrong:
                outcome.wrong.append(f"{trial.what}: {trial.wrong}")
                tell(outcome.wrong[-1])
            if time.monotonic() - begun > seconds or outcome.cases >= (cases or outcome.cases + 1):
                break
    finally:
        # A generator that is left in the middle ends its processes when it is closed.
        getattr(trials, "close", lambda: None)()
        outcome.seconds = time.monotonic() - begun
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _until(trials: Iterable[Trial], outcome: Outcome) -> Iterator[Trial]:
    """Yield trials, and what the experiment itself raises as one that went wrong."""
    try:
        yield from trials
        outcome.finished = True
    except MissingError as error:
        outcome.missing = str(error)
    except Exception:  # noqa: BLE001 - a bug in an experiment must not end the others
        yield Trial("the experiment broke", traceback.format_exc())
