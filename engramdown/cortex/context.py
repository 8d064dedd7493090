"""What a model is shown of memory: sections, chosen under a budget.

Promises: a section never costs more tokens than its budget, and the whole never more than its
sections and a frame of :data:`FRAME`; an entry is shown whole or not at all, and a section says how
many it leaves out; the same memory, message, day and budgets give the same
bytes, and while everything fits, the message changes nothing. Metadata, ids and private notes do
not appear, and no text can pass for a heading or a line of ours. No clock, no file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.procedures import NONE, SKILLS, Procedures
from engramdown.cortex.procedures import section as skills_section
from engramdown.cortex.sections import MemoryContext, Section
from engramdown.cortex.templates import renderer
from engramdown.engram import CONFIDENCES, RULE_KINDS, fold
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import KIND_TABLE, SECTIONS, SOUL
from engramdown.language.untrusted import bullet, heading, paragraphs
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.episodes.earlier_sessions import EarlierSession
    from engramdown.recall.memories import MemoryIndex

__all__ = [
    "BUDGETS",
    "FRAME",
    "Memory",
    "MemoryContext",
    "Section",
    "build",
    "scratchpad_context",
    "scratchpad_section",
    "select",
    "soul_section",
]

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
        overrides: Templates of the person's own, by name; see :mod:`engramdown.cortex.templates`.

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
        sections.append(skills_section(memory.skills, allowed["skills"], words))
    if memory.earlier:
        # Imported here: without earlier sessions nothing of transcripts is loaded.
        from engramdown.cortex.retrospect import HISTORY, retrospect

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
