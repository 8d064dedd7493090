"""Session cards: asking a model what a session was about.

Nothing is written here. A model sees the lines as data, without their secrets and no more of them
than a bound. Its answer is cut to the lengths of a card, one line each except for the details, and
holds no secret either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.actions import Line
from engramdown.consolidation.prompts import OURS, render
from engramdown.language.untrusted import one_line
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.models.port import LanguageModel

MOST_CHARACTERS: Final = 40_000
"""So much of a session a model is shown: its beginning and its end."""

_TITLE: Final = 60
_LINE: Final = 100
_PARAGRAPH: Final = 600
_DECISION: Final = 200
_DECISIONS: Final = 10
_TAG: Final = 30
_TAGS: Final = 7
_DETAILED: Final = 4_000
_SAID: Final = 2_000
_TOOL: Final = 200
_SPOKEN: Final = frozenset({"user", "assistant"})
_SHOWN: Final = _SPOKEN | {"tool_call", "scratchpad"}


class Description(NamedTuple):
    """What a model said of a session; what it did not say is empty.

    Attributes:
        title: What to call it, at most 60 characters.
        one_liner: What it was about, at most 100.
        paragraph: The same in some more, at most 600.
        decisions: What was decided, at most 10 of 200.
        tags: A few words under which it is looked for, at most 7 of 30.
        detailed: What happened, in some paragraphs, at most 4,000.
    """

    title: str = ""
    one_liner: str = ""
    paragraph: str = ""
    decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    detailed: str = ""


class Shown(NamedTuple):
    """A line as a prompt shows it."""

    role: str
    name: str
    text: str


def describe(
    lines: Iterable[Line], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Description:
    """Ask ``model`` what a session was about. No lock may be held meanwhile.

    Args:
        lines: What may be shown of it, in order.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import Card

    prompt = render("card", templates, lines=lines_to_show(lines))
    said = model.ask(Card, prompt.system, prompt.user)
    decisions = (_kept(each, _DECISION) for each in said.decisions)
    return Description(
        _kept(said.title, _TITLE),
        _kept(said.one_liner, _LINE),
        _kept(said.paragraph, _PARAGRAPH),
        tuple(filter(None, decisions))[:_DECISIONS],
        tuple(dict.fromkeys(filter(None, (_kept(each, _TAG) for each in said.tags))))[:_TAGS],
        _kept_lines(said.detailed, _DETAILED),
    )


def lines_to_show(lines: Iterable[Line], most: int = MOST_CHARACTERS) -> list[Shown]:
    """Return the lines that a model is shown: those of the beginning and of the end that fit.

    Args:
        lines: What may be shown, in order.
        most: How many characters they may have together.
    """
    shown = [_shown(line) for line in lines if line.role in _SHOWN and line.text.strip()]
    begin = _fitting(shown, most // 2)
    rest = shown[begin:]
    end = _fitting(rest[::-1], most - sum(len(line.text) for line in shown[:begin]))
    return [*shown[:begin], *rest[len(rest) - end :]]


def _fitting(lines: Sequence[Shown], room: int) -> int:
    """Return how many of the first lines fit."""
    for count, line in enumerate(lines):
        room -= len(line.text)
        if room < 0:
            return count
    return len(lines)


def _shown(line: Line) -> Shown:
    limit = _SAID if line.role in _SPOKEN else _TOOL
    # Hidden before it is cut: half a secret is not seen to be one.
    return Shown(line.role, redact(line.name)[:_TOOL], redact(line.text)[:limit])


def _kept(text: str, limit: int) -> str:
    """Return a model's words in one line without a secret, cut between words."""
    flat = " ".join(one_line(redact(text)).split())
    if len(flat) <= limit:
        return flat
    return (flat[: limit - 1].rpartition(" ")[0] or flat[: limit - 1]) + "…"


def _kept_lines(text: str, limit: int) -> str:
    """Return a model's words line by line, without a secret, as many lines as fit."""
    found: list[str] = []
    # Hidden as a whole: a secret may go on in the next line.
    for line in redact(text).strip().split("\n"):
        kept = _kept(line, limit)
        limit -= len(kept) + 1
        if limit < 0:
            break
        found.append(kept)
    return "\n".join(found).strip()
