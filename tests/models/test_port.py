"""`engramdown.models.port`: anything that answers can be asked, and costs what it costs."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel

from engramdown.errors import ModelError, SpendError
from engramdown.models.ledger import NAME, Ledger, Limits, Spent
from engramdown.models.port import Asker, LanguageModel, MeteredModel, Run, T
from engramdown.models.provider import InstructorModel

LIMITS = Limits(3, 1000, 24, 9, 9000)


class Said(BaseModel):
    """What somebody said."""

    text: str


class Parrot:
    """A model of somebody's own, which says what it was told to."""

    name = "parrot"

    def __init__(self, answer: object) -> None:
        """Say ``answer``, or raise it."""
        self.answer = answer

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Say it."""
        assert (schema, system, user) == (Said, "Speak.", "Now.")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return cast(T, self.answer)


def asker(answer: object, limits: Limits = LIMITS) -> tuple[Asker, Run]:
    run = Run(Ledger(None), limits)
    return Asker(Parrot(answer), "replay", run), run


def ask(who: LanguageModel) -> Any:  # noqa: ANN401 - whatever the parrot says
    return who.ask(Said, "Speak.", "Now.")


def test_what_asks_a_model_is_one() -> None:
    who, _ = asker(Said(text="hello"))
    assert isinstance(who, LanguageModel)
    assert not isinstance(who, MeteredModel)
    assert isinstance(InstructorModel("openai/small"), MeteredModel)
    assert who.name == "parrot"


def test_the_call_of_a_model_of_ones_own_is_written_down() -> None:
    who, run = asker(Said(text="hello"))
    assert ask(who) == Said(text="hello")
    (call,) = run.ledger.known().calls
    assert (call.job, call.model, call.outcome) == ("replay", "parrot", "ok")
    assert (call.tokens_in, call.tokens_out) == (3, 4)
    assert run.spent == Spent(1, 7)


def test_an_answer_of_another_form_is_none() -> None:
    who, run = asker({"text": "hello"})
    with pytest.raises(ModelError, match="parrot: answered in another form") as caught:
        ask(who)
    assert caught.value.outcome == "wrong_schema"
    assert [call.outcome for call in run.ledger.known().calls] == ["wrong_schema"]


@pytest.mark.parametrize(
    "error, outcome",
    [(ModelError("parrot: tired", "timeout"), "timeout"), (KeyboardInterrupt(), "failed")],
)
def test_a_call_that_fails_is_written_down_as_it_ended(error: BaseException, outcome: str) -> None:
    who, run = asker(error)
    with pytest.raises(type(error)):
        ask(who)
    assert [call.outcome for call in run.ledger.known().calls] == [outcome]


def test_no_limit_is_passed_and_a_refusal_costs_nothing() -> None:
    who, run = asker(Said(text="hello"))
    for _ in range(3):
        ask(who)
    for _ in range(2):
        with pytest.raises(SpendError, match="calls_per_run is 3"):
            ask(who)
    assert run.spent.calls == 3
    outcomes = [call.outcome for call in run.ledger.known().calls]
    assert outcomes == ["ok"] * 3 + ["refused_spend"] * 2


def test_the_jobs_of_a_run_share_its_limits() -> None:
    run = Run(Ledger(None), LIMITS)
    for job in ("replay", "identity", "compaction"):
        ask(Asker(Parrot(Said(text="a")), job, run))
    with pytest.raises(SpendError):
        ask(Asker(Parrot(Said(text="a")), "replay", run))


def test_the_next_run_begins_anew_and_the_window_goes_on() -> None:
    ledger = Ledger(None)
    for _ in range(3):
        run = Run(ledger, LIMITS)
        for _ in range(3):
            ask(Asker(Parrot(Said(text="a")), "replay", run))
    with pytest.raises(SpendError, match="calls_per_window is 9, and 9 calls are spent"):
        ask(Asker(Parrot(Said(text="a")), "replay", Run(ledger, LIMITS)))


def test_a_call_is_written_down_before_it_is_made() -> None:
    run = Run(Ledger(None), LIMITS)

    class Looking(Parrot):
        def ask(self, schema: type[T], system: str, user: str) -> T:
            (call,) = run.ledger.known().calls
            assert (call.outcome, call.tokens_in) == ("asked", 3)
            return super().ask(schema, system, user)

    ask(Asker(Looking(Said(text="hello")), "replay", run))
    (call,) = run.ledger.known().calls
    assert (call.outcome, call.estimated) == ("ok", True)


class Silent(Parrot):
    """A model that must not be asked."""

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Fail the test."""
        pytest.fail(f"{schema} was asked for: {system}, {user}")


