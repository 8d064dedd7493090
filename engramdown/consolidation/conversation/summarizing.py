"""Writing a summary: by a model that is asked twice at most, or without one.

Promises: writes nothing; a text of a model that is empty, or only its reasoning, is a failure and
no summary; one that is far too long is asked for again, and then cut, which it says of itself. A
model sees what was said as data, without its secrets and no more of it than a bound, and none of
what memory brought in. A summary without a model says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.conversation.parts import Part
from engramdown.consolidation.prompts import OURS, render
from engramdown.errors import EngramdownError, ModelError
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import Form, Level

if TYPE_CHECKING:
    from engramdown.consolidation.model import LanguageModel

__all__ = ["CUT", "PROMPTS", "Request", "Written", "write_summary", "write_without_model"]

PROMPTS: Final[Mapping[Form, str]] = {"leaf": "gist", "condensed": "gist", "handoff": "handoff"}
"""The prompt for each form of summary."""
CUT: Final = "[cut here: expand it for the rest]"
"""The last line of a summary that was cut."""

# A text may be so much longer than was asked for.
_TOO_LONG: Final = 1.5
_LONGEST_PART: Final = 40_000
_PER_TOKEN: Final = 4
_REASONING: Final = re.compile(
    r"<(think|thinking|reasoning|reflection)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)


class Request(NamedTuple):
    """What is to be summarised.

    Attributes:
        form: What becomes of it.
        parts: What it is made from, in order.
        depth: How deep it will be.
        target: How many tokens it should have at most.
        previous: The summary of what came before, or ``""``.
        notes: What the assistant noted for itself, or ``""``.
    """

    form: Form
    parts: tuple[Part, ...]
    depth: int
    target: int
    previous: str = ""
    notes: str = ""


class Written(NamedTuple):
    """A summary.

    Attributes:
        text: The text.
        level: How it came about.
        model: Which model wrote it, or ``""``.
    """

    text: str
    level: Level
    model: str = ""


def write_summary(
    request: Request,
    model: LanguageModel,
    templates: Mapping[str, str] = OURS,
    count: Callable[[str], int] = estimate_tokens,
) -> Written:
    """Return a summary by a model. No lock may be held meanwhile.

    Args:
        request: What is to be summarised.
        model: The language model.
        templates: A scope's own prompts.
        count: Says what a text costs.

    Raises:
        ModelError: If the model gives no answer of the form, or an empty one.
        StoreError: If a scope's own prompt is broken.
    """
    most = request.target * _TOO_LONG
    text = ""
    for level, brief in _TRIES:
        text = _asked(request, model, templates, brief=brief)
        if count(text) <= most:
            return Written(text, level, model.name)
    return Written(cut_to(text, request.target, count), "cut", model.name)


def write_without_model(
    request: Request, count: Callable[[str], int] = estimate_tokens
) -> Written | None:
    """Return a summary of what rules find in a part of a conversation; ``None`` if they do not."""
    # Imported here: its patterns take long to compile, and few summaries are made so.
    from engramdown.consolidation.conversation.extractive import extract, hand_over

    write = hand_over if request.form == "handoff" else extract
    text = write(request.parts, request.target)
    if not text:
        return None
    return Written(cut_to(text, request.target, count), "extractive")


def cut_to(text: str, target: int, count: Callable[[str], int] = estimate_tokens) -> str:
    r"""Return as much of a text as costs ``target`` tokens, cut behind a line or a sentence.

    >>> print(cut_to("It works.\nIt is slow.\n" * 9, 20))
    It works.
    It is slow.
    It works.
    [cut here: expand it for the rest]
    """
    if count(text) <= target:
        return text
    room = max(target - count(CUT) - 1, 1)
    length = min(room * _PER_TOKEN, len(text))
    while length > 1 and count(text[:length]) > room:
        length = length * 3 // 4
    kept = text[:length]
    end = max(kept.rfind("\n"), kept.rfind(". ") + 1)
    kept = kept[:end] if end > length // 2 else kept
    return f"{kept.rstrip()}\n{CUT}"


_TRIES: Final[Sequence[tuple[Level, bool]]] = (("normal", False), ("aggressive", True))


def _asked(
    request: Request, model: LanguageModel, templates: Mapping[str, str], *, brief: bool
) -> str:
    from engramdown.consolidation.summary_form import Summary

    prompt = render(
        PROMPTS[request.form],
        templates,
        parts=_shown(request.parts),
        previous=redact(request.previous),
        notes=redact(request.notes),
        depth=request.depth,
        target=request.target,
        brief=brief,
    )
    try:
        answer = model.ask(Summary, prompt.system, prompt.user)
    except EngramdownError:
        raise
    except Exception as error:  # a model of the caller's raises whatever its client does
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{model.name}: {told}") from error
    text = redact(_REASONING.sub("", answer.text)).strip()
    if not any(map(_is_seen, text)):
        raise ModelError(f"{model.name}: gave an empty summary", "malformed")
    left_out = " ".join(redact(answer.left_out).split())
    return f"{text}\nExpand for: {left_out}" if left_out else text


def _is_seen(character: str) -> bool:
    """Whether a character says something; format characters, as of zero width, do not."""
    return not character.isspace() and unicodedata.category(character) not in ("Cf", "Cc")


def _shown(parts: Iterable[Part]) -> list[Part]:
    """Return parts as a model sees them."""
    return [part._replace(text=_middle_left_out(redact(part.text))) for part in parts]


def _middle_left_out(text: str) -> str:
    if len(text) <= _LONGEST_PART:
        return text
    half = _LONGEST_PART // 2
    return f"{text[:half]} […] {text[-half:]}"
