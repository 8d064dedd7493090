"""The sections of what a model is shown, chosen under budgets and rendered.

A :class:`MemoryContext` is the text that a model gets, and it knows what it is made of. Nothing
here reads a file or a clock. No section costs more than its budget, and what is left out of one is
counted. The same memory, message, day and budgets give the same bytes, and no text can pass for a
heading or a line of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from engramdown.engram import CONFIDENCES, RULE_KINDS, fold
from engramdown.episodes.earlier_sessions import EarlierSession, shortened
from engramdown.errors import StoreError
from engramdown.hippocampus.citations import CHANGED
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import KIND_TABLE, SECTIONS, SOUL
from engramdown.language.untrusted import bullet, heading, one_line, paragraphs
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


@dataclass(frozen=True, slots=True)
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
        recalled: The pointers to the lines of transcripts that it quotes.
    """

    name: str
    heading: str
    budget: int
    tokens: int
    shown: tuple[Entry, ...] = ()
    left_out: tuple[Entry, ...] = ()
    text: str = ""
    recalled: tuple[str, ...] = ()


class MemoryContext(str):
    """What a model is shown: a ``str`` that also knows its sections.

    Attributes:
        sections: The sections that have entries, in order.
        degraded: The last line of the text, which warns the model of trouble, or ``""``.
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
        context = MemoryContext(f"{self}\n\n{why}" if self else why, self.sections)
        context.degraded = why
        return context


def degraded(trouble: str) -> str:
    """Return the line that says to a model that transcripts are not written."""
    return _DEGRADED.format(one_line(trouble)[:_LONGEST_REASON])


def left_out(trouble: str) -> str:
    """Return the line that says to a model that it does not see all of memory."""
    return _PARTLY.format(one_line(trouble)[:_LONGEST_REASON])


class Listed(NamedTuple):
    """A part that is a list, and how much of it is left out.

    Attributes:
        text: Its words, ``""`` if there is nothing, or no room for any of it.
        left_out: How many items it leaves out.
        tokens: What they would cost.
    """

    text: str = ""
    left_out: int = 0
    tokens: int = 0


def _shrink_to_fit(
    budget: int, render: Callable[[Sequence[int]], str], choose: Callable[[int], Sequence[int]]
) -> tuple[str, Sequence[int]]:
    """Return a text within its budget, and the items that it shows.

    Args:
        budget: What it may cost, in tokens; if that does not even hold the frame, it is ``""``.
        render: Returns the text that shows some items.
        choose: Returns the items that cost at most so much.
    """
    bare = render(())
    base = estimate_tokens(bare)
    room = budget - base
    while room > 0:
        shown = choose(room)
        text = render(shown)
        tokens = estimate_tokens(text)
        if tokens <= budget:
            return text, shown
        # A template of the person's own says more with each item than ours: take fewer.
        room = min(room * (budget - base) // (tokens - base), room * 3 // 4)
    return bare if base <= budget else "", ()


# ---- skills: a line each ----

# What the line of a skill may cost, in tokens.
SKILL: Final = 50
# What all of them may, unless it is set.
SKILLS: Final = 2_000
HEADING: Final = "## Your Skills"

_ELLIPSIS: Final = "…"


class SkillLine(NamedTuple):
    """A skill as a model sees it in the list.

    Attributes:
        label: What it is called.
        does: What it does, and when.
        uses: How often it was read: those that are read least are left out first.
    """

    label: str
    does: str
    uses: int = 0


class Procedures(NamedTuple):
    """All skills that may be listed.

    Attributes:
        known: Those of the person, by label.
        built_in: The labels of built-in skills, listed only beside others.
        unread: How many more the person has, for which there is no room anyway.
    """

    known: tuple[SkillLine, ...] = ()
    built_in: tuple[str, ...] = ()
    unread: int = 0


NONE: Final = Procedures()


def procedures(
    skills: Procedures, budget: int = SKILLS, overrides: Mapping[str, str] | None = None
) -> Listed:
    """Return as many skills as fit; nothing if the person has none.

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
        return Listed()
    lines = [line_of(skill) for skill in skills.known]
    costs = [estimate_tokens(f"{line}\n") for line in lines]
    render = renderer(overrides or {})

    def words(shown: Sequence[int]) -> str:
        values = {
            "heading": HEADING,
            "lines": [lines[at] for at in shown],
            "built_in": ", ".join(map(one_line, skills.built_in)),
            "left_out": len(lines) + skills.unread - len(shown),
        }
        return render("skills.j2", values)

    def most_read(room: int) -> list[int]:
        shown = []
        for at in sorted(range(len(lines)), key=lambda at: -skills.known[at].uses):
            if costs[at] <= room:
                shown.append(at)
                room -= costs[at]
        return sorted(shown)

    text = words(range(len(lines)))
    if estimate_tokens(text) <= budget:
        return Listed(text)
    text, shown = _shrink_to_fit(budget, words, most_read)
    tokens = sum(costs) - sum(costs[at] for at in shown)
    return Listed(text, len(lines) + skills.unread - len(shown), tokens)


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


