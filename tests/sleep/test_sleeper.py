"""A program that runs for long sleeps beside its work, and is told what went wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from engramdown import Cortex, Engram
from engramdown.errors import StoreError
from engramdown.sleep.sleep import Sleep, Sleeper
from tests.sleep.test_sleep import LESSON, Model, record, texts

NAME = "engramdown-sleep"


def threads(name: str = NAME) -> list[str]:
    """Return the names of the threads of that name that run."""
    return [thread.name for thread in threading.enumerate() if thread.name == name]


def wait(until: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 30
    while not until():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_it_sleeps_again_and_again_and_no_thread_survives(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    with cortex.worker.sleeper(every=0.01) as sleeper:
        wait(lambda: sleeper.slept)
        assert texts(cortex) == ["Use uv"]
        record(cortex, "s2", "Never push on Fridays.")
        wait(lambda: len(texts(cortex)) == 2)
        assert threads() == [NAME]
        assert sleeper.start() is sleeper
        assert threads() == [NAME]
    assert threads() == []
    assert sleeper.trouble == ""
    assert sleeper.last is not None


def test_it_uses_stores_of_its_own(cortex: Cortex, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[object] = []
    run = Sleep.run

    def spy(self: Sleep) -> object:
        used.extend(self._stores)
        return run(self)

    cortex.encode(Engram("Something", "lesson", "project"))
    monkeypatch.setattr(Sleep, "run", spy)
    with cortex.worker.sleeper() as sleeper:
        wait(lambda: sleeper.slept)
    assert used
    assert not [store for store in used if any(store is mine for mine in cortex.scopes.stores)]


def test_it_ends_after_the_step_that_it_is_at(cortex: Cortex) -> None:
    thinking, go = threading.Event(), threading.Event()
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})

    def think() -> None:
        thinking.set()
        assert go.wait(30)

    model.meanwhile = think
    for session in ("s1", "s2"):
        record(cortex, session, fails=2)
    sleeper = Sleeper(cortex.scopes, every=0).start()
    assert thinking.wait(30)
    # A program that works meanwhile waits for nobody.
    cortex.propose(Engram("Told meanwhile", "lesson", "project"))
    assert not sleeper.stop(timeout=0.01)
    go.set()
    assert sleeper.stop()
    assert len(model.asked) == 1
    assert sleeper.last is not None
    assert sleeper.last.stopped
    assert sorted(texts(cortex)) == [LESSON["text"], "Told meanwhile"]
    assert threads() == []


def test_a_model_that_hangs_keeps_nobody_in_the_block(cortex: Cortex) -> None:
    thinking, go = threading.Event(), threading.Event()
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})

    def hang() -> None:
        thinking.set()
        assert go.wait(30)

    model.meanwhile = hang
    record(cortex, "s1", fails=2)
    with cortex.worker.sleeper(patience=0.01) as sleeper:
        assert thinking.wait(30)
    assert threads() == [NAME]
    go.set()
    assert sleeper.stop()
    assert texts(cortex) == [LESSON["text"]]


def test_one_that_was_not_started_is_stopped(cortex: Cortex) -> None:
    assert cortex.worker.sleeper().stop()


def test_what_goes_wrong_is_told_and_the_next_sleep_is_tried(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(cortex, "s1", "From now on use uv.")
    run = Sleep.run
    failing = iter([True])

    def fail_once(self: Sleep) -> object:
        if next(failing, False):
            raise StoreError("the disk is gone")
        assert sleeper.trouble == "the disk is gone"
        return run(self)

    monkeypatch.setattr(Sleep, "run", fail_once)
    sleeper = cortex.worker.sleeper(every=0.01)
    with sleeper:
        wait(lambda: sleeper.slept > 1)
    assert sleeper.trouble == ""
    assert texts(cortex) == ["Use uv"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_of_a_model_ends_it_and_is_not_hidden(cortex: Cortex) -> None:
    cortex.scopes.model = Model(Lessons=RuntimeError("a bug"))
    record(cortex, "s1", fails=2)
    sleeper = Sleeper(cortex.scopes).start()
    wait(lambda: not threads())
    assert sleeper.trouble == "RuntimeError: a bug"
    assert sleeper.stop()


def test_a_scope_that_fails_is_told(cortex: Cortex, monkeypatch: pytest.MonkeyPatch) -> None:
    record(cortex, "s1", "From now on use uv.")

    def fails(*_: object) -> object:
        raise StoreError("the disk is full")

    monkeypatch.setattr(Sleep, "_scope", fails)
    with cortex.worker.sleeper() as sleeper:
        wait(lambda: sleeper.slept)
    assert "the disk is full" in sleeper.trouble


def test_another_cortex_over_the_same_scopes_is_open(cortex: Cortex) -> None:
    cortex.mode = "copilot"
    other = cortex.reopened()
    assert other.mode == "copilot"
    assert other.scopes.settings == cortex.scopes.settings
    assert [store.root for store in other.scopes.stores] == [
        store.root for store in cortex.scopes.stores
    ]
    cortex.encode(Engram("Something", "lesson", "project"))
    assert texts(other) == ["Something"]
    assert other.episodes is not None
    assert cortex.episodes is not None
    assert other.episodes.folder == cortex.episodes.folder


def test_a_store_without_files_is_shared(cortex: Cortex) -> None:
    mine: Any = object()
    assert Cortex(mine, cortex.scopes.project_hc).reopened().scopes.global_hc is mine
