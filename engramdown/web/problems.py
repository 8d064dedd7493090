"""Errors as problem details (RFC 9457): what went wrong, in which field, and the next step.

Every answer that is not a success is one of the kinds below. The type of a problem is
``urn:engramdown:problem:`` and its kind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from engramdown.errors import (
    AmbiguousIdError,
    ChangedError,
    EngramdownError,
    GitError,
    LockTimeoutError,
    MidTurnError,
    ModelError,
    SettingsError,
    SkillExistsError,
    SkillRefusedError,
    SpendError,
    UndoRefusedError,
)
from engramdown.secrets import redact

MEDIA_TYPE: Final = "application/problem+json"
_URN: Final = "urn:engramdown:problem:"
# Each kind of problem: its status and its title.
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "ambiguous": (300, "Several ids begin so"),
    "malformed": (400, "The request cannot be read"),
    "no-key": (401, "A key is needed"),
    "not-yours": (403, "Only a person may do this"),
    "foreign": (403, "The request comes from another page"),
    "not-found": (404, "There is none"),
    "no-such-method": (405, "The address does not take this method"),
    "slow": (408, "The request took too long"),
    "refused": (409, "Memory does not allow it now"),
    "mid-turn": (409, "A turn is running"),
    "changed": (412, "It was changed meanwhile"),
    "too-large": (413, "The request is too large"),
    "not-json": (415, "The body must be JSON"),
    "misdirected": (421, "The request names another server"),
    "invalid": (422, "A value is not allowed"),
    "unconditional": (428, "Say which version you change"),
    "spend": (429, "A limit of spending is reached"),
    "failed": (500, "The server made a mistake"),
    "model": (502, "The language model gave no answer of use"),
    "store": (503, "Memory could not be read or written"),
    "busy": (503, "The server is busy"),
    "settings": (503, "A setting is wrong"),
}
# What each error of ours is; the first that fits counts.
_ERRORS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (SettingsError, "settings"),
    (AmbiguousIdError, "ambiguous"),
    (MidTurnError, "mid-turn"),
    (SkillRefusedError, "invalid"),
    (SpendError, "spend"),
    (ModelError, "model"),
    (GitError, "not-found"),
    (ChangedError, "changed"),
    (LockTimeoutError, "busy"),
    (SkillExistsError, "refused"),
    (UndoRefusedError, "refused"),
    (LookupError, "not-found"),
    (ValueError, "invalid"),
    (EngramdownError, "store"),
    (OSError, "store"),
)


class ProblemError(Exception):
    """An answer that is a problem.

    Attributes:
        status: The status of the answer.
        data: The problem, as JSON.
        headers: Headers of the answer.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        field: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **more: object,
    ) -> None:
        """Say what is wrong.

        Args:
            kind: One of :data:`KINDS`.
            detail: What is wrong with this request, and the next step.
            field: The field, parameter or header that is wrong.
            headers: Headers of the answer.
            more: Further members of the problem, such as ``base``, ``theirs`` and ``yours``.
        """
        super().__init__(detail)
        self.status, title = KINDS[kind]
        named = {"field": field} if field else {}
        self.data: dict[str, Any] = {
            "type": f"{_URN}{kind}",
            "title": title,
            "status": self.status,
            "detail": redact(detail),
            **named,
            **more,
        }
        self.headers = dict(headers or {})

    @property
    def body(self) -> bytes:
        """The problem as bytes."""
        return encoded(self.data)


def encoded(data: object) -> bytes:
    """Return a value as JSON, as ``--json`` prints it; half of a surrogate pair is escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace")


def problem_of(error: Exception) -> ProblemError:
    """Return an error of ours, of the system or of validation as a problem."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, ValidationError):
        return invalid(error)
    kind = next((kind for known, kind in _ERRORS if isinstance(error, known)), "failed")
    if isinstance(error, AmbiguousIdError):
        return ProblemError(kind, str(error), matches=list(error.matches))
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return ProblemError(kind, f"{place}{error.strerror or error}")
    if kind == "failed":
        what = type(error).__name__
        return ProblemError(kind, f"{what}; the terminal of `engramdown serve` says more")
    retry = {"Retry-After": "1"} if kind == "busy" else {}
    return ProblemError(kind, str(error), getattr(error, "field", ""), headers=retry)


def invalid(error: ValidationError) -> ProblemError:
    """Return what is wrong with the fields of a request."""
    wrong = [
        {"field": ".".join(map(str, each["loc"])), "detail": each["msg"]}
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = wrong[0]
    if error.errors()[0]["type"] == "json_invalid":
        return ProblemError("malformed", f"the body is not JSON: {first['detail']}")
    named = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
    return ProblemError("invalid", named, first["field"], errors=wrong)