# ---- memory: entries under their headings ----

# What each section may cost in tokens; the order is the one in which they are shown.
BUDGETS: Final[Mapping[str, int]] = {
    **{each.name: each.budget for each in SECTIONS},
    "skills": SKILLS,
    "scratchpad": 500,
    "relevant": 1500,
}

# What `context.j2` may add to the sections, in tokens.
FRAME: Final = 500

_HEADINGS: Final = {**{each.name: each.heading for each in SECTIONS}, "soul": "## Who You Are"}
# Characters that a token holds at most, see `estimate_tokens`.
_LONGEST_TOKEN: Final = 4
_SURENESS: Final = {confidence: rank for rank, confidence in enumerate(CONFIDENCES)}
# Own headings of a person come after Always and Never, whose rules they hold too.
_OWN_HEADING: Final = 2

# Gives how relevant entries are, by position; called only when it matters, as it costs time.
Scores = Callable[[], Mapping[int, float]]
# Whether what an entry cites is not as it was.
Changed = Callable[[Entry], bool]
# Returns the last section, if there is one, for the others, its budget and a person's templates.
Last = Callable[[Sequence[Section], int, Mapping[str, str]], Section | None]


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
        skills: The skills that are listed.
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
            try:
                self._indexes[name] = MemoryIndex(self.section(name))
            except StoreError:  # Without SQLite, confidence and age alone decide.
                return {}
        return self._indexes[name].weighed(message, today)


def build(
    memory: Memory,
    message: str,
    today: date,
    budgets: Mapping[str, int] | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    changed: Changed = bool,
    last: Last = lambda *_: None,
) -> MemoryContext:
    """Return what a model is shown of ``memory`` when it is sent ``message``.

    Args:
        memory: What there is.
        message: What *when* rules and lessons are ranked by where they do not all fit; may be "".
        today: Entries that expired before it are not shown.
        budgets: Tokens by section, where they are not those of :data:`BUDGETS`; for earlier
            sessions ``history``.
        overrides: Templates of the person's own, by name; see :mod:`engramdown.context.sections`.
        changed: Whether what an entry cites is not as it was, which is marked.
        last: Makes the last section, which depends on the message.

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
    allowed = {"history": HISTORY, **BUDGETS, **(budgets or {})}
    words = overrides or {}
    sections = []
    for each in SECTIONS:
        entries = memory.section(each.name)
        if live := _live(entries, today):
            scores = partial(_scores, memory, each.name, live, message, today)
            shown = [entries[at] for at in live]
            sections.append(
                _fit(each.name, allowed[each.name], shown, words, scores, changed=changed)
            )
    if memory.skills.known:
        text = procedures(memory.skills, allowed["skills"], words).text
        sections.append(_section("skills", HEADING, allowed["skills"], text))
    if memory.earlier:
        sections.append(retrospect(memory.earlier, allowed["history"], words))
    if (section := last(sections, allowed["relevant"], words)) is not None:
        sections.append(section)
    texts = [section.text for section in sections if section.text]
    text = renderer(words)("context.j2", {"sections": texts}) if texts else ""
    frame = estimate_tokens(text) - sum(section.tokens for section in sections)
    if frame > FRAME:
        raise StoreError(
            f"templates/context.j2: adds {frame} tokens to the sections, {FRAME} are allowed; "
            f"say less in it, or remove it to get our words back"
        )
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
    return _fit("soul", budget, entries, overrides or {}) if entries else None


def scratchpad_section(
    entries: Sequence[Entry],
    today: date,
    budget: int = BUDGETS["scratchpad"],
    overrides: Mapping[str, str] | None = None,
    *,
    changed: Changed = bool,
) -> Section | None:
    """Return what the description of a scratchpad tool says, ``None`` if nothing was learned.

    Args:
        entries: All there are; the *when* rules and lessons that speak of scratchpads are chosen.
        today: Entries that expired before it are not shown.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.
        changed: Whether what an entry cites is not as it was, which is marked.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    wisdom = (entries[at] for at in _live(entries, today))
    about = [
        entry
        for entry in wisdom
        if entry.kind in ("when", "lesson")
        and ("scratchpad" in entry.text.casefold() or "scratchpad" in entry.topic)
    ]
    return _fit("scratchpad", budget, about, overrides or {}, changed=changed) if about else None


