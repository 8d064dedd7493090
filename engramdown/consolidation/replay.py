"""Replay: asking a model what a session or a turn teaches, and what is made of its answer.

Nothing is written here. Whether it is worth it is decided without a model; a model sees one line
of each action, as data and without its secrets. A memory is one line, no longer than allowed,
inferred, at most of medium confidence, and points at the lines it came from; one that names what
was not shown is refused. It counts as said through a tool, because words of tools stood in what the
model read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from engramdown.consolidation.actions import Cell, Line, cells_of, last_line
from engramdown.consolidation.information_loss import unsaid
from engramdown.consolidation.prompts import OURS, render
from engramdown.engram import Confidence, Engram, Kind, Scope, fold, pointers
from engramdown.errors import InvalidEngramError, SpendError, UnusableAnswerError
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    import pydantic

    from engramdown.consolidation.prompts import Prompt
    from engramdown.models.port import LanguageModel

T = TypeVar("T", bound="pydantic.BaseModel")

# So many memories one replay may bring.
MOST: Final = 5
# So many cells a model is shown at once.
MOST_CELLS: Final = 100
# Fewer cells than this teach nothing.
FEWEST: Final = 2
# So many cells are worth it even if all went well.
ENOUGH: Final = 5


def should_replay(cells: Sequence[Cell]) -> bool:
    """Whether a model should be asked what cells teach; decided without one.

    >>> ok, bad = Cell("s#1", "tool"), Cell("s#2", "tool", status="killed")
    >>> should_replay([ok, ok]), should_replay([ok, bad]), should_replay([bad])
    (False, True, False)
    """
    if len(cells) < FEWEST:
        return False
    return len(cells) >= ENOUGH or any(cell.status != "ok" for cell in cells)


def replay_and_extract(
    cells: Sequence[Cell], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` what cells teach. No lock may be held meanwhile.

    Args:
        cells: What was done; of more than a hundred, what went wrong and what came after it are
            shown first, and then the newest.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import Lessons

    def lessons(answer: Lessons) -> Iterable[Lesson]:
        for item in answer.items:
            yield Lesson(item.text, item.cells, item.kind, item.scope, item.confidence, item.topic)

    wrong = [cell.status != "ok" or bool(cell.corrected) for cell in cells]
    after = [False, *wrong[:-1]]
    ranked = sorted(range(len(cells)), key=lambda at: (not (wrong[at] or after[at]), -at))
    shown = [cells[at] for at in sorted(ranked[:MOST_CELLS])]
    return _ask("replay", shown, model, templates, schema=Lessons, lessons=lessons, most=MOST)


def replay_without_model(session: str, lines: Iterable[Line]) -> Learned:
    """Return what the user stated outright, and what calls teach that failed and were mended.

    Args:
        session: The id of the session, for the pointers.
        lines: Its lines, in order.
    """
    from engramdown.consolidation.error_lessons import lessons_of_fixes
    from engramdown.consolidation.statement_reader import extract

    kept = list(lines)
    told = [
        engram
        for line in kept
        if line.role == "user"
        for engram in extract(line.text, origin=f"{session}#{line.seq}")
    ]
    found: dict[str, Engram] = {}
    for engram in (*told, *lessons_of_fixes(cells_of(session, kept))):
        # What was said again, in other words of the same, is newer: the first one stays.
        found.setdefault(fold(engram.text), engram)
    return Learned(tuple(found.values()))


def _ask(
    job: str,
    cells: Sequence[Cell],
    model: LanguageModel,
    templates: Mapping[str, str],
    *,
    schema: type[T],
    lessons: Callable[[T], Iterable[Lesson]],
    most: int,
) -> Learned:
    """Show cells to a model and return the memories of its answer."""
    shown = []
    for number, cell in enumerate(cells, 1):
        # More of what failed than of what worked.
        failed = cell.status != "ok"
        told = last_line(cell.error) if failed else cell.output.strip().partition("\n")[0]
        shown.append(
            {
                "number": number,
                "tool": " ".join(dict.fromkeys(filter(None, (cell.kind, shorten(cell.name, 160))))),
                "status": cell.status,
                "said": shorten(cell.said, 160),
                "code": shorten(cell.code, 400 if failed else 160),
                "outcome": shorten(told, 300 if failed else 160),
                "correction": shorten(cell.corrected, 300),
            }
        )
    prompt = render(job, templates, cells=shown, most=most)
    origins = [pointers(cell.pointer, cell.corrected_at) for cell in cells]
    return learn_from(
        model, schema, prompt, lambda answer: memories_of(lessons(answer), origins, most)
    )


# ---- what went otherwise than expected in a turn ----

# So many lessons one turn may bring.
MOST_OF_TURN: Final = 3
# What they are filed under.
TOPIC: Final = "scratchpad"


def surprises(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that did not do what they were to do, as far as that can be told.

    >>> surprises([Cell("s#1", "tool"), Cell("s#2", "tool", status="error")])[0].pointer
    's#2'
    """
    return [cell for cell in cells if cell.status != "ok" or cell.corrected]


