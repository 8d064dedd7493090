"""The sections of what a model is shown, chosen under budgets and rendered.

A :class:`MemoryContext` is the text that a model gets, and it knows what it is made of. Nothing
here reads a file or a clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from engramdown.engram import CONFIDENCES, RULE_KINDS, fold
from engramdown.episodes.earlier_sessions import EarlierSession, shortened
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import KIND_TABLE, SECTIONS, SOUL
from engramdown.language.untrusted import bullet, heading, inert, one_line, paragraphs
from engramdown.models.templates import Render, TemplateFolder
from engramdown.models.templates import renderer as renderer_of
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.recall.memories import MemoryIndex

_DEGRADED: Final = (
    "Memory is degraded: what is said now may be missing from the transcript. Tell the user. ({})"
)
_PARTLY: Final = "Memory is degraded: a part cannot be read, and is left out. Tell the user. ({})"
_LONGEST_REASON: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section, as it is shown.

    Attributes:
        name: Its key in :data:`BUDGETS`.
        heading: Its first line.
        budget: What it may cost, in tokens.
        tokens: What it costs.
        shown: The entries that it shows, in file order. A paragraph of the soul is an entry of the
            file ``soul.md`` without an id.
        left_out: The entries that did not fit, in file order.
        text: Its words, ``""`` if the budget does not even hold its heading.
    """

    name: str
    heading: str
    budget: int
    tokens: int
    shown: tuple[Entry, ...]
    left_out: tuple[Entry, ...]
    text: str


class MemoryContext(str):
    """What a model is shown: a ``str`` that also knows its sections.

    Attributes:
        sections: The sections that have entries, in order.
        degraded: Why a model is told that memory is degraded, the last line of the text, or ``""``.
    """

    __slots__ = ("degraded", "sections")

    degraded: str
    sections: tuple[Section, ...]

    def __new__(cls, text: str = "", sections: Sequence[Section] = ()) -> Self:
        """Take the whole ``text`` and the ``sections`` that it is made of."""
        self = super().__new__(cls, text)
        self.sections = tuple(sections)
        self.degraded = ""
        return self

    def degrade(self, why: str) -> MemoryContext:
        """Return the same with ``why`` as its last line."""
        told = MemoryContext(f"{self}\n\n{why}" if self else why, self.sections)
        told.degraded = why
        return told


def degraded(trouble: str) -> str:
    """Return what a model is told of trouble with the transcripts."""
    return _DEGRADED.format(one_line(trouble)[:_LONGEST_REASON])


def left_out(trouble: str) -> str:
    """Say to a model that what it is shown of memory is not all."""
    return _PARTLY.format(one_line(trouble)[:_LONGEST_REASON])


# The skills that there are, as a section of what a model is shown: a line each.
#
# The section never costs more tokens than its budget, a line never more than
# :data:`SKILL`; a skill is told or not, and how many are not is said; what is told stands in the
# order of the labels, so that the same skills give the same bytes. No text can pass for a line of
# ours. No clock, no file.

SKILL: Final = 50
"""What the line of a skill may cost, in tokens."""
SKILLS: Final = 2_000
"""What all of them may, unless it is set."""
HEADING: Final = "## Your Skills"

_ELLIPSIS: Final = "…"


class SkillLine(NamedTuple):
    """A skill that a model is told of.

    Attributes:
        label: What it is called.
        does: What it does, and when.
        uses: How often it was read: those that are read least are left out first.
    """

    label: str
    does: str
    uses: int = 0


class Procedures(NamedTuple):
    """All skills that a model may be told of.

    Attributes:
        known: Those of the person, by label.
        built_in: The labels of those that are built in, told of only beside others.
        unread: How many of the person's there are besides, for which there is no room anyway.
    """

    known: tuple[SkillLine, ...] = ()
    built_in: tuple[str, ...] = ()
    unread: int = 0


NONE: Final = Procedures()


class Told(NamedTuple):
    """The section, and what is not in it.

    Attributes:
        text: Its words, ``""`` if there is nothing, or no room for any of it.
        left_out: How many skills it leaves out.
        tokens: What they would cost.
    """

    text: str = ""
    left_out: int = 0
    tokens: int = 0


