"""The gate: mode and engram in, decision out.

It is a pure table, printed in ``docs/gate.md``: no file, no clock, no model. A reason never holds
the value of a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from engramdown.engram import Engram, Kind, Scope, fold
from engramdown.forks import cached_property
from engramdown.gate.contradictions import Contradictions
from engramdown.gate.injection import find_instruction
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import scope_for
from engramdown.language.similarity import in_full
from engramdown.secrets.redaction import find_secrets, redact

if TYPE_CHECKING:
    from engramdown.language.meaning import Statements

Action = Literal["encode", "confirm", "discard"]
Code = Literal[
    "off", "turned-down", "erased", "secret", "contradiction", "instruction", "unsaid", "unsure",
    "beside",
    "confidence", "retire",
]  # fmt: skip

# The words for each code, for a person, where the details are not known any more.
REASONS: Final[Mapping[str, str]] = {
    "off": "memory is switched off",
    "turned-down": "you turned this down before",
    "erased": "you erased this for good",
    "secret": "holds a secret, which is not kept",
    "contradiction": "contradicts what you wrote or confirmed",
    "instruction": "came from outside and reads like an order",
    "unsaid": "what it was learned from does not say it in these words",
    "unsure": "may have been meant for that one time only",
    "beside": "may say otherwise than you said of yourself",
    "confidence": "you want to be asked about what is not certain",
    "retire": "an assistant asks to forget it, and that is for you to say",
}

_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about an engram.

    Attributes:
        action: ``encode`` it, let a person ``confirm`` it, or ``discard`` it.
        reason: Why, in words for a person.
        held: For ``confirm``: whether it waits in ``pending.md`` without a prompt.
        code: Why, in one word; see :data:`REASONS`.
    """

    action: Action
    reason: str
    held: bool = False
    code: Code = "confidence"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known about an engram besides its own claims; ``""`` means nothing.

    Attributes:
        secret: The kinds of secrets that its text holds.
        tombstone: The words of the same memory that a person turned down before.
        erased: Whether a person erased it for good.
        contradicts: The memory of a person that it contradicts.
        replaces: The fact of a person that it would replace, as both have the same key.
        instruction: Why it reads like an order.
        beside: The fact of a person about themselves that it may repeat in other words.
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
        code, detail = alarm
        return Decision("confirm", f"{REASONS[code]}{detail}", held=mode == "autopilot", code=code)
    if mode == "copilot" and engram.confidence != "high":
        return Decision("confirm", f"{engram.confidence} confidence: {REASONS['confidence']}")
    return Decision("encode", f"{engram.confidence} confidence")


def _alarm(engram: Engram, findings: Findings) -> tuple[Code, str] | None:
    """Return why a person has to look at it in any mode, as a code with details."""
    if findings.secret:
        return "secret", f" ({findings.secret})"
    # What came through somebody else is not the user's own word, whatever source it claims; and
    # only the user's word, here and now, may replace what they wrote.
    by_other = not is_own_word(engram)
    against = findings.replaces or (findings.contradicts if by_other else None)
    if against is not None:
        return "contradiction", f": {_quoted(against.text)} ({against.id})"
    if findings.instruction and engram.via in ("tool", "web"):
        return "instruction", f": {findings.instruction}"
    if engram.unsaid or engram.unsure:
        return "unsaid" if engram.unsaid else "unsure", ""
    if findings.beside and by_other:
        return "beside", f": {_quoted(findings.beside.text)} ({findings.beside.id})"
    return None