def select(entries: Sequence[Entry], budget: int, scores: Scores = dict) -> list[int]:
    """Return the positions of the entries to show as a list that costs at most ``budget`` tokens.

    What always holds comes first: pages, *always* and *never* rules, and what is pinned; what a
    person wrote before the rest of it. Then the others by their score. Between equals the surer
    comes first, then the newer, which is also the later one. An entry that does not fit is passed
    over, and those behind it still have their chance. Where not even the rules that always hold
    fit, each heading of rules keeps an equal share of the budget, as far as it has a use for it.
    """
    shown: set[int] = set()
    spent: dict[tuple[int, str], int] = {}
    left = budget

    def take(at: int, most: int) -> None:
        """Show an entry if it is not shown yet and costs at most so much, with its heading."""
        nonlocal left
        entry, most = entries[at], min(most, left)
        # So as not to measure thousands that cannot fit.
        if at in shown or len(entry.text) > most * _LONGEST_TOKEN:
            return
        group = _group(entry)
        cost = _cost(entry) + (0 if spent.get(group) else _heading_cost(group))
        if cost <= most:
            left -= cost
            spent[group] = spent.get(group, 0) + cost
            shown.add(at)

    share = _share(entries, budget)
    ranked = _ranked(entries, scores)
    if share is not None:
        ranked = iter(again := [*ranked])
        for at in again:
            take(at, share - spent.get(_group(entries[at]), 0))
    # What is left of the shares goes to whatever comes first. Nobody is asked for scores that
    # nothing depends on.
    for at in ranked:
        if left <= 0:
            break
        take(at, left)
    return sorted(shown)


def _share(entries: Sequence[Entry], budget: int) -> int | None:
    """Return what each heading of rules may cost at least; ``None`` if all that is firm fits."""
    if any(entry.kind not in RULE_KINDS for entry in entries):
        return None
    firm = [entry for entry in entries if _is_firm(entry)]
    if sum(map(_cost, firm)) + sum(map(_heading_cost, set(map(_group, firm)))) <= budget:
        return None
    return budget // len(set(map(_group, entries)))


def _cost(entry: Entry) -> int:
    # Whether the mark is needed is looked up only for what is shown.
    return estimate_tokens(_line(entry, is_marked=bool(entry.cites)) + "\n")


def _heading_cost(group: tuple[int, str]) -> int:
    return estimate_tokens(f"\n### {group[1]}\n\n")


def _fit(
    name: str,
    budget: int,
    entries: Sequence[Entry],
    overrides: Mapping[str, str],
    scores: Scores = dict,
    *,
    changed: Changed = bool,
) -> Section:
    """Return the section that shows as much of ``entries`` as its budget allows."""
    title = _HEADINGS.get(name, "")
    template = "scratchpad.j2" if name == "scratchpad" else "section.j2"

    def parted(shown: Sequence[int]) -> tuple[list[Entry], list[Entry]]:
        chosen = set(shown)
        left = [entry for at, entry in enumerate(entries) if at not in chosen]
        return [entries[at] for at in shown], left

    def words(shown: Sequence[int]) -> str:
        shown_entries, left = parted(shown)
        values = {
            "heading": title,
            "groups": _groups(shown_entries, changed),
            "left_out": len(left),
            "rules_left_out": sum(KIND_TABLE[entry.kind].is_whole for entry in left),
        }
        return renderer(overrides)(template, values)

    shown: Sequence[int] = range(len(entries))
    may_fit = sum(len(entry.text) for entry in entries) <= budget * _LONGEST_TOKEN
    text = words(shown) if may_fit else None
    if text is None or estimate_tokens(text) > budget:
        text, shown = _shrink_to_fit(budget, words, lambda room: select(entries, room, scores))
    shown_entries, left = parted(shown)
    tokens = estimate_tokens(text)
    return Section(name, title, budget, tokens, tuple(shown_entries), tuple(left), text)


def _section(name: str, title: str, budget: int, text: str) -> Section:
    """Return a section that shows no entries."""
    return Section(name, title, budget, estimate_tokens(text), text=text)


