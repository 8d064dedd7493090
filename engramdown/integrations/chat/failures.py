"""Why a model gave no answer, in one line for a person.

Promises: pure; whatever a client raises is told by how the call ended and by what the server says
of it, without a key, an address or an error of somebody else's program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engramdown.consolidation.asking.calls import OUTCOMES
from engramdown.errors import ModelError
from engramdown.language.untrusted import one_line

__all__ = ["TooLongError", "failure", "lacks"]

_DEEPEST: Final = 20
_SHOWN: Final = 300
_STATUS: Final = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    408: "timeout",
    429: "rate_limited",
}
_SERVER_ERRORS: Final = 500
# Which httpx raised it, and how the package wrapped it, differs from version to version.
_BY_NAME: Final = (
    (("Timeout",), "no answer in time", "timeout"),
    (("ConnectError",), "no connection to the server", "unreachable"),
    (
        ("Connect", "Protocol", "ReadError", "WriteError"),
        "the connection broke off in the middle of the answer",
        "unreachable",
    ),
)
_NOT_UNDERSTOOD: Final = (400, 404, 422, 500)
_REASONS: Final = ("message", "error", "detail")


class TooLongError(Exception):
    """A server sent more than any answer has, or for longer."""


def failure(error: BaseException) -> ModelError:
    """Return what an error of a client means."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        outcome = _STATUS.get(status, "server_error" if status >= _SERVER_ERRORS else "refused")
        return ModelError(f"the server answered {status}: {_said(error)}", outcome)
    causes = list(_causes(error))
    long = next((each for each in causes if isinstance(each, TooLongError)), None)
    if long is not None:
        return ModelError(str(long), "failed")
    names = " ".join(type(each).__name__ for each in causes)
    for words, reason, outcome in _BY_NAME:
        if any(word in names for word in words):
            return ModelError(reason, outcome)
    if getattr(error, "body", None) is not None:
        return ModelError(f"the server broke off: {_said(error)}", "server_error")
    if isinstance(error, ValueError):
        return ModelError(OUTCOMES["malformed"], "malformed")
    return ModelError(f"something went wrong ({type(error).__name__})", "failed")


def lacks(error: BaseException) -> str:
    """Return which part of a request a server does not understand: ``tools``, a count, or ``""``.

    Small models call no tools, and old servers do not count the tokens of a stream.
    """
    if getattr(error, "status_code", None) not in _NOT_UNDERSTOOD:
        return ""
    said = _said(error).lower()
    if "stream_options" in said or "include_usage" in said:
        return "stream_options"
    is_about_tools = "tool" in said or "function call" in said
    return "tools" if is_about_tools and "support" in said else ""


def _said(error: BaseException) -> str:
    """Return what a server says of an error; each has its own form for it."""
    told: object = getattr(error, "body", None)
    for _ in range(_DEEPEST):
        if not isinstance(told, dict):
            break
        told = next((told[key] for key in _REASONS if key in told), None)
    text = one_line(told) if isinstance(told, str) else ""
    # A page for a browser says nothing to a person here.
    if not text or text.startswith("<"):
        return "it gives no reason"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    found: BaseException | None = error
    for _ in range(_DEEPEST):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__
