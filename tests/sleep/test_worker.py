"""A worker beside a program: again and again, in a thread that ends when it is told to."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from freezegun import freeze_time

from engramdown import Cortex
from engramdown.errors import SettingsError
from engramdown.sleep.worker import Worker, work_once
from tests.cortex.desk import Desk, episodes, spoken
from tests.sleep.test_sleeper import threads, wait

NAME = "engramdown-worker"


@pytest.fixture
def desk(cortex: Cortex) -> Desk:
    """Let the cortex ask a model, without a pause."""
    cortex.scopes.model = desk = Desk()
    worker = cortex.scopes.settings.worker._replace(pause=0)
    cortex.scopes.settings = cortex.scopes.settings._replace(worker=worker)
    return desk


def test_it_works_again_and_again_and_no_thread_survives(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    with cortex.worker(every=0.01) as worker:
        wait(lambda: worker.rounds)
        assert desk.sessions == ["s1"]
        spoken(cortex, "s2")
        wait(lambda: len(desk.asked) == 2)
        assert threads(NAME) == [NAME]
    assert threads(NAME) == []
    assert worker.trouble == ""
    assert worker.last is not None
    assert episodes(cortex).card("s2").title == "About s2"


def test_a_session_of_the_program_itself_is_left_alone(cortex: Cortex, desk: Desk) -> None:
    with cortex.session("mine") as session:
        session.begin_turn("Hello")
        with cortex.worker(every=0.01) as worker:
            wait(lambda: worker.rounds > 1)
        assert [info.ended for info in episodes(cortex).sessions()] == [""]
    assert desk.asked == []


def test_it_ends_after_the_step_that_it_is_at(cortex: Cortex, desk: Desk) -> None:
    thinking, go = threading.Event(), threading.Event()

    def think() -> None:
        thinking.set()
        assert go.wait(30)

    desk.meanwhile = think
    for name in ("s1", "s2"):
        spoken(cortex, name)
    worker = Worker(cortex.scopes, every=0.01).start()
    assert thinking.wait(30)
    # A program that records meanwhile waits for nobody.
    episodes(cortex).log("s3", "user", "Hello")
    assert not worker.stop(timeout=0.01)
    go.set()
    assert worker.stop()
    assert desk.sessions == ["s1"]
    assert worker.last is not None
    assert worker.last.stopped
    assert threads(NAME) == []


def test_it_ends_in_a_pause_too(cortex: Cortex, desk: Desk) -> None:
    worker = cortex.scopes.settings.worker._replace(pause=1000)
    cortex.scopes.settings = cortex.scopes.settings._replace(worker=worker)
    for name in ("s1", "s2"):
        spoken(cortex, name)
    with cortex.worker() as working:
        wait(lambda: desk.asked)
    assert desk.sessions == ["s1"]
    assert threads(NAME) == []
    assert working.stop()


def test_two_workers_do_each_session_once(cortex: Cortex, desk: Desk) -> None:
    names = [f"s{number}" for number in range(10)]
    for name in names:
        spoken(cortex, name)
    desk.meanwhile = lambda: time.sleep(0.002)
    with cortex.worker(every=0.001), cortex.worker(every=0.001) as second:
        wait(lambda: len(desk.asked) == 10 and second.rounds > 5)
    assert sorted(desk.sessions) == names


def test_how_long_it_rests_is_what_is_set(cortex: Cortex) -> None:
    settings = cortex.scopes.settings.worker._replace(every=7)
    cortex.scopes.settings = cortex.scopes.settings._replace(worker=settings)
    assert (cortex.worker()._every, cortex.worker(every=3)._every) == (7, 3)
    assert cortex.worker(every=1e300).start().stop()


@pytest.mark.parametrize("every", [0, -1, float("nan")])
def test_never_to_rest_is_refused(every: float, cortex: Cortex) -> None:
    with pytest.raises(ValueError, match="above 0"):
        cortex.worker(every=every)


def test_what_is_no_model_is_said_before_anything_is_done(cortex: Cortex) -> None:
    with freeze_time("2026-03-01"):
        spoken(cortex, "s1", end=False)
    mine: Any = object()
    cortex.scopes.model = mine
    with pytest.raises(SettingsError):
        work_once(cortex.scopes)
    assert [info.ended for info in episodes(cortex).sessions()] == [""]


def test_a_call_takes_no_longer_than_a_session_may(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engramdown.models.provider import InstructorModel

    found: list[float] = []
    begin = InstructorModel.__init__

    def spy(self: InstructorModel, *names: Any, **how: Any) -> None:  # noqa: ANN401 - as they are
        found.append(how["timeout"])
        begin(self, *names, **how)

    monkeypatch.setattr(InstructorModel, "__init__", spy)
    spoken(cortex, "s1", end=False)
    for timeout, longest in ((60, 90), (90, 60), (60, 60)):
        cortex.scopes.settings = cortex.scopes.settings._replace(
            consolidation=cortex.scopes.settings.consolidation._replace(
                model="openai/x", timeout=timeout
            ),
            worker=cortex.scopes.settings.worker._replace(timeout=longest),
        )
        work_once(cortex.scopes)
        assert found.pop() == 60
