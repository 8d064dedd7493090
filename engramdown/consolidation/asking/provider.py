"""Calls of a provider, through instructor.

Promises: what goes wrong is a :class:`Refusal` and no exception of somebody else's; a call ends
in time, however slowly its answer drips, and its connection is closed then. Of what is asked or
answered nothing is logged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engramdown.consolidation.asking.clients import client_of, is_openai, missing
from engramdown.consolidation.asking.outcomes import Answer, Refusal, refused, usage_of

if TYPE_CHECKING:
    import pydantic

__all__ = ["Provider"]

# Instructor quotes keys and answers in its logs, the others whole requests and addresses.
_LOUD: Final = ("instructor", "openai", "anthropic", "httpx", "httpcore")

T = TypeVar("T")

_ours: ContextVar[bool] = ContextVar("ours", default=False)


class _Quiet(logging.Filter):
    """Drops what is logged of our calls."""

    def filter(self, _record: logging.LogRecord) -> bool:
        """Let pass what is not about a call of ours."""
        return not _ours.get()


_QUIET: Final = _Quiet()


class Provider:
    """A model of a provider, as one thread reaches it for one question."""

    def __init__(self, name: str, base_url: str, timeout: float) -> None:
        """Name a model, where it is if not at its provider, and how long it may take."""
        self._name = name
        self._base_url = base_url
        self._timeout = timeout
        self._client: Any = None
        self._heard = False

    def open(self) -> Refusal | None:
        """Make a client, unless there is one; return why there can be none."""
        if self._client is not None:
            return None
        given = (self._name, self._base_url, self._timeout, self._hear)
        made = _outcome_of(lambda: client_of(*given))
        if isinstance(made, ImportError):
            return Refusal("missing_sdk", missing(self._name, made), worked=False)
        if isinstance(made, BaseException):
            return self._no_key(made) or _unopened(made)
        self._client = made
        return None

    def call(
        self, schema: type[pydantic.BaseModel], system: str, user: str, max_tokens: int
    ) -> Answer | Refusal:
        """Ask once; the provider must be open."""
        client = self._client
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        ceiling = "max_completion_tokens" if is_openai(self._name, client) else "max_tokens"

        from engramdown.consolidation.lessons_form import carry_refusals

        def ask() -> Answer:
            value = client.create(
                response_model=schema,
                messages=messages,
                max_retries=0,
                strict=False,
                **{ceiling: max_tokens},
            )
            usage = usage_of(getattr(value, "_raw_response", None))
            # Instructor answers in a class of its own below the schema, which equals no other.
            answer = schema.model_validate(value.model_dump(by_alias=True))
            return Answer(carry_refusals(answer, value), *usage)

        self._heard = False
        answer = _outcome_of(ask, self._timeout)
        if isinstance(answer, TimeoutError):
            self.close()
            return Refusal("timeout")
        if isinstance(answer, BaseException):
            return self._no_key(answer.__cause__) or refused(answer, schema, answered=self._heard)
        return answer

    def close(self) -> None:
        """Close the connections, also of a call that nobody waits for any more."""
        close = getattr(getattr(self._client, "client", None), "close", None)
        self._client = None
        if close is not None:
            close()

    def _hear(self) -> None:
        self._heard = True

    def _no_key(self, error: BaseException | None) -> Refusal | None:
        """Return what an error means that asks for a key: one client raises it early, one late."""
        if "api_key" not in str(error).lower():
            return None
        reason = f"there is no key; set {self._name.partition('/')[0].upper()}_API_KEY"
        return Refusal("unauthorized", reason, worked=False)


def _unopened(error: BaseException) -> Refusal:
    """Return why a client could not be made: a missing package, or an unknown provider."""
    said = str(error)
    outcome = "missing_sdk" if "package is required" in said else "failed"
    return Refusal(outcome, said, worked=False)


def _quietly(work: Callable[[], T]) -> T:
    """Return what ``work`` gives, while nothing of it is logged."""
    import instructor

    token = _ours.set(True)
    try:
        _ = instructor.from_provider  # its modules, and so its loggers, are there after this
        for name in list(logging.Logger.manager.loggerDict):
            if name.startswith(_LOUD):
                logging.getLogger(name).addFilter(_QUIET)
        return work()
    finally:
        _ours.reset(token)


def _outcome_of(work: Callable[[], T], seconds: float | None = None) -> T | BaseException:
    """Return what ``work`` gives in another thread, or what it raises: a package may anything.

    After so many ``seconds`` nothing waits for it, and a ``TimeoutError`` is returned.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(_quietly(work))
        except BaseException as error:  # noqa: BLE001 - it is handed to who waits for the result
            future.set_exception(error)

    # A daemon, so that a program can end while an answer still drips.
    threading.Thread(target=run, name="engramdown-model", daemon=True).start()
    try:
        return future.exception(seconds) or future.result()
    except TimeoutError as late:
        return late
