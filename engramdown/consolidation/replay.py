"""Replay: asks a model what a session or a turn teaches, and makes memories of its answer.

Nothing is written here. Whether asking is worth it is decided without a model. The model sees one
line of each action, as data and without secrets. A memory is one line of limited length, inferred,
of medium confidence at most, and points at the lines it came from; one that names a line that was
not shown is refused. It counts as said through a tool, because the model read words of tools.
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

    from engramdown.consolidation.corrections import TakenBack
    from engramdown.consolidation.prompts import Prompt
    from engramdown.models.port import LanguageModel

T = TypeVar("T", bound="pydantic.BaseModel")

# How many memories one replay may yield.
MOST: Final = 5
# How many cells a model is shown at once.
MOST_CELLS: Final = 100
# Fewer cells than this teach nothing.
FEWEST: Final = 2
# This many cells are worth a replay even if all went well.
ENOUGH: Final = 5


def should_replay(cells: Sequence[Cell]) -> bool:
    """Whether to ask a model what cells teach.

    >>> ok, bad = Cell("s#1", "tool"), Cell("s#2", "tool", status="killed")
    >>> should_replay([ok, ok]), should_replay([ok, bad]), should_replay([bad])
    (False, True, False)
    """
    if len(cells) < FEWEST:
        return False
    return len(cells) >= ENOUGH or any(cell.status != "ok" for cell in cells)


def replay_and_extract(
    cells: Sequence[Cell], model: LanguageModel | None, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` what cells teach. No lock may be held meanwhile.

    Args:
        cells: The actions; of more than a hundred, those that went wrong and those after them are
            shown, and then the newest.
        model: The language model, if there is one.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model's answer has another form.
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
    """Return the user's statements, and lessons from calls that failed and were fixed.

    Args:
        session: The id of the session, for the pointers.
        lines: Its lines, in order.
    """
    from engramdown.consolidation.corrections import read_messages
    from engramdown.consolidation.error_lessons import lessons_of_fixes

    kept = list(lines)
    before = ["", *(it.text if it.role == "assistant" else "" for it in kept)]
    stated = read_messages(
        (it.text, f"{session}#{it.seq}", said)
        for it, said in zip(kept, before, strict=False)
        if it.role == "user"
    )
    found: dict[str, Engram] = {}
    for engram in (*stated.engrams, *lessons_of_fixes(cells_of(session, kept))):
        found.setdefault(fold(engram.text), engram)
    return Learned(tuple(found.values()), taken_back=stated.taken_back)


def _ask(
    job: str,
    cells: Sequence[Cell],
    model: LanguageModel | None,
    templates: Mapping[str, str],
    *,
    schema: type[T],
    lessons: Callable[[T], Iterable[Lesson]],
    most: int,
) -> Learned:
    """Show cells to a model and return the memories of its answer."""
    if model is None:
        return Learned()
    shown = []
    for number, cell in enumerate(cells, 1):
        # A failure is shown in more detail.
        failed = cell.status != "ok"
        outcome = last_line(cell.error) if failed else cell.output.strip().partition("\n")[0]
        shown.append(
            {
                "number": number,
                "tool": " ".join(dict.fromkeys(filter(None, (cell.kind, shorten(cell.name, 160))))),
                "status": cell.status,
                "said": shorten(cell.said, 160),
                "code": shorten(cell.code, 400 if failed else 160),
                "outcome": shorten(outcome, 300 if failed else 160),
                "correction": shorten(cell.corrected, 300),
            }
        )
    prompt = render(job, templates, cells=shown, most=most)
    origins = [pointers(cell.pointer, cell.corrected_at) for cell in cells]
    return learn_from(
        model, schema, prompt, lambda answer: memories_of(lessons(answer), origins, most)
    )


# ---- surprises in a turn ----

# How many lessons one turn may yield.
MOST_OF_TURN: Final = 3
# Their topic.
TOPIC: Final = "scratchpad"


def surprises(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that failed or that the user objected to.

    >>> surprises([Cell("s#1", "tool"), Cell("s#2", "tool", status="error")])[0].pointer
    's#2'
    """
    return [cell for cell in cells if cell.status != "ok" or cell.corrected]


