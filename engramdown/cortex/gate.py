"""The gate: mode and engram in, decision out.

Promises: a pure table (``docs/gate.md`` prints it); no file, no clock, no model; a reason never
holds the value of a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from engramdown.engram import Engram
from engramdown.hippocampus.entry import Entry
from engramdown.secrets.redaction import redact

__all__ = ["REASONS", "Action", "Code", "Decision", "Findings", "decide"]

Action = Literal["encode", "confirm", "discard"]
Code = Literal[
    "off",
    "turned-down",
    "erased",
    "secret",
    "contradiction",
    "instruction",
    "unsaid",
    "beside",
    "confidence",
    "retire",
]

REASONS: Final[Mapping[str, str]] = {
    "off": "memory is switched off",
    "turned-down": "you turned this down before",
    "erased": "you erased this for good",
    "secret": "holds a secret, which is not kept",
    "contradiction": "contradicts what you wrote or confirmed",
    "instruction": "came from outside and reads like an order",
    "unsaid": "what it was learned from does not say it in these words",
    "beside": "may say otherwise than you said of yourself",
    "confidence": "you want to be asked about what is not certain",
    "retire": "an assistant asks to forget it, and that is for you to say",
}
"""The words for each code, as a person reads them where the details are not known any more."""

_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done with an engram.

    Attributes:
        action: ``encode`` it, let a person ``confirm`` it, or ``discard`` it.
        reason: Why, in words for a person.
        held: For ``confirm``: whether it waits in ``pending.md`` without anybody being asked.
        code: Why, in one word; see :data:`REASONS`.
    """

    action: Action
    reason: str
    held: bool = False
    code: Code = "confidence"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known about an engram besides what it says itself; ``""`` is nothing.

    Attributes:
        secret: The kinds of secrets that its text holds.
        tombstone: The words of the same memory that a person turned down before.
        erased: Whether a person erased it for good.
        contradicts: The memory of a person's that it contradicts.
        replaces: The fact of a person's whose place it would take, as both have the same key.
        instruction: Why it reads like an order.
        beside: The fact of a person's about themselves that it may speak of in other words.
    """

    secret: str = ""
    tombstone: str = ""
    contradicts: Entry | None = None
    instruction: str = ""
    replaces: Entry | None = None
    erased: bool = False
    beside: Entry | None = None


def decide(mode: str, engram: Engram, findings: Findings) -> Decision:
    """Return the decision for one engram.

    >>> engram = Engram("Use uv", kind="always", scope="project")
    >>> decide("copilot", engram, Findings()).action
    'confirm'
    """
    if mode == "off":
        return Decision("discard", REASONS["off"], code="off")
    if findings.tombstone and engram.source != "user":
        reason = f"{REASONS['turned-down']}: {_quoted(findings.tombstone)}"
        return Decision("discard", reason, code="turned-down")
    if findings.erased and engram.source != "user":
        return Decision("discard", REASONS["erased"], code="erased")
    alarm = _alarm(engram, findings)
    if alarm is not None:
        code, reason = alarm
        return Decision("confirm", reason, held=mode == "autopilot", code=code)
    if mode == "copilot" and engram.confidence != "high":
        return Decision("confirm", f"{engram.confidence} confidence: {REASONS['confidence']}")
    return Decision("encode", f"{engram.confidence} confidence")


def _alarm(engram: Engram, findings: Findings) -> tuple[Code, str] | None:
    """Return why a person has to look at it, whatever the mode."""
    if findings.secret:
        return "secret", f"{REASONS['secret']} ({findings.secret})"
    # What came through somebody else is not the user's own word, whatever source it claims; and
    # no word but theirs, here and now, takes away what they wrote.
    is_own_word = engram.source == "user" and not engram.via
    against = findings.replaces or (None if is_own_word else findings.contradicts)
    if against is not None:
        what = f"{_quoted(against.text)} ({against.id})"
        return "contradiction", f"{REASONS['contradiction']}: {what}"
    if findings.instruction and engram.via in ("tool", "web"):
        return "instruction", f"{REASONS['instruction']}: {findings.instruction}"
    if engram.unsaid:
        return "unsaid", REASONS["unsaid"]
    if findings.beside and not is_own_word:
        what = f"{_quoted(findings.beside.text)} ({findings.beside.id})"
        return "beside", f"{REASONS['beside']}: {what}"
    return None


def _quoted(text: str) -> str:
    """Return the words of a memory for a reason: on one line, not endless, without its secrets."""
    words = redact(text)
    return repr(words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…")
