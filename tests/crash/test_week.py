"""A week of use, and that its ledger and its clock can tell."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.crash.clocks import Clock
from tests.crash.ledger import GONE, Ledger, live, merged, waits
from tests.crash.week import Week

TELL = "import os, time; print(int(time.time()), int(os.stat('file').st_mtime))"


def seen(*entries: str, waiting: str = "", question: str = "", retired: str = "") -> dict[str, Any]:
    pending = [["p", "encode", waiting]] if waiting else []
    pending += [["q", "forget", f"Delete: {question}"]] if question else []
    rows = [[f"{at}", text, "lessons.md"] for at, text in enumerate(entries)]
    archived = [[retired, "duplicate"]] if retired else []
    return {"entries": rows, "pending": pending, "archived": archived}


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    ledger.know(["birch", "elm"])
    ledger.put("birch", live("birch is tall"))
    return ledger


@pytest.mark.parametrize(
    "found, wrong",
    [
        pytest.param(seen("birch is tall"), 0, id="as-it-was"),
        pytest.param(seen(), 1, id="lost"),
        pytest.param(seen("birch is short"), 1, id="in-other-words"),
        pytest.param(seen("birch is tall", "birch is tall"), 1, id="twice"),
        pytest.param(seen("birch is tall", "elm came"), 1, id="one-too-many"),
        pytest.param(seen("birch is tall", "who wrote this?"), 1, id="from-nowhere"),
        pytest.param(seen(waiting="birch is tall"), 1, id="only-waits"),
        pytest.param(seen(retired="birch is tall"), 1, id="tidied-for-nothing"),
        pytest.param(
            seen("In the cellar, please keep the birch crates.", retired="birch is tall"),
            1,
            id="a-twin-that-nobody-wrote",
        ),
    ],
)
def test_the_ledger_tells_what_is_wrong(ledger: Ledger, found: dict[str, Any], wrong: int) -> None:
    assert len(ledger.settle(found)) == wrong


def test_what_was_cut_short_may_be_there_or_not_and_then_stays_so(ledger: Ledger) -> None:
    ledger.either("elm", live("elm is old"))
    other = ledger.copy()
    assert ledger.settle(seen("birch is tall", "elm is old")) == []
    assert len(ledger.settle(seen("birch is tall"))) == 1
    assert other.settle(seen("birch is tall")) == []
    assert len(other.settle(seen("birch is tall", "elm is old"))) == 1


def test_what_a_person_deleted_may_be_asked_about_and_nothing_else(ledger: Ledger) -> None:
    ledger.put("birch", GONE, by_hand=True)
    assert len(ledger.copy().settle(seen("birch is tall"))) == 1
    assert ledger.settle(seen("birch is tall", question="birch is tall")) == []


def test_what_was_only_said_may_be_learned_later_but_not_lost_again(ledger: Ledger) -> None:
    ledger.talk("elm")
    assert ledger.settle(seen("birch is tall")) == []
    assert ledger.settle(seen("birch is tall", waiting="Use elm")) == []
    assert len(ledger.settle(seen("birch is tall"))) == 1


def test_a_merge_brings_what_either_side_did(ledger: Ledger) -> None:
    ours, theirs = ledger.copy(), ledger.copy()
    ours.put("elm", waits("elm is old"))
    theirs.put("birch", GONE)
    both = merged(ledger, ours, theirs)
    assert (both.may["elm"], both.may["birch"]) == ({waits("elm is old")}, {GONE})


def test_a_clock_that_moves_takes_files_with_it(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    if not clock.moves:
        pytest.skip("there is no compiler for clock.c")
    (tmp_path / "file").write_text("old", encoding="utf-8")

    def told() -> list[int]:
        command = [sys.executable, "-c", TELL]
        return [
            int(word)
            for word in subprocess.check_output(command, cwd=tmp_path, env=clock.env).split()
        ]

    clock.pass_until(clock.now + timedelta(days=2))
    now, written = told()
    assert -2 <= now - written - 2 * 86400 <= 60
    (tmp_path / "file").write_text("new", encoding="utf-8")
    now, written = told()
    assert 0 <= now - written <= 60
    clock.pass_until(clock.now + timedelta(hours=1))
    now, written = told()
    assert -2 <= now - written - 3600 <= 60


@pytest.mark.soak
def test_any_week_keeps_what_was_remembered(tmp_path: Path, soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    seed = random.SystemRandom().randrange(2**32)
    for hour in Week(tmp_path / "week", random.Random(seed)).hours():
        assert not hour.wrong, f"seed {seed}, {hour.what}: {hour.wrong}"
        if time.monotonic() > end:
            break
