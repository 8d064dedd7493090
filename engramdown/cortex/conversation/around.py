"""What stands around a conversation: who the assistant is, what is remembered, what was looked up.

Promises: reads only. As long as memory is the same, so are the parts that come before the
conversation; earlier sessions and the journal are as they were when this process was first asked
for the session. Where there is little room, what always holds gets it first. What cannot be read of
skills, the journal, notes or other conversations is left out and told, and is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from engramdown.clock import today
from engramdown.context.builder import ContextBuilder, Day, RunningSession, Settled
from engramdown.context.sections import (
    HISTORY,
    SKILLS,
    Procedures,
    Section,
    Told,
    build,
    degraded,
    procedures,
    renderer,
    retrospect,
    soul_section,
)
from engramdown.conversation.rendering import Dropped
from engramdown.cortex.conversation.fitting import allotted
from engramdown.cortex.conversation.preface import (
    JOURNAL,
    NOTES,
    SOUL,
    Listed,
    journal,
    noted,
)
from engramdown.cortex.conversation.relevant import MOST, Looking, Relevant, look_up
from engramdown.errors import EngramdownError
from engramdown.tokens import estimate_tokens

__all__ = ["Around", "Parts"]

T = TypeVar("T")

_Failure = (EngramdownError, OSError)
_NO_ROOM: Final = "no room for it"
# Where it is tight, what comes first gets room.
_ORDER: Final = (
    *("global_rules", "project_rules", "identity", "soul", "global_lessons", "project_lessons"),
    *("notes", "skills", "history", "journal", "relevant"),
)


class Parts(NamedTuple):
    """The parts around a conversation.

    Attributes:
        soul: Who the assistant is.
        sections: What is remembered.
        skills: The skills that there are.
        history: Earlier sessions.
        journal: The last days of the journal.
        notes: The working notes on the conversation.
        relevant: What was looked up.
    """

    soul: Section | None
    sections: tuple[Section, ...]
    skills: Told
    history: Section | None
    journal: Listed
    notes: Listed
    relevant: Relevant

    def costs(self) -> dict[str, int]:
        """Return what each part costs, in the order in which they get room."""
        known = {section.name: section.tokens for section in self._sections()}
        texts = {name: part.text for name, part in self._listed().items()}
        known |= {name: estimate_tokens(text) for name, text in texts.items()}
        known["relevant"] = estimate_tokens(self.relevant.text)
        return {name: known[name] for name in _ORDER if known.get(name)}

    def remembered(self) -> list[str]:
        """Return what is shown as memory, in order."""
        said = [section.text for section in self.sections]
        past = self.history.text if self.history else ""
        return [*filter(None, [*said, self.skills.text, past, self.journal.text])]

    def dropped(self, whole: Parts) -> list[Dropped]:
        """Return what these parts leave out, and what of the ``whole`` ones there was no room for.

        Args:
            whole: The parts as they would be with more room.
        """
        before, told = whole.costs(), self.costs()
        lost = {name: cost - told.get(name, 0) for name, cost in before.items()}
        found = [
            Dropped("memories", part.name, _cost(part), f"{len(part.left_out)} do not fit")
            for part in self._sections()
            if part.left_out
        ]
        for name, part in self._listed().items():
            if part.left_out:
                found.append(Dropped(name, "", part.tokens, f"{part.left_out} do not fit"))
        found += [
            Dropped(name, "", lost[name], _NO_ROOM)
            for name in ("history", "relevant")
            if lost.get(name)
        ]
        if self.relevant.trouble:
            found.append(Dropped("relevant", "", 0, self.relevant.trouble))
        return found

    def _sections(self) -> list[Section]:
        return [*filter(None, (self.soul, *self.sections, self.history))]

    def _listed(self) -> dict[str, Listed | Told]:
        return {"skills": self.skills, "journal": self.journal, "notes": self.notes}


class Around:
    """What stands around one conversation.

    Attributes:
        dropped: What could not be read, or is left out, and why.
        degraded: What a model is told of trouble with the transcripts, or ``""``.
    """

    def __init__(self, context: ContextBuilder, session: RunningSession | str) -> None:
        """Prepare to read what stands around a conversation."""
        self._context = context
        self._recollection = recollection = context.recollection
        self._session = session
        self._id = session if isinstance(session, str) else session.id
        self._words = recollection.overrides()
        episodes = context.scopes.episodes
        trouble = episodes.trouble if episodes is not None else None
        self.dropped: list[Dropped] = []
        self.degraded = degraded(str(trouble)) if trouble is not None else ""

    def parts(self, room: int, said: str, subjects: tuple[str, ...] = ()) -> Parts:
        """Return the parts, within their own budgets and ``room``.

        Args:
            room: What they may cost together, in tokens.
            said: What the user said last.
            subjects: What the turn is about, if that is known.

        Raises:
            StoreError: If memory cannot be read, or a template is broken.
        """
        settled = self._settled()
        who = settled.identity
        memory = self._recollection.gathered(who._replace(soul=""))
        known = self._tried("skills", self._context.skills.lines)
        notes = self._tried("notes", self._notes)

        def made(budgets: Mapping[str, int], relevant: Relevant) -> Parts:
            past, most = settled.earlier, budgets.get("history", HISTORY)
            return Parts(
                soul_section(who.soul, budgets.get("soul", SOUL), self._words),
                build(memory, "", today(), budgets, self._words).sections,
                procedures(known or Procedures(), budgets.get("skills", SKILLS), self._words),
                retrospect(past, most, self._words) if past else None,
                journal(settled.days, budgets.get("journal", JOURNAL)),
                noted(notes or "", budgets.get("notes", NOTES)),
                relevant,
            )

        budgets = self._recollection.budgets
        whole = made(budgets, Relevant())
        shown = {entry.id for section in whole.sections for entry in section.shown}
        looking = Looking(said, subjects, self._id, shown, min(MOST, room))
        whole = whole._replace(relevant=look_up(self._context.scopes, looking))
        costs = whole.costs()
        given = allotted(costs, room - self._frame(whole))
        tight = {name: given[name] for name in costs if given[name] < costs[name]}
        parts = whole
        if tight:
            kept = whole.relevant.within(tight.get("relevant", MOST))
            parts = made({**budgets, **tight}, kept)
        self.dropped += parts.dropped(whole)
        return parts

    def system(self, parts: Parts) -> str:
        """Return what comes before the conversation, or ``""``."""
        remembered = parts.remembered()
        soul = parts.soul.text if parts.soul else ""
        if not remembered and not soul:
            return ""
        render = renderer(self._words)
        memory = render("context.j2", {"sections": remembered}) if remembered else ""
        return render("working.j2", {"soul": soul, "memory": memory})

    def aside(self, parts: Parts, left_out: int = 0) -> str:
        """Return what stands behind the conversation, or ``""``.

        Args:
            parts: The parts.
            left_out: How many earlier messages do not fit.
        """
        values: dict[str, Any] = {
            "notes": parts.notes.text,
            "memories": parts.relevant.memories,
            "said": parts.relevant.said,
            "left_out": left_out,
            "degraded": self.degraded,
        }
        return renderer(self._words)("aside.j2", values) if any(values.values()) else ""

    def _frame(self, parts: Parts) -> int:
        """Return what our words add to the parts, at most."""
        costs = parts.costs()
        tokens = estimate_tokens(self.system(parts)) + estimate_tokens(self.aside(parts))
        # Each part is rounded up on its own.
        return tokens - sum(costs.values()) + len(costs)

    # ---- reading ----

    def _settled(self) -> Settled:
        """Return what was told of earlier ones when this process was first asked."""
        session = self._session
        found = self._context.settled(self._id, lambda: self._tried("journal", self._days) or ())
        if isinstance(session, str):
            return found._replace(identity=self._context.standing(found.identity))
        return found._replace(identity=session.identity, earlier=session.earlier)

    def _days(self) -> tuple[Day, ...]:
        return tuple(
            (day.heading, tuple((section.heading, section.text) for section in day.sections))
            for day in self._context.notebooks.recent_days()
        )

    def _notes(self) -> str:
        return self._context.notebooks.notes(self._id).read().text if self._id else ""

    def _tried(self, name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except _Failure as error:
            self.dropped.append(Dropped(name, "", 0, str(error)))
            return None


def _cost(part: Section) -> int:
    return sum(estimate_tokens(entry.text) for entry in part.left_out)
