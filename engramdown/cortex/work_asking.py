"""Asking a model about one session after the other, with patience, and what a failure means.

Promises: what one round asks stays within one set of limits; between two calls there is a pause; an
answer of no use counts against its session, which is tried again later, and not for ever; a model
that is not there counts against no session and is itself asked again later; a failure never keeps
the next session from being tried, but two in a row by which a model is not there do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from engramdown.clock import moment
from engramdown.errors import ModelError, SpendError
from engramdown.gate.model_runs import Asking
from engramdown.sleep.progress import Mark, SleepState, is_ripe, next_try
from engramdown.sleep.steps import LASTING

__all__ = ["NO_MODEL", "Questions"]

T = TypeVar("T")

NO_MODEL: Final = "no model is set"


class Questions:
    """The questions of one round.

    Attributes:
        asking: The model, and what may be spent.
        model: The name of the model, or ``""``.
        why_not: Why none is asked, or not any more, or ``""``.
    """

    def __init__(
        self,
        asking: Asking,
        state: SleepState,
        rest: Callable[[], object],
        attempts: int,
        *,
        dry: bool,
    ) -> None:
        """Ask in one round.

        Args:
            asking: The model, and what may be spent.
            state: What became of earlier questions.
            rest: Pauses between two calls.
            attempts: How often a session is tried.
            dry: Whether nobody is asked and nothing written.
        """
        self.asking = asking
        self._state = state
        self._rest = rest
        self._attempts = attempts
        self._dry = dry
        self._asked = 0
        self._doubt: Mark | None = None
        self._is_there = False
        found = asking.of("model")
        self.model = "" if found is None else found.name
        self._its = Mark("model", self.model)
        self.why_not = self._resting() if self.model else NO_MODEL

    def is_due(self, mark: Mark) -> bool:
        """Whether a step is not done, may give something, and may be tried now."""
        tries = self._state.attempts(mark)
        return self._is_open(mark) and tries.times < self._attempts and is_ripe(tries, moment())

    def is_given_up(self, mark: Mark) -> bool:
        """Whether a step was tried so often that it is not tried again."""
        return self._is_open(mark) and self._state.attempts(mark).times >= self._attempts

    def pause(self) -> None:
        """Wait before the next call, if there was one."""
        if self._asked:
            self._rest()

    def ask(self, mark: Mark, act: Callable[[], T]) -> T | None:
        """Let ``act`` ask the model about the session of ``mark``.

        Returns:
            What it returns; ``None`` if a limit forbids to ask, or there is no time for it.

        Raises:
            ModelError: If there is no answer of use. What that means is written down.
        """
        self._asked += 1
        try:
            found = act()
        except SpendError as error:
            self.why_not = str(error)
            return None
        except ModelError as error:
            self._failed(mark, error)
            raise
        self._answered()
        return found

    def failed(self, mark: Mark) -> None:
        """Count a try against a session."""
        if not self._dry:
            self._state.add(mark._replace(outcome="failed"))

    def end(self) -> None:
        """End the round: if the model was there for nobody, it is taken for away."""
        if self._doubt is not None and self._is_there:
            self._answered()
        elif self._doubt is not None:
            self._is_away()

    def _is_open(self, mark: Mark) -> bool:
        seen = self._state.seen(mark)
        said = seen.outcome if seen is not None else ""
        done = self._state.done(mark.job, mark.session, mark.born).seq
        return done < mark.seq and said not in ("empty", "idle")

    def _resting(self) -> str:
        tries = self._state.attempts(self._its)
        if is_ripe(tries, moment()):
            return ""
        then = next_try(tries)[: len("2026-03-01T10:00")].replace("T", " ")
        return f"{self.model} gave no answer; it is asked again from {then} UTC on"

    def _failed(self, mark: Mark, error: ModelError) -> None:
        if error.outcome not in LASTING:
            self._answered()
            self.failed(mark)
        elif self._doubt is None:
            # Whether it is the model or this session, the next one tells.
            self._doubt = mark
        else:
            self._is_away()
            self.why_not = str(error)

    def _answered(self) -> None:
        """Take note that the model is there: who got no answer before that is tried less often."""
        doubt, self._doubt, self._is_there = self._doubt, None, True
        if doubt is not None:
            self.failed(doubt)
        if self._state.attempts(self._its).times:
            self._state.add(self._its)

    def _is_away(self) -> None:
        self._doubt = None
        self.failed(self._its)