def _quoted(text: str) -> str:
    """Return the words of a memory for a reason: on one line, cut, without secrets."""
    words = redact(text)
    return repr(words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…")


# The evidence about an engram, collected before the gate decides.
#
# It is pure over its input, which it reads once for a whole batch; a finding never holds the value
# of a secret.


class TurnedDown:
    """The texts that a person declined, deleted or forgot.

    Attributes:
        unwanted: Each text with its kind, as *pip* under *Never* is not *pip* under *Always*.
    """

    def __init__(self, unwanted: Iterable[tuple[str, str]] = ()) -> None:
        """Use the texts of ``unwanted``."""
        self.unwanted = tuple(unwanted)
        # A person who declined a proposal with a secret saw only the redacted words.
        self._said = [in_full(redact(text), kind) for text, kind in self.unwanted]
        self._exactly = {fold(said): said for said in self._said}

    @cached_property
    def _known(self) -> Statements:
        # Imported where two texts are compared: what only lists memory need not know how.
        from engramdown.language.meaning import Statements

        return Statements(self._said)

    def matching(self, engram: Engram) -> str:
        """Return the text that ``engram`` says again, redacted and in full, or ``""``."""
        words = in_full(redact(engram.text), engram.kind)
        if said := self._exactly.get(fold(words)):
            return said
        return next((self._said[at] for at in self._known.said_again(words)), "")


class Evidence:
    """The memories, read once for a batch of engrams."""

    def __init__(
        self,
        entries: Mapping[Scope, Sequence[Entry]],
        turned_down: TurnedDown | None = None,
        erased: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Use what was read.

        Args:
            entries: The memories of each scope.
            turned_down: The texts that a person did not want, in either scope.
            erased: Whether a person erased a text for good.
        """
        self._entries = entries
        self._turned_down = turned_down or TurnedDown()
        self._erased = erased
        self._settled = {scope: Contradictions(found) for scope, found in entries.items()}

    def findings(self, engram: Engram, *, by_person: bool = False) -> Findings:
        """Return what is known about ``engram``; a user's word may be said again after a tombstone.

        Args:
            engram: The engram.
            by_person: Whether the user says it here and now, so that it may replace their facts.
        """
        kinds = sorted({secret.kind for secret in find_secrets(_all_text(engram))})
        # A person who deleted a lesson but kept the rule of the same words wants the rule.
        is_known, own = self.is_known(engram), is_own_word(engram)
        stands = engram.source == "user" or is_known
        return Findings(
            secret=", ".join(kinds),
            tombstone="" if stands else self._turned_down.matching(engram),
            contradicts=None if own else self._first(engram, Contradictions.find),
            instruction=find_instruction(engram.text) if engram.via in ("tool", "web") else "",
            replaces=None if by_person and own else self._first(engram, Contradictions.replaced),
            beside=None if own or is_known else self._first(engram, Contradictions.beside),
            erased=not stands and self._erased(engram.text),
        )

    def is_known(self, engram: Engram) -> bool:
        """Whether its scope already has the same memory, so that nobody needs to be asked."""
        return (scope_of(engram), engram.kind, fold(engram.text)) in self._known

    def replaced_by(self, engram: Engram, found: Findings) -> str:
        """Return the id of the memory of its scope that ``engram`` would replace, or ``""``."""
        against = found.replaces or found.contradicts
        if against is None:
            return ""
        own = self._entries.get(scope_of(engram), ())
        return against.id if any(entry.id == against.id for entry in own) else ""

    @cached_property
    def _known(self) -> set[tuple[str, str, str]]:
        # A memory that is only under a topic is not loaded, so it does not count as known.
        return {
            (scope, entry.kind, entry.fold)
            for scope, found in self._entries.items()
            for entry in found
            if not entry.file.startswith("topics/")
        }

    def _first(
        self, engram: Engram, look: Callable[[Contradictions, Engram], Entry | None]
    ) -> Entry | None:
        """Return the first match, from its own scope if there is one, as that can be replaced."""
        own = scope_of(engram)
        settled = (self._settled[it] for it in sorted(self._settled, key=lambda it: it != own))
        return next((entry for each in settled if (entry := look(each, engram))), None)


def scope_of(engram: Engram) -> Scope:
    """Return the scope that keeps an engram: a fact about the user is global."""
    return scope_for(engram.kind, engram.scope)


def is_own_word(engram: Engram) -> bool:
    """Whether the user says it directly, and nobody passes it on for them."""
    return engram.source == "user" and not engram.via


def holds_secret(engram: Engram) -> bool:
    """Whether any text of the engram holds a secret."""
    return bool(find_secrets(_all_text(engram)))


def without_secrets(engram: Engram) -> Engram:
    """Return the engram without its secrets."""
    if not holds_secret(engram):
        return engram
    hidden = replace(engram, text=redact(engram.text))
    return hidden if not holds_secret(hidden) else replace(hidden, topic="", origin="", cites="")


def drop_unverified_claims(engram: Engram) -> Engram:
    """Return the engram without a claim of its own that a person confirmed it."""
    claims = engram.basis == "verified" and not is_own_word(engram)
    return replace(engram, basis="") if claims else engram


def _all_text(engram: Engram) -> str:
    return f"{engram.text}\n{engram.topic}\n{engram.origin}\n{engram.cites}"


def kind_of(text: str) -> Kind:
    """Return the kind that the words of ``text`` say: a rule, a fact about the user, or a lesson.

    >>> kind_of("Always run the linter"), kind_of("My name is Ada"), kind_of("CI takes 9 minutes")
    ('always', 'profile', 'lesson')
    """
    # Imported here: the words of sentences take a while to read, and few commands need them.
    from engramdown.consolidation.sentences import kind_of as kind_in

    return kind_in(text)


def reworded(text: str, kind: Kind) -> str:
    """Return what a person hands over to be remembered, as it reads where its kind stands.

    >>> reworded("Avoid passive voice", "never"), reworded("CI takes 9 minutes", "lesson")
    ('Passive voice', 'CI takes 9 minutes')
    """
    from engramdown.consolidation.sentences import reworded as reworded_in

    return reworded_in(text, kind)
