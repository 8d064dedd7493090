"""The skills that there are, as a section of what a model is shown: a line each.

Promises: the section never costs more tokens than its budget, a line never more than
:data:`SKILL`; a skill is told or not, and how many are not is said; what is told stands in the
order of the labels, so that the same skills give the same bytes. No text can pass for a line of
ours. No clock, no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.cortex.sections import Section
from engramdown.cortex.templates import renderer
from engramdown.language.untrusted import one_line
from engramdown.tokens import estimate_tokens

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
