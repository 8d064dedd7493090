"""How the lines of a transcript look to a person.

Promises: pure; what is shown cut says how much is left and how to see it; every episode shows its
number, so that it can be pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from engramdown.cli import log_messages as said
from engramdown.cli.layout import Line, clock, line, table
from engramdown.clock import local
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.tool_calls import paired

if TYPE_CHECKING:
    # Only named here: who shows a session needs nothing of recall, and the other way round.
    from engramdown.recall.episodes import Hit
    from engramdown.transcripts.episode import Episode


_INDENT: Final = 2
_ANSWER: Final = 4
_STYLES: Final = {"user": "good", "assistant": "where", "event": "dim"}


class Talk:
    """Shows one episode after the other, with the date and the silence between two."""

    def __init__(self, session: str, gap_minutes: float) -> None:
        """Show ``session``; a silence of more than ``gap_minutes`` is told."""
        self._session = session
        self._gap = gap_minutes * 60
        self._before: datetime | None = None

    def lines(self, episode: Episode, *, answer: bool = False) -> Iterator[Line]:
        """Yield the lines of an episode; those of an ``answer`` stand below its call."""
        now = local(episode.at)
        if not answer:
            yield from self._silence(now)
        self._before = now if self._before is None else max(now, self._before)
        indent = _INDENT if answer else 0
        yield self._head(episode, now, indent)
        yield from self._body(episode, indent + _INDENT)

    def _silence(self, now: datetime) -> Iterator[Line]:
        before = self._before
        if before is None:
            return
        passed = (now - before).total_seconds()
        if passed > self._gap:
            yield line()
            yield line((said.silence(passed, now), "dim"))
        elif now.date() != before.date():
            yield line()
            yield line((said.day(now), "dim"))
        yield line()

    def _head(self, episode: Episode, now: datetime, indent: int) -> Line:
        facts = said.episode_facts(episode)
        style = "bad" if episode.error else "dim"
        return line(
            (f"#{episode.seq}", "id"),
            "  ",
            (said.speaker(episode), _STYLES.get(episode.role, "strong")),
            (f"  {now:%H:%M:%S}", "dim"),
            *([(f"  {'  '.join(facts)}", style)] if facts else []),
            indent=indent,
            hang=indent + _ANSWER,
        )

    def _body(self, episode: Episode, indent: int) -> Iterator[Line]:
        text = said.event_text(episode) if episode.role == "event" else episode.text
        if text:
            yield line(text.rstrip("\n"), indent=indent)
        elif episode.role in ("tool_result", "scratchpad"):
            yield line((said.EMPTY, "dim"), indent=indent)
        left = (episode.cut or 0) - len(episode.text)
        if left > 0:
            pointer = str(Pointer(self._session, episode.seq)) if episode.payload else ""
            yield line((said.cut_off(left, pointer), "dim"), indent=indent)


def talk_lines(session: str, episodes: Iterable[Episode], gap_minutes: float) -> Iterator[Line]:
    """Yield the lines of ``session``, a result below the call that it answers.

    No more of ``episodes`` is read than is shown.
    """
    talk = Talk(session, gap_minutes)
    shown = (each for each in episodes if each.event not in ("start", "end"))
    for episode, answer in paired(shown):
        yield from talk.lines(episode)
        if answer is not None:
            yield from talk.lines(answer, answer=True)
        elif episode.role == "tool_call":
            yield line((said.NO_RESULT, "dim"), indent=_INDENT)


def damage_lines(malformed: int) -> Iterator[Line]:
    """Yield what is to be said of lines that are no episodes, by their number."""
    if malformed:
        yield line()
        yield line((said.passed_over(malformed), "warn"))


def found_lines(hits: Iterable[Hit]) -> list[Line]:
    """Return one line per hit with its place, its time, who speaks and the piece that was found."""
    return [
        line(
            (str(hit.pointer), "where"),
            (f"  {clock(hit.time)}  ", "dim"),
            (said.speaks(hit.role, hit.name), _STYLES.get(hit.role, "strong")),
            "  ",
            " ".join(hit.snippet.split()),
            hang=_ANSWER,
        )
        for hit in hits
    ]


def fact_lines(facts: Iterable[tuple[str, str]]) -> Sequence[Line]:
    """Return what is known, name and value."""
    return table([fact for fact in facts if fact[1]], ("dim",))