def lessons_of_turn(
    cells: Sequence[Cell],
    model: LanguageModel | None,
    templates: Mapping[str, str] = OURS,
) -> Learned:
    """Ask ``model`` what to do another way, if something in a turn went otherwise than it said.

    Args:
        cells: What was done in that turn.
        model: The language model, if there is one. No lock may be held while it thinks.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    found = surprises(cells)[-MOST_CELLS:]
    if model is None or not found:
        return Learned()
    from engramdown.consolidation.forms import ScratchpadLessons

    def lessons(answer: ScratchpadLessons) -> Iterable[Lesson]:
        return (Lesson(each.text, each.cells, topic=TOPIC) for each in answer.lessons)

    return _ask(
        "cerebellum",
        found,
        model,
        templates,
        schema=ScratchpadLessons,
        lessons=lessons,
        most=MOST_OF_TURN,
    )


# ---- memories of an answer ----

# How long one thing may be that was learned, in characters.
LONGEST: Final = 500

_SHOWN: Final = 60
_TOLD: Final = (
    "\n\nYou were asked this before, and nothing of your answer could be used: {why}. "
    "Answer anew, and name only numbers that stand above."
)
_WHY: Final = 300


class Learned(NamedTuple):
    """What a job learned.

    Attributes:
        engrams: What shall pass the gate.
        refusals: What a model answered that is not used, and why, in words.
    """

    engrams: tuple[Engram, ...] = ()
    refusals: tuple[str, ...] = ()


class Lesson(NamedTuple):
    """What a model says that it learned.

    Attributes:
        text: In these words.
        numbers: From what it was given under these numbers.
        kind: As such a memory.
        scope: For such a scope.
        confidence: How sure it says it is.
        topic: Filed under this.
    """

    text: str
    numbers: Sequence[int]
    kind: Kind = "lesson"
    scope: Scope = "project"
    confidence: Confidence = "medium"
    topic: str = ""


def memories_of(
    lessons: Iterable[Lesson], given: Sequence[str], most: int, texts: Sequence[str] | None = None
) -> Learned:
    """Return what becomes of a model's lessons; one that names what was not given is refused.

    Args:
        lessons: What it says.
        given: Where what it was given as 1, 2, 3, … stands.
        most: So many memories at most; the first ones.
        texts: What was given, if a memory has to be said there; else a person decides on it.
    """
    found: dict[str, Engram] = {}
    refusals: list[str] = []
    for lesson in lessons:
        engram = _engram(lesson, given, texts)
        if isinstance(engram, str):
            refusals.append(engram)
        else:
            found.setdefault(fold(engram.text), engram)
    kept = tuple(found.values())
    if len(kept) > most:
        refusals.append(f"{len(kept) - most} more were left out: {most} are enough for once")
    return Learned(kept[:most], tuple(refusals))


def shorten(text: str, longest: int) -> str:
    """Return the beginning of a text without its secrets.

    >>> shorten("abcdef", 3)
    'abc…'
    """
    # What a secret may look like is found before it is cut, and what is far away is never read.
    safe = redact(text[: 4 * longest])
    return safe if len(safe) <= longest else f"{safe[:longest].rstrip()}…"


def _engram(
    lesson: Lesson, given: Sequence[str], texts: Sequence[str] | None = None
) -> Engram | str:
    """Return the memory, or why it is none."""
    text = " ".join(lesson.text.split())
    known = {str(number) for number in range(1, len(given) + 1)}
    problem = text_problem(text) or strange_ids(map(str, lesson.numbers), known)
    if problem:
        return f"a memory is refused: {problem}"
    cited = [] if texts is None else [texts[number - 1] for number in lesson.numbers]
    is_unsaid = texts is not None and bool(unsaid(text, cited))
    try:
        return Engram(
            text,
            lesson.kind,
            lesson.scope,
            "low" if lesson.confidence == "low" or is_unsaid else "medium",
            lesson.topic,
            "consolidation",
            basis="inferred",
            origin=pointers(*(given[number - 1] for number in lesson.numbers)),
            via="tool",
            unsaid=is_unsaid,
        )
    except InvalidEngramError as error:
        return f"a memory is refused: {shorten(str(error), _SHOWN * 3)}"


def learn_from(
    model: LanguageModel, schema: type[T], prompt: Prompt, read: Callable[[T], Learned]
) -> Learned:
    """Return what is learned from a model's answer.

    If nothing of it can be used, the model is told why and asked once more.

    Args:
        model: The language model. No lock may be held while it thinks.
        schema: The form of the answer.
        prompt: What it is asked.
        read: Makes memories of an answer, and says what is refused.

    Raises:
        UnusableAnswerError: If nothing of the second answer can be used either.
        ModelError: If the model gives no answer of the form.
    """
    from engramdown.consolidation.forms import OfItems

    user = prompt.user
    why = ""
    for _ in range(2):
        try:
            answer = model.ask(schema, prompt.system, user)
        except SpendError:
            if not why:
                raise
            raise UnusableAnswerError(f"{model.name}: {why}") from None
        found = read(answer)
        wrong = answer.wrong if isinstance(answer, OfItems) else ()
        found = found._replace(refusals=(*wrong, *found.refusals))
        if found.engrams or not found.refusals:
            return found
        why = shorten("; ".join(found.refusals), _WHY)
        user = prompt.user + _TOLD.format(why=why)
    raise UnusableAnswerError(f"{model.name}: {why}")


# ---- checks of an answer ----

_SHOWN_IDS: Final = 5
_BEGINNING: Final = 40


def strange_ids(ids: Iterable[str], given: Collection[str]) -> str:
    """Return which of the ``ids`` that a model named were not ``given`` to it, or ``""``.

    >>> strange_ids(["a1", "b2"], {"a1"}), strange_ids(["a1"], {"a1"})
    ('it names b2, which it was not given', '')
    """
    from engramdown.language.untrusted import quoted

    strange = [name for name in dict.fromkeys(ids) if name not in given]
    if not strange:
        return ""
    shown = ", ".join(quoted(name[:_BEGINNING]) or '""' for name in strange[:_SHOWN_IDS])
    more = f" and {len(strange) - _SHOWN_IDS} more" if len(strange) > _SHOWN_IDS else ""
    return f"it names {shown}{more}, which it was not given"


def text_problem(text: str) -> str:
    """Return what is wrong with a text that a model gave for a memory, or ``""``.

    >>> text_problem("Use uv"), text_problem(" ")
    ('', 'its text says nothing')
    """
    from engramdown.language.characters import hidden_characters

    if not text.strip():
        return "its text says nothing"
    if len(text) > LONGEST:
        return f"its text has {len(text):,} characters; {LONGEST:,} are allowed"
    hidden = hidden_characters(text)
    # Nobody can say yes to what cannot be seen.
    return f"its text holds a hidden character ({hidden[0][1]})" if hidden else ""