def _ranked(entries: Sequence[Entry], scores: Scores) -> Iterator[int]:
    """Yield all positions, in the order in which they are to be shown while there is room."""
    newest = range(len(entries) - 1, -1, -1)
    by_date = sorted(newest, key=lambda at: entries[at].ts, reverse=True)
    surest = sorted(by_date, key=lambda at: _SURENESS[entries[at].confidence])
    yield from (at for at in range(len(entries)) if entries[at].file == SOUL)
    firm = (at for at in surest if _is_firm(entries[at]))
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


def _soul(page: str) -> list[Entry]:
    return [
        Entry(id="", text=text, kind="profile", scope="global", file=SOUL, line=line)
        for line, text in paragraphs(page)
    ]


def _groups(entries: Sequence[Entry], changed: Changed) -> list[dict[str, object]]:
    """Return the entries under their headings: Always, Never, a person's own, then When."""
    lines: dict[tuple[int, str], list[str]] = {}
    for entry in entries:
        lines.setdefault(_group(entry), []).append(
            _line(entry, is_marked=bool(entry.cites) and changed(entry))
        )
    return [
        {"title": title, "lines": (*lines[order, title][:-1], lines[order, title][-1].rstrip("\n"))}
        for order, title in sorted(lines, key=lambda group: group[0])
    ]


def _group(entry: Entry) -> tuple[int, str]:
    """Return where among the groups the one of ``entry`` comes, and its title."""
    title = heading(entry.heading)
    if entry.kind not in RULE_KINDS:
        return (_OWN_HEADING, title) if entry.file != SOUL else (0, "")
    if fold(title) in ("", entry.kind):
        return KIND_TABLE[entry.kind].order, entry.kind.capitalize()
    return (_OWN_HEADING if entry.kind == "always" else KIND_TABLE[entry.kind].order), title


def _line(entry: Entry, *, is_marked: bool = False) -> str:
    # A paragraph of a page is not an item, and a blank line follows it.
    text = f"{entry.text} {CHANGED}" if is_marked else entry.text
    return f"{text}\n" if entry.file == SOUL else bullet(text)


# ---- earlier sessions ----

# What the section may cost in tokens, unless it is set.
HISTORY: Final = 4000

_HISTORY_HEADING: Final = "## Your Memory — Earlier Sessions"


def retrospect(
    sessions: Sequence[EarlierSession], budget: int, overrides: Mapping[str, str] | None = None
) -> Section:
    """Return the section with as many sessions as its budget allows.

    The newest session is always shown, in fewer words where there is little room. The others are
    shown whole or not at all, the newer before the older.

    Args:
        sessions: What there is, newest first.
        budget: What it may cost, in tokens, named silences included.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    render = renderer(overrides or {})

    def words(shown: Sequence[EarlierSession]) -> str:
        values = [
            {
                # Nothing that is shown comes before the oldest.
                "gap": "" if past is shown[-1] else past.gap,
                "started": past.started,
                "title": one_line(past.title),
                "text": one_line(past.text),
                "lines": tuple(one_line(f"{speaker}: {text}") for speaker, text in past.messages),
            }
            for past in reversed(shown)
        ]
        left = len(sessions) - len(shown)
        return render(
            "history.j2", {"heading": _HISTORY_HEADING, "sessions": values, "left_out": left}
        )

    def fits(text: str) -> bool:
        return estimate_tokens(text) <= budget

    text = words(sessions)
    if not fits(text):
        newest: EarlierSession | None = sessions[0]
        while newest is not None and not fits(text := words([newest])):
            newest, text = shortened(newest), ""
        count = 2
        while newest is sessions[0] and fits(more := words(sessions[:count])):
            text, count = more, count + 1
    return _section("history", _HISTORY_HEADING, budget, text)


# ---- the words, from templates that a person may replace ----

# The templates: the whole context, one section of it, those of skills and earlier sessions, what a
# scratchpad tool is shown, what comes before a conversation, what comes after it, and what matches
# a message.
TEMPLATES: Final = (
    *("context.j2", "section.j2", "skills.j2", "history.j2"),
    *("scratchpad.j2", "working.j2", "aside.j2", "relevant.j2"),
)

_TEMPLATES: Final = TemplateFolder("engramdown.context", "templates")


def renderer(overrides: Mapping[str, str]) -> Render:
    """Return a function that renders our templates, or those of ``overrides`` instead.

    Args:
        overrides: Sources by name, see :data:`TEMPLATES`.

    Raises:
        StoreError: When rendering, if a template is invalid, fails, or asks for an unknown value.

    >>> renderer({"section.j2": "# {{ heading }}"})("section.j2", {"heading": "Mine"})
    '# Mine'
    """
    return renderer_of(_TEMPLATES, overrides)