def procedures(
    skills: Procedures, budget: int = SKILLS, overrides: Mapping[str, str] | None = None
) -> Told:
    """Return as much of the skills as fits; without one of the person's own, nothing.

    Args:
        skills: What there is.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.

    >>> print(procedures(Procedures((SkillLine("charts", "Make charts"),))).text[-21:])
    - charts: Make charts
    """
    if not skills.known:
        return Told()
    lines = [line_of(skill) for skill in skills.known]
    render = renderer(overrides or {})

    def words(shown: Sequence[int]) -> str:
        values = {
            "heading": HEADING,
            "lines": [lines[at] for at in shown],
            "built_in": ", ".join(map(one_line, skills.built_in)),
            "left_out": len(lines) + skills.unread - len(shown),
        }
        return render("skills.j2", values)

    everything = range(len(lines))
    text = words(everything)
    if estimate_tokens(text) <= budget:
        return Told(text)
    base = estimate_tokens(words(()))
    room = budget - base
    while room > 0:
        shown = _chosen(skills.known, lines, room)
        text = words(shown)
        tokens = estimate_tokens(text)
        if tokens <= budget:
            return _told(text, shown, lines, skills.unread)
        # A template of the person's own says more with each skill than ours: take fewer.
        room = min(room * (budget - base) // (tokens - base), room * 3 // 4)
    return _told(words(()) if base <= budget else "", (), lines, skills.unread)


def section(
    skills: Procedures, budget: int = SKILLS, overrides: Mapping[str, str] | None = None
) -> Section:
    """Return the same as a section of the memory context."""
    text = procedures(skills, budget, overrides).text
    return Section(
        name="skills",
        heading=HEADING,
        budget=budget,
        tokens=estimate_tokens(text),
        shown=(),
        left_out=(),
        text=text,
    )


def line_of(skill: SkillLine) -> str:
    """Return the line of a skill, cut at a word if it costs more than :data:`SKILL` tokens.

    >>> line_of(SkillLine("charts", "Make charts"))
    '- charts: Make charts'
    """
    line = f"- {one_line(skill.label)}: {one_line(skill.does)}"
    if estimate_tokens(line) <= SKILL:
        return line
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate_tokens(line[:middle] + _ELLIPSIS) <= SKILL
        low, high = (middle, high) if fits else (low, middle - 1)
    cut = line[:low]
    # What is written without spaces, or is one long word, is cut where it must be.
    word = cut.rfind(" ", len(cut) // 2) if not line[low].isspace() else -1
    return (cut[:word] if word > 0 else cut).rstrip() + _ELLIPSIS


def _chosen(known: Sequence[SkillLine], lines: Sequence[str], room: int) -> list[int]:
    """Return which lines to show, those first that are read most."""
    shown: list[int] = []
    for at in sorted(range(len(known)), key=lambda at: -known[at].uses):
        cost = estimate_tokens(f"{lines[at]}\n")
        if cost <= room:
            shown.append(at)
            room -= cost
    return sorted(shown)


def _told(text: str, shown: Sequence[int], lines: Sequence[str], unread: int) -> Told:
    left = [line for at, line in enumerate(lines) if at not in set(shown)]
    return Told(text, len(left) + unread, sum(estimate_tokens(f"{line}\n") for line in left))


# What a model is shown of memory: sections, chosen under a budget.
#
# A section never costs more tokens than its budget, and the whole never more than its
# sections and a frame of :data:`FRAME`; an entry is shown whole or not at all, and a section says
# how many it leaves out; the same memory, message, day and budgets give the same bytes, and while
# everything fits, the message changes nothing. Metadata, ids and private notes do not appear, and
# no text can pass for a heading or a line of ours. No clock, no file.

BUDGETS: Final[Mapping[str, int]] = {
    **{each.name: each.budget for each in SECTIONS},
    "skills": SKILLS,
    "scratchpad": 500,
}
"""What each section may cost in tokens; the order is the one in which they are shown."""

FRAME: Final = 500
"""What ``context.j2`` may add to the sections, in tokens."""

_HEADINGS: Final = {each.name: each.heading for each in SECTIONS}
_SOUL_HEADING: Final = "## Who You Are"
_LONGEST_TOKEN: Final = 4
"""Characters that a token holds at most, see :func:`estimate_tokens`."""
_SURENESS: Final = {confidence: rank for rank, confidence in enumerate(CONFIDENCES)}
# Own headings of a person come after Always and Never, whose rules they hold too.
_OWN_HEADING: Final = 2


Scores = Callable[[], Mapping[int, float]]
"""Gives how relevant entries are, by position; called only when it matters, as it costs time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Everything that may be shown, as the stores hold it now.

    Keep it as long as the stores stay the same: it keeps what was indexed to rank it.

    Attributes:
        soul: The page that says who the assistant is, as a person wrote it, or ``""``.
        profile: Facts about the user, in file order, like the rest.
        global_rules: Rules of the global scope, of all kinds.
        project_rules: Rules of the project.
        global_lessons: Lessons of the global scope.
        project_lessons: Lessons of the project.
        skills: The skills that are told of.
        earlier: Earlier sessions, newest first.
    """

    soul: str = ""
    profile: Sequence[Entry] = ()
    global_rules: Sequence[Entry] = ()
    project_rules: Sequence[Entry] = ()
    global_lessons: Sequence[Entry] = ()
    project_lessons: Sequence[Entry] = ()
    skills: Procedures = NONE
    earlier: Sequence[EarlierSession] = ()
    _indexes: dict[str, MemoryIndex] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def section(self, name: str) -> Sequence[Entry]:
        """Return the entries of the section ``name``, each paragraph of the soul as one."""
        entries: Sequence[Entry] = (
            [*_soul(self.soul), *self.profile] if name == "identity" else getattr(self, name)
        )
        return entries

    def relevance(self, name: str, message: str, today: date) -> Mapping[int, float]:
        """Return how well the entries of the section ``name`` fit ``message``, by position."""
        if not message or name == "identity":
            return {}
        # Imported here: while everything fits, nothing is ranked.
        from engramdown.recall.memories import MemoryIndex

        if name not in self._indexes:
            self._indexes[name] = MemoryIndex(self.section(name))
        return self._indexes[name].weighed(message, today)


def build(
    memory: Memory,
    message: str,
    today: date,
    budgets: Mapping[str, int] | None = None,
    overrides: Mapping[str, str] | None = None,
) -> MemoryContext:
    """Return what a model is shown of ``memory`` when it is sent ``message``.

    Args:
        memory: What there is.
        message: What *when* rules and lessons are ranked by where they do not all fit; may be "".
        today: Entries that expired before it are not shown.
        budgets: Tokens by section, where they are not those of :data:`BUDGETS`; for earlier
            sessions ``history``.
        overrides: Templates of the person's own, by name; see :mod:`engramdown.context.sections`.

    Raises:
        StoreError: A template of ``overrides`` is broken, or says too much.

    >>> rule = Entry(id="k3v9q2ht", text="Use uv", kind="always", scope="project")
    >>> print(build(Memory(project_rules=[rule]), "", date(2026, 3, 1)).sections[0].text)
    ## Your Memory — Project Rules
    <BLANKLINE>
    ### Always
    <BLANKLINE>
    - Use uv
    """
    allowed = {**BUDGETS, **(budgets or {})}
    words = overrides or {}
    sections = []
    for name in _HEADINGS:
        entries = memory.section(name)
        if live := _live(entries, today):
            scores = partial(_scores, memory, name, live, message, today)
            frame = _Frame(name, allowed[name], "section.j2", words)
            sections.append(_fit(frame, [entries[at] for at in live], scores))
    if memory.skills.known:
        sections.append(section(memory.skills, allowed["skills"], words))
    if memory.earlier:
        # Imported here: without earlier sessions nothing of transcripts is loaded.
        sections.append(retrospect(memory.earlier, allowed.get("history", HISTORY), words))
    texts = [section.text for section in sections if section.text]
    text = renderer(words)("context.j2", {"sections": texts}) if texts else ""
    _check_frame(estimate_tokens(text) - sum(section.tokens for section in sections))
    return MemoryContext(text, sections)


def soul_section(
    page: str, budget: int, overrides: Mapping[str, str] | None = None
) -> Section | None:
    """Return the page that says who the assistant is as a section of its own, if it says anything.

    Args:
        page: The page, as a person wrote it.
        budget: What it may cost, in tokens; paragraphs that do not fit are left out.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    entries = _soul(page)
    frame = _Frame("soul", budget, "section.j2", overrides or {})
    return _fit(frame, entries, dict) if entries else None


def scratchpad_context(
    entries: Sequence[Entry],
    today: date,
    budget: int = BUDGETS["scratchpad"],
    overrides: Mapping[str, str] | None = None,
) -> str:
    """Return what the description of a scratchpad tool says, ``""`` if nothing was learned.

    Args:
        entries: All there are; the *when* rules and lessons that speak of scratchpads are chosen.
        today: Entries that expired before it are not shown.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    section = scratchpad_section(entries, today, budget, overrides)
    return "" if section is None else section.text


def scratchpad_section(
    entries: Sequence[Entry],
    today: date,
    budget: int = BUDGETS["scratchpad"],
    overrides: Mapping[str, str] | None = None,
) -> Section | None:
    """Return what :func:`scratchpad_context` says, with what it shows; ``None`` for nothing."""
    about = [entries[at] for at in _live(entries, today) if _on_scratchpads(entries[at])]
    if not about:
        return None
    return _fit(_Frame("scratchpad", budget, "scratchpad.j2", overrides or {}), about, dict)


def select(entries: Sequence[Entry], budget: int, scores: Scores = dict) -> list[int]:
    """Return the positions of the entries to show as a list that costs at most ``budget`` tokens.

    What always holds comes first: pages, *always* and *never* rules, and what is pinned; what a
    person wrote before the rest of it. Then the others by their score. Between equals the surer
    comes first, then the newer, which is also the later one. An entry that does not fit is passed
    over, and those behind it still have their chance. Where not even the rules that always hold
    fit, each heading of rules keeps an equal share of the budget, as far as it has a use for it.
    """
    chosen = _Chosen(entries, budget)
    shares = _shares(entries, budget)
    # Nobody is asked for scores that nothing depends on.
    ranked: Iterable[int] = [*_ranked(entries, scores)] if shares else _ranked(entries, scores)
    for at in ranked if shares else ():
        group = _group(entries[at])
        chosen.take(at, shares[group] - chosen.spent[group])
    # What is left of the shares goes to whatever comes first.
    for at in ranked:
        if chosen.left <= 0:
            break
        chosen.take(at, chosen.left)
    return sorted(chosen.shown)


class _Chosen:
    """What is shown so far.

    Attributes:
        shown: The positions of the entries.
        left: What may still be spent, in tokens.
        spent: What each group costs.
    """

    def __init__(self, entries: Sequence[Entry], budget: int) -> None:
        self.shown: set[int] = set()
        self.left = budget
        self.spent: dict[tuple[int, str], int] = defaultdict(int)
        self._entries = entries

    def take(self, at: int, most: int) -> None:
        """Show an entry if it is not shown yet and costs at most so much, with its heading."""
        entry, most = self._entries[at], min(most, self.left)
        # So as not to measure thousands that cannot fit.
        if at in self.shown or len(entry.text) > most * _LONGEST_TOKEN:
            return
        group = _group(entry)
        cost = _cost(entry) if self.spent[group] else _cost(entry, group)
        if cost <= most:
            self.left -= cost
            self.spent[group] += cost
            self.shown.add(at)


def _cost(entry: Entry, group: tuple[int, str] | None = None) -> int:
    """Return what an entry costs, and the heading of its group where that is given."""
    cost = estimate_tokens(_line(entry) + "\n")
    return cost + estimate_tokens(f"\n### {group[1]}\n\n") if group else cost


def _shares(entries: Sequence[Entry], budget: int) -> dict[tuple[int, str], int]:
    """Return what each heading of rules may cost at least; nothing if all that is firm fits."""
    if any(entry.kind not in RULE_KINDS for entry in entries):
        return {}
    firm = [entry for entry in entries if _is_firm(entry)]
    heads = sum(estimate_tokens(f"\n### {title}\n\n") for _, title in set(map(_group, firm)))
    if sum(map(_cost, firm)) + heads <= budget:
        return {}
    groups = {_group(entry) for entry in entries}
    return dict.fromkeys(groups, budget // len(groups))


class _Group(NamedTuple):
    """Entries under one heading, as a template sees them."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where entries are to be shown."""

    name: str
    budget: int
    template: str
    overrides: Mapping[str, str]

    @property
    def heading(self) -> str:
        return _SOUL_HEADING if self.name == "soul" else _HEADINGS.get(self.name, "")

    def words(self, shown: Sequence[Entry], left_out: Sequence[Entry]) -> str:
        values = {
            "heading": self.heading,
            "groups": _groups(shown),
            "left_out": len(left_out),
            "rules_left_out": sum(KIND_TABLE[entry.kind].is_whole for entry in left_out),
        }
        return renderer(self.overrides)(self.template, values)

    def section(self, text: str, shown: Sequence[Entry], left_out: Sequence[Entry]) -> Section:
        return Section(
            name=self.name,
            heading=self.heading,
            budget=self.budget,
            tokens=estimate_tokens(text),
            shown=tuple(shown),
            left_out=tuple(left_out),
            text=text,
        )


def _fit(frame: _Frame, entries: Sequence[Entry], scores: Scores) -> Section:
    """Return the section that shows as much of ``entries`` as its budget allows."""
    if sum(len(entry.text) for entry in entries) <= frame.budget * _LONGEST_TOKEN:
        text = frame.words(entries, ())
        if estimate_tokens(text) <= frame.budget:
            return frame.section(text, entries, ())
    bare = frame.words((), entries)
    base = estimate_tokens(bare)
    room = frame.budget - base
    while room > 0:
        chosen = set(select(entries, room, scores))
        shown = [entry for at, entry in enumerate(entries) if at in chosen]
        left_out = [entry for at, entry in enumerate(entries) if at not in chosen]
        text = frame.words(shown, left_out)
        tokens = estimate_tokens(text)
        if tokens <= frame.budget:
            return frame.section(text, shown, left_out)
        # A template of the person's own says more with each entry than ours: take fewer.
        room = min(room * (frame.budget - base) // (tokens - base), room * 3 // 4)
    return frame.section(bare if base <= frame.budget else "", (), entries)


def _check_frame(tokens: int) -> None:
    """Refuse a ``context.j2`` that adds more than a frame to the sections."""
    if tokens > FRAME:
        raise StoreError(
            f"templates/context.j2: adds {tokens} tokens to the sections, {FRAME} are allowed; "
            f"say less in it, or remove it to get our words back"
        )


def _ranked(entries: Sequence[Entry], scores: Scores) -> Iterator[int]:
    """Yield all positions, in the order in which they are to be shown while there is room."""
    newest = range(len(entries) - 1, -1, -1)
    by_date = sorted(newest, key=lambda at: entries[at].ts, reverse=True)
    surest = sorted(by_date, key=lambda at: _SURENESS[entries[at].confidence])
    firm = [at for at in surest if _is_firm(entries[at])]
    pages = [at for at in range(len(entries)) if entries[at].file == SOUL]
    yield from pages
    yield from sorted(firm, key=lambda at: not entries[at].by_person)
    relevant = scores()
    rest = (at for at in surest if not _is_firm(entries[at]) and entries[at].file != SOUL)
    yield from sorted(rest, key=lambda at: -relevant.get(at, 0.0))


def _is_firm(entry: Entry) -> bool:
    return KIND_TABLE[entry.kind].is_whole or entry.pin


def _scores(
    memory: Memory, name: str, live: Sequence[int], message: str, today: date
) -> Mapping[int, float]:
    found = memory.relevance(name, message, today)
    return {place: found[at] for place, at in enumerate(live) if at in found}


def _live(entries: Sequence[Entry], today: date) -> list[int]:
    """Return the positions of the entries that still hold."""
    day = today.isoformat()
    return [at for at, entry in enumerate(entries) if not entry.expires or entry.expires >= day]


def _on_scratchpads(entry: Entry) -> bool:
    about = "scratchpad" in entry.text.casefold() or "scratchpad" in entry.topic
    return about and entry.kind in ("when", "lesson")


def _soul(page: str) -> list[Entry]:
    return [
        Entry(id="", text=text, kind="profile", scope="global", file=SOUL, line=line)
        for line, text in paragraphs(page)
    ]


def _groups(entries: Sequence[Entry]) -> list[_Group]:
    """Return the entries under their headings: Always, Never, a person's own, then When."""
    lines: dict[tuple[int, str], list[str]] = {}
    for entry in entries:
        lines.setdefault(_group(entry), []).append(_line(entry))
    groups = sorted(lines, key=lambda group: group[0])
    return [
        _Group(group[1], (*lines[group][:-1], lines[group][-1].rstrip("\n"))) for group in groups
    ]


def _group(entry: Entry) -> tuple[int, str]:
    """Return where among the groups the one of ``entry`` comes, and its title."""
    title = heading(entry.heading)
    if entry.kind not in RULE_KINDS:
        return (_OWN_HEADING, title) if entry.file != SOUL else (0, "")
    if fold(title) in ("", entry.kind):
        return KIND_TABLE[entry.kind].order, entry.kind.capitalize()
    return (_OWN_HEADING if entry.kind == "always" else KIND_TABLE[entry.kind].order), title


def _line(entry: Entry) -> str:
    # A paragraph of a page is not an item, and a blank line follows it.
    return f"{entry.text}\n" if entry.file == SOUL else bullet(entry.text)


# Earlier sessions as a section of what a model is shown.
#
# The section never costs more tokens than its budget, silences that are named included;
# the newest session is always told of, in less words where there is little room; the others are
# told whole or not at all, the newer before the older. No text can pass for a line of ours. No
# clock, no file.

HISTORY: Final = 4000
"""What the section may cost in tokens, unless it is set."""

_HEADING: Final = "## Your Memory — Earlier Sessions"


class _Told(NamedTuple):
    """A session as a template sees it."""

    gap: str
    started: str
    title: str
    text: str
    lines: tuple[str, ...]


def retrospect(
    sessions: Sequence[EarlierSession], budget: int, overrides: Mapping[str, str] | None = None
) -> Section:
    """Return the section that tells of as many sessions as its budget allows.

    Args:
        sessions: What there is, newest first.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    render = renderer(overrides or {})

    def words(shown: Sequence[EarlierSession]) -> str:
        return render("history.j2", _values(shown, len(sessions) - len(shown)))

    text = _fit_retrospect(sessions, budget, words)
    return Section(
        name="history",
        heading=_HEADING,
        budget=budget,
        tokens=estimate_tokens(text),
        shown=(),
        left_out=(),
        text=text,
    )


def _fit_retrospect(
    sessions: Sequence[EarlierSession],
    budget: int,
    words: Callable[[Sequence[EarlierSession]], str],
) -> str:
    text = words(sessions)
    if estimate_tokens(text) <= budget:
        return text
    newest: EarlierSession | None = sessions[0]
    while newest is not None:
        text = words([newest])
        if estimate_tokens(text) <= budget:
            return text if newest != sessions[0] else _more(sessions, budget, words)
        newest = shortened(newest)
    return ""


def _more(
    sessions: Sequence[EarlierSession],
    budget: int,
    words: Callable[[Sequence[EarlierSession]], str],
) -> str:
    """Return the words about as many sessions as fit; the newest does."""
    count = 1
    while estimate_tokens(words(sessions[: count + 1])) <= budget:
        count += 1
    return words(sessions[:count])


def _values(shown: Sequence[EarlierSession], left_out: int) -> dict[str, object]:
    oldest_first = list(reversed(shown))
    told = [_told_retrospect(past, first=past is oldest_first[0]) for past in oldest_first]
    return {"heading": _HEADING, "sessions": told, "left_out": left_out}


def _told_retrospect(past: EarlierSession, *, first: bool) -> _Told:
    """Return a session as it is shown; nothing that is shown comes before the ``first``."""
    return _Told(
        gap="" if first else past.gap,
        started=past.started,
        title=_safe(past.title),
        text=_safe(past.text),
        lines=tuple(_safe(f"{speaker}: {text}") for speaker, text in past.messages),
    )


def _safe(text: str) -> str:
    return " ".join(inert(text).split())


# The words that reach a model in a conversation, from templates that a person may replace.

TEMPLATES: Final = (
    "context.j2",
    "section.j2",
    "skills.j2",
    "history.j2",
    "scratchpad.j2",
    "working.j2",
    "aside.j2",
)
"""The templates: the whole context, one section of it, those of skills and earlier sessions, what a
scratchpad tool is told, what comes before a conversation, and what stands behind it."""

_TEMPLATES: Final = TemplateFolder("engramdown.context", "templates")


def renderer(overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        overrides: Sources by name, see :data:`TEMPLATES`.

    Raises:
        StoreError: When rendering, if a template is none, fails, or asks for an unknown value.

    >>> renderer({"section.j2": "# {{ heading }}"})("section.j2", {"heading": "Mine"})
    '# Mine'
    """
    return renderer_of(_TEMPLATES, overrides)