def lessons_of_turn(
    cells: Sequence[Cell], model: LanguageModel | None, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` what to do another way, if a turn had surprises.

    Args:
        cells: The actions of that turn.
        model: The language model, if there is one. No lock may be held while it thinks.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model's answer has another form.
        StoreError: If a scope's own prompt is broken.
    """
    shown = surprises(cells)[-MOST_CELLS:]
    if not shown:
        return Learned()
    from engramdown.consolidation.forms import ScratchpadLessons as Schema

    def lessons(answer: Schema) -> Iterable[Lesson]:
        return (Lesson(each.text, each.cells, topic=TOPIC) for each in answer.lessons)

    name, most = "cerebellum", MOST_OF_TURN
    return _ask(name, shown, model, templates, schema=Schema, lessons=lessons, most=most)


# ---- memories of an answer ----

# The greatest length of a memory, in characters.
LONGEST: Final = 500

_SHOWN: Final = 60
_AGAIN: Final = (
    "\n\nYou were asked this before, and nothing of your answer could be used: {why}. "
    "Answer anew, and name only numbers that stand above."
)
_WHY: Final = 300


class Learned(NamedTuple):
    """What a job learned.

    Attributes:
        engrams: What to pass to the gate.
        refusals: Answers of a model that are not used, and why.
        taken_back: What the user took back of what they had said before.
    """

    engrams: tuple[Engram, ...] = ()
    refusals: tuple[str, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()


class Lesson(NamedTuple):
    """A lesson in a model's answer.

    Attributes:
        text: Its words.
        numbers: The numbers of the items that it comes from.
        kind: The kind of memory.
        scope: Its scope.
        confidence: How sure the model says it is.
        topic: Its topic.
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
    """Return the memories of a model's lessons; one that names an unknown number is refused.

    Args:
        lessons: The lessons.
        given: The pointers of the items that the model was given as 1, 2, 3, …
        most: The greatest number of memories; the first ones stay.
        texts: The texts of these items, if a memory has to be said there; one that is not waits for
            a person.
    """
    engrams: dict[str, Engram] = {}
    refusals: list[str] = []
    for lesson in lessons:
        engram = _engram(lesson, given, texts)
        if isinstance(engram, str):
            refusals.append(engram)
        else:
            engrams.setdefault(fold(engram.text), engram)
    unique = tuple(engrams.values())
    if len(unique) > most:
        refusals.append(f"{len(unique) - most} more were left out: {most} are enough for once")
    return Learned(unique[:most], tuple(refusals))


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
    """Return the memory of a lesson, or why it is refused."""
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
    """Return the memories of a model's answer.

    If nothing of the answer can be used, the model gets the reason and is asked once more.

    Args:
        model: The language model. No lock may be held while it thinks.
        schema: The form of the answer.
        prompt: The prompt.
        read: Returns the memories of an answer, and what is refused.

    Raises:
        UnusableAnswerError: If nothing of the second answer can be used either.
        ModelError: If the model's answer has another form.
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
        learned = read(answer)
        wrong = answer.wrong if isinstance(answer, OfItems) else ()
        learned = learned._replace(refusals=(*wrong, *learned.refusals))
        if learned.engrams or not learned.refusals:
            return learned
        why = shorten("; ".join(learned.refusals), _WHY)
        user = prompt.user + _AGAIN.format(why=why)
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
    """Return what is wrong with a model's text for a memory, or ``""``.

    >>> text_problem("Use uv"), text_problem(" ")
    ('', 'its text says nothing')
    """
    from engramdown.language.characters import hidden_characters

    if not text.strip():
        return "its text says nothing"
    if len(text) > LONGEST:
        return f"its text has {len(text):,} characters; {LONGEST:,} are allowed"
    hidden = hidden_characters(text)
    # A person cannot approve what cannot be seen.
    return f"its text holds a hidden character ({hidden[0][1]})" if hidden else ""
