"""`engramdown.models.provider`: whoever asks, from wherever, is alone with it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import ModelError
from engramdown.models.provider import InstructorModel, Provider
from tests.consolidation.provider import Provider as Server
from tests.consolidation.provider import Reply, answering, failing, serving
from tests.consolidation.wire import says, wired
from tests.models.test_outcomes import FACT, Fact

SECRET: Final = f"sk-proj-{'a1B2' * 10}"


@pytest.mark.slow
def test_a_thread_whose_call_times_out_takes_nobody_elses_connection_away() -> None:
    replies = [Reply(way="hang") if number % 3 == 0 else answering(FACT) for number in range(6)]
    with serving(*replies) as url:
        model = InstructorModel("openai/small", url, timeout=5, retries=0)

        def ask(_: int) -> str:
            try:
                return model.ask(Fact, "", "").text
            except ModelError as error:
                return error.outcome

        with ThreadPoolExecutor(6) as pool:
            found = sorted(pool.map(ask, range(6)))
    assert found == ["Use uv"] * 4 + ["timeout"] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no program forks there")
def test_a_child_asks_for_itself() -> None:
    with serving(answering(FACT)) as url:
        model = InstructorModel("openai/small", url, retries=0)
        model.ask(Fact, "", "")
        with warnings.catch_warnings():
            # That a program with threads forks is what is tested.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            code = 1
            try:
                code = int(model.ask(Fact, "", "").text != "Use uv")
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert model.ask(Fact, "", "").text == "Use uv"


def test_it_can_be_asked_while_a_loop_runs() -> None:
    async def main(model: InstructorModel) -> tuple[Fact, Fact]:
        return model.ask(Fact, "", ""), await asyncio.to_thread(model.ask, Fact, "", "")

    with wired(says(FACT)) as wire:
        model = InstructorModel("openai/small", wire.url)
        assert asyncio.run(main(model)) == (Fact(**FACT), Fact(**FACT))


@pytest.mark.slow
@pytest.mark.parametrize("reply", [answering(FACT), failing(500), Reply(way="hang")])
def test_no_connection_is_left_open(reply: Reply) -> None:
    with serving(answering(FACT), reply) as url:
        # What is loaded by the first call takes its time.
        InstructorModel("openai/small", url).ask(Fact, "", "")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with suppress(ModelError):
                InstructorModel("openai/small", url, retries=0, timeout=1).ask(Fact, "", "")
            _wait_until(lambda: not _asking())
            gc.collect()
        assert [each for each in told if issubclass(each.category, ResourceWarning)] == []


def _descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def _asking() -> int:
    """Return how many calls are on their way: those that were given up, too."""
    return sum(each.name == "engramdown-model" for each in threading.enumerate())


def _wait_until(it_is: Callable[[], bool]) -> None:
    for _ in range(400):
        if it_is():
            return
        time.sleep(0.05)
    pytest.fail("something is left behind")


def test_no_address_and_nothing_that_is_asked_is_logged_by_anybody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(answering('{"purple"'), answering(FACT)) as url:
        there = url.replace("http://", "http://me:hunter2@")
        InstructorModel("openai/small", there).ask(Fact, "purple", "elephants")
    assert [record.name for record in caplog.records if record.name != "asyncio"] == []


def test_nothing_of_a_call_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    script = answering(f'{{"purple": "{SECRET}"'), failing(401, f"no {SECRET}")
    with serving(*script) as url, pytest.raises(ModelError):
        InstructorModel("openai/small", url).ask(Fact, "", "")
    assert capfd.readouterr() == ("", "")


def test_what_others_do_with_instructor_is_logged_as_before(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with wired(says(FACT)) as wire:
        InstructorModel("openai/small", wire.url).ask(Fact, "", "")
    logging.getLogger("instructor.v2.retry").error("somebody else's")
    assert [record.message for record in caplog.records] == ["somebody else's"]


def test_a_key_stands_in_no_error_and_no_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMDOWN_MODEL_KEY", SECRET)
    with serving(failing(401, f"Incorrect API key provided: {SECRET}")) as url:
        model = InstructorModel(f"openai/{SECRET}", url)
        with pytest.raises(ModelError) as caught:
            model.ask(Fact, "", "")
        assert len(Server.seen) == 1
    assert SECRET not in f"{caught.value}{caught.value!r}{model!r}"
    assert caught.value.__cause__ is None


def test_a_key_that_no_header_can_hold_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMDOWN_MODEL_KEY", f"{SECRET}\n€")
    with wired(says(FACT)) as wire:
        with pytest.raises(ModelError) as caught:
            InstructorModel("openai/small", wire.url, retries=0).ask(Fact, "", "")
        assert SECRET not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_provider_is_opened_once_and_closed_for_good() -> None:
    provider = Provider("openai/small", "http://127.0.0.1:9/v1", 20)
    assert provider.open() is None
    client = provider._client
    assert provider.open() is None
    assert provider._client is client
    provider.close()
    provider.close()
    assert client.client.is_closed()


@pytest.mark.skipif(sys.platform == "win32", reason="sockets are counted elsewhere there")
def test_many_questions_leave_no_descriptor_behind() -> None:
    with wired(says(FACT)) as wire:
        model = InstructorModel("openai/small", wire.url)
        model.ask(Fact, "", "")
        before = _descriptors()
        for _ in range(5):
            model.ask(Fact, "", "")
        # The other end closes its own in its own time.
        _wait_until(lambda: _descriptors() <= before)
