"""`engramdown.consolidation.model`: anything that answers can be asked, and costs what it costs."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import BaseModel

from engramdown.consolidation.asking.instructor_model import InstructorModel
from engramdown.consolidation.asking.ledger import Ledger
from engramdown.consolidation.asking.spending import Limits, Spent
from engramdown.consolidation.model import Asker, LanguageModel, MeteredModel, Run, T
from engramdown.errors import ModelError, SpendError

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