@pytest.mark.parametrize("trouble", ["no-folder", "link", "folder", "full", "read-only"])
def test_what_cannot_be_written_down_is_not_asked(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path
    if trouble == "no-folder":
        folder = tmp_path / "file" / "deep"
        (tmp_path / "file").write_bytes(b"")
    elif trouble == "link":
        (tmp_path / NAME).symlink_to(tmp_path / "elsewhere")
    elif trouble == "folder":
        (tmp_path / NAME).mkdir()
    elif trouble == "full":
        monkeypatch.setattr(os, "write", _raises(errno.ENOSPC))
    else:
        monkeypatch.setattr("engramdown.storage.disk.open_regular", _raises(errno.EROFS))
    who = Asker(Silent(None), "replay", Run(Ledger(folder), LIMITS))
    for _ in range(2):
        with pytest.raises(SpendError) as caught:
            ask(who)
        assert str(caught.value).endswith("; no model is asked while calls cannot be counted")
        assert "\n" not in str(caught.value)


def test_a_call_whose_end_cannot_be_written_down_counts_as_the_most_it_can_have_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(Ledger(tmp_path), LIMITS)

    class Filling(Parrot):
        def ask(self, schema: type[T], system: str, user: str) -> T:
            monkeypatch.setattr(os, "write", _raises(errno.ENOSPC))
            return super().ask(schema, system, user)

    with pytest.raises(SpendError, match="No space left"):
        ask(Asker(Filling(Said(text="hello")), "replay", run))
    monkeypatch.undo()
    assert [call.outcome for call in Ledger(tmp_path).known().calls] == ["asked"]


def _raises(number: int) -> Any:  # noqa: ANN401 - takes the place of any function
    def fail(*_: object) -> object:
        raise OSError(number, os.strerror(number))

    return fail


def ask_often(folder: Path, start: Any, allowed: Any) -> None:  # noqa: ANN401 - of multiprocessing
    """Ask until a limit forbids it; say how often it did not."""
    who = Asker(
        Parrot(Said(text="a")), "replay", Run(Ledger(folder), LIMITS._replace(calls_per_run=99))
    )
    start.wait()
    for _ in range(9):
        with contextlib.suppress(SpendError):
            ask(who)
            allowed.put(1)


@pytest.mark.slow
def test_processes_that_ask_at_once_pass_no_limit_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, allowed = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=ask_often, args=(tmp_path, start, allowed)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sum(allowed.get(timeout=9) for _ in range(9)) == 9
    assert allowed.empty()
    known = Ledger(tmp_path).known()
    assert (len(known.calls), known.torn) == (27, 0)
    assert [call.outcome for call in known.calls].count("ok") == 9


def test_a_torn_or_foreign_line_neither_stops_nor_frees_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"ts":"20\n\xff\xfe\n[]\n{"in":1e9}\n' + b"x" * 99)
    run = Run(Ledger(tmp_path), LIMITS)
    for _ in range(3):
        ask(Asker(Parrot(Said(text="a")), "replay", run))
    with pytest.raises(SpendError, match="calls_per_run is 3"):
        ask(Asker(Parrot(Said(text="a")), "replay", run))
    assert Ledger(tmp_path).known().torn == 5
