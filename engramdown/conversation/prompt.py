"""Assembles the prompt for the next step of a conversation.

It only reads and never waits for a model. The stable parts come first and stay the same from turn
to turn while memory does. The conversation follows and only grows; the parts that differ in each
turn come last. The newest messages are shown whole whatever the budget, and everything else keeps
to it. Everything left out is reported with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from engramdown.clock import today
from engramdown.consolidation.summaries import Item, answers, cuts, format_summary, fresh_tail
from engramdown.context import sections
from engramdown.context.builder import ContextBuilder, RunningSession
from engramdown.context.relevant import Relevant, in_view, look_up, rendered
from engramdown.context.sections import SKILLS, Listed, Procedures, Section
from engramdown.conversation.rendering import SUMMARY, Dropped, Shown, WorkingContext
from engramdown.conversation.view import FRAME, Said, ends, placeholder
from engramdown.errors import EngramdownError, SessionNotFoundError, StoreError
from engramdown.language.untrusted import bullet, inert, one_line
from engramdown.storage.disk import named_errors
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.summary_log import Gist

if TYPE_CHECKING:
    from engramdown.conversation.view import Track
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.journal.journal import Recent

T = TypeVar("T")

# The share of the room for earlier messages that may say that some are left out.
_TELL: Final = 8
_NOT_RECORDED: Final = (
    "nothing of this session is recorded, so only its newest message is known here, without the "
    "calls of tools and their results"
)


def assemble(
    context: ContextBuilder,
    track: Track,
    session: RunningSession | str,
    *,
    budget: int,
    newest: int,
    message: str = "",
    subjects: tuple[str, ...] = (),
) -> WorkingContext:
    """Return the prompt for a session; see :meth:`Conversations.build_context`.

    Args:
        context: The memory around it.
        track: The view of it.
        session: The session, or its id.
        budget: What it may cost, in tokens.
        newest: How many of the newest messages are shown whatever they cost.
        message: What the turn is about; by default the user's last message.
        subjects: The same, if the program knows better.

    Raises:
        SessionNotFoundError: If there is no such session.
        StoreError: If memory cannot be read, or a template is broken.
    """
    seen, trouble = _seen(context.scopes.episodes, track, session)
    unrecorded = _unrecorded(session)
    tail = seen.tail(newest)
    extra = sum(line.tokens for line in unrecorded)
    free = max(budget - seen.cost(tail) - extra, 0)
    around = Around(context, session)
    said = message or "".join(line.text for line in unrecorded) or seen.newest
    parts = around.parts(min(budget // 2, free), said, subjects)
    system, aside = around.system(parts), around.aside(parts)
    room = free - estimate_tokens(system) - estimate_tokens(aside)
    choice = seen.chosen(tail, room)
    if choice.left_out:
        # A token more, as the number grows by the messages that make room for this.
        longer = around.aside(parts, choice.left_out)
        more = estimate_tokens(longer) - estimate_tokens(aside) + 1
        if more <= room // _TELL:
            choice = seen.chosen(tail, room - more)
            aside = around.aside(parts, choice.left_out)
    return WorkingContext(
        session=seen.session,
        budget=budget,
        tokens=estimate_tokens(system) + estimate_tokens(aside) + choice.tokens + extra,
        soul=parts.soul.text if parts.soul else "",
        sections=parts.sections,
        skills=parts.skills.text,
        history=parts.history.text if parts.history else "",
        journal=parts.journal.text,
        messages=(*choice.lines, *unrecorded),
        tail=choice.tail,
        notes=parts.notes.text,
        relevant=parts.relevant.text,
        remembered=parts.relevant.ids,
        recalled=parts.relevant.recalled,
        degraded=around.degraded,
        dropped=(*trouble, *around.dropped, *choice.dropped),
        system=system,
        aside=aside,
    )


def _seen(
    episodes: EpisodicMemory | None, track: Track, session: RunningSession | str
) -> tuple[Seen, tuple[Dropped, ...]]:
    """Return the conversation as it is now, and the parts that could not be read."""
    chosen = session if isinstance(session, str) else session.id
    trouble: tuple[Dropped, ...] = ()
    with track.guard:
        try:
            with named_errors(track.path, "read"):
                track.refresh()
        except StoreError as error:
            if isinstance(session, str):
                raise
            # Trouble with transcripts ends no turn: what was read before is still known.
            trouble = (Dropped("messages", chosen, 0, str(error)),)
            if isinstance(error, SessionNotFoundError):
                is_unrecorded = session.in_turn and session.turn_began is None
                missing = Dropped("messages", chosen, 0, _NOT_RECORDED)
                return Seen(chosen), (missing,) if is_unrecorded else ()
        said: dict[int, Said] = {}
        items = track.items()
        for item in items:
            if isinstance(item.source, int):
                message = track.message(item.source)
                is_whole = message.brief < message.tokens <= item.tokens
                if is_whole and episodes is not None:
                    message = message._replace(text=episodes.whole(message.episode))
                said[item.source] = message
        return Seen(track.session, items, said, track.fold.gists), trouble


def _unrecorded(session: RunningSession | str) -> tuple[Shown, ...]:
    """Return the user's message of the running turn, if the transcript does not hold it."""
    if isinstance(session, str) or not session.in_turn or session.turn_began is not None:
        return ()
    text = session.asked
    return (Shown(-1, "user", text, FRAME + estimate_tokens(text)),) if text.strip() else ()


# ---- the messages of the conversation that are shown ----
#
# A result that answers no call, and a second result of a call, are left out and reported. The tail
# is shown whole; everything that is left out or shortened is reported with the reason.

_NO_ROOM: Final = "no room for it"
_NO_ROOM_WHOLE: Final = "no room for all of it: a placeholder stands for it"
_OVER: Final = "its turn is over and it is long: a placeholder stands for it"
_NO_CALL: Final = "it answers no call"
_SECOND: Final = "its call was answered before"


class Choice(NamedTuple):
    """The part of a conversation that is shown.

    Attributes:
        lines: Its items, in order.
        tail: Where the fresh tail begins among them.
        tokens: What they cost.
        dropped: What is not shown, or not whole.
        left_out: How many messages are shown neither themselves nor in a summary; results without
            a call do not count.
    """

    lines: tuple[Shown, ...]
    tail: int
    tokens: int
    dropped: tuple[Dropped, ...]
    left_out: int


class Seen:
    """A conversation at one moment: later additions do not change it.

    Attributes:
        session: The id of its session.
        newest: The user's last message, or ``""``.
    """

    def __init__(
        self,
        session: str,
        items: Sequence[Item] = (),
        said: Mapping[int, Said] | None = None,
        gists: Mapping[str, Gist] | None = None,
    ) -> None:
        """Take a view with its messages, and every summary of the conversation."""
        self.session = session
        self._said = said or {}
        self._gists = gists or {}
        self._items: list[Item] = []
        self._strays: list[Dropped] = []
        calls = answers(items)
        first = {call: result for result, call in reversed(calls.items())}
        for at, item in enumerate(items):
            if item.role != "tool_result" or first.get(calls.get(at, -1)) == at:
                self._items.append(item)
            else:
                self._strays.append(self._dropped(item, _SECOND if at in calls else _NO_CALL))
        users = (item.source for item in reversed(self._items) if item.role == "user")
        newest = next(users, None)
        self.newest = self._said[newest].text if isinstance(newest, int) else ""

    def tail(self, count: int) -> int:
        """Return where the tail of ``count`` messages begins."""
        return fresh_tail(self._items, count)

    def cost(self, tail: int) -> int:
        """Return the cost of everything from ``tail`` on."""
        return sum(item.tokens for item in self._items[tail:])

    def chosen(self, tail: int, room: int) -> Choice:
        """Return the tail, and as much of the items before it as there is room for."""
        lines: list[Shown] = []
        dropped = list(self._strays)
        start, left_out = None, 0
        for at, fate in enumerate(fates(self._items, tail, room, self._brief)):
            item = self._items[at]
            start = len(lines) if at == tail else start
            if fate == "out":
                dropped.append(self._dropped(item, _NO_ROOM))
                is_message = isinstance(item.source, int)
                left_out += 1 if is_message else self._gists[str(item.source)].messages
                continue
            lines.append(self._shown(item, at, is_whole=fate == "whole"))
            if fate == "brief":
                dropped.append(self._dropped(item, _NO_ROOM_WHOLE))
            elif not lines[-1].is_whole:
                dropped.append(self._dropped(item, _OVER))
        start = len(lines) if start is None else start
        tokens = sum(line.tokens for line in lines)
        return Choice(tuple(lines), start, tokens, tuple(dropped), left_out)

    def _shown(self, item: Item, at: int, *, is_whole: bool) -> Shown:
        tokens = item.tokens if is_whole else self._brief(at)
        if isinstance(item.source, str):
            gist = format_summary(self._gists[item.source], self.session)
            text = gist if is_whole else self._briefly(item)
            return Shown(item.source, SUMMARY, text, tokens, is_whole=is_whole)
        message = self._said[item.source]
        said = message.episode
        # After its turn, a large result costs as much as its placeholder.
        is_all = is_whole and item.tokens == message.tokens
        text = message.text if is_all else self._briefly(item)
        about = said.name, said.call, said.error
        return Shown(said.seq, said.role, text, tokens, *about, is_whole=is_all)

    def _brief(self, at: int) -> int:
        """Return the cost of the placeholder of an item."""
        item = self._items[at]
        return FRAME + estimate_tokens(self._briefly(item)) + estimate_tokens(item.name)

    def _briefly(self, item: Item) -> str:
        if isinstance(item.source, int):
            message = self._said[item.source]
            return placeholder(self.session, message.episode, message.tokens)
        first, last = (Pointer(self.session, seq) for seq in ends(self._gists, item.source))
        what = f"[summary {one_line(item.source)} of {first} to {last}"
        return f"{what} has about {item.tokens:,} tokens; read it with expand]"

    def _dropped(self, item: Item, reason: str) -> Dropped:
        if isinstance(item.source, str):
            return Dropped("summary", item.source, item.tokens, reason)
        what = item.role.replace("_", " ") if item.role.startswith("tool") else "message"
        tokens = self._said[item.source].tokens
        return Dropped(what, str(Pointer(self.session, item.source)), tokens, reason)


# Shown whole, replaced by a placeholder, or left out.
Fate = Literal["whole", "brief", "out"]

# The least cost of a placeholder, in tokens.
LEAST: Final = 24


def fates(items: Sequence[Item], tail: int, room: int, brief: Callable[[int], int]) -> list[Fate]:
    """Return how each item of a view is shown.

    Items before the tail are decided from the newest to the oldest: an item is shown whole if it
    fits, otherwise as a placeholder; if even that does not fit it is left out, and older items
    still have their chance. A tool call and its results are shown, replaced or left out together.
    More room never shows less of the newer items. It takes linear time.

    Args:
        items: The view.
        tail: Where the fresh tail begins; this separates no tool call from its results.
        room: What the items before it may cost, in tokens.
        brief: Returns the cost of the placeholder for the item at a place.

    >>> said = [Item(seq, cost, "user") for seq, cost in enumerate([10, 9_000, 10, 10])]
    >>> fates(said, 3, 50, lambda at: 30), fates(said, 3, 20, lambda at: 30)
    (['whole', 'brief', 'whole', 'whole'], ['whole', 'out', 'whole', 'whole'])
    """
    chosen: list[Fate] = ["whole"] * len(items)
    free = cuts(items)
    end = tail
    for start in reversed([at for at in range(tail) if free[at]]):
        group, end = range(start, end), start
        cost = sum(items[at].tokens for at in group)
        if cost <= room:
            room -= cost
            continue
        briefs = [min(items[at].tokens, brief(at)) for at in group] if room >= LEAST else []
        if not briefs or sum(briefs) > room:
            chosen[group.start : group.stop] = ["out"] * len(group)
            continue
        room -= sum(briefs)
        for at, tokens in zip(group, briefs, strict=True):
            if tokens < items[at].tokens:
                chosen[at] = "brief"
    return chosen


def allotted(costs: Mapping[str, int], room: int) -> dict[str, int]:
    """Return what each part may cost: all that it needs, as long as there is room.

    >>> allotted({"rules": 30, "lessons": 50, "journal": 10}, 60)
    {'rules': 30, 'lessons': 30, 'journal': 0}
    """
    left, shares = max(room, 0), {}
    for name, cost in costs.items():
        shares[name] = min(cost, left)
        left -= shares[name]
    return shares


# ---- the journal and the notes ----

# The limits of the page about the assistant, of the last days of the journal, and of the notes on a
# conversation, in tokens.
SOUL: Final = 1_500
JOURNAL: Final = 1_500
NOTES: Final = 1_000

_JOURNAL: Final = "## Your Memory — Journal\n\nWhat was written down in the last days.\n"


def journal(days: Iterable[Recent], budget: int = JOURNAL) -> Listed:
    r"""Return days of the journal.

    A section is shown whole or not at all, and one that does not fit does not hide the next.

    >>> from datetime import date
    >>> from engramdown.journal import Section
    >>> from engramdown.journal.journal import Recent
    >>> today = Recent("Today", date(2026, 3, 1), (Section("10:15", "CI is green.\n"),))
    >>> print(journal([today]).text.split("\n\n")[-1])
    - Today (2026-03-01), 10:15
      CI is green.
    """
    items = [
        bullet(", ".join(filter(None, map(one_line, (day.heading, head)))) + f"\n{text}")
        for day in days
        for head, text, *_ in day.sections
        if text.strip()
    ]
    whole = "\n".join([_JOURNAL, *items])
    if not items or estimate_tokens(whole) <= budget:
        return Listed(whole if items else "")
    more = "\n({} more left out; `engramdown journal search` finds them)"
    room = budget - estimate_tokens(_JOURNAL + more.format(len(items))) - 1
    shown, tokens = [], 0
    for item in items:
        cost = estimate_tokens(f"{item}\n")
        if cost <= room:
            shown.append(item)
            room -= cost
        else:
            tokens += cost
    count = len(items) - len(shown)
    text = "\n".join([_JOURNAL, *shown, more.format(count)]) if shown else ""
    return Listed(text, count, tokens)


def noted(text: str, budget: int = NOTES) -> Listed:
    """Return notes, marked in every line; only the beginning of long ones."""
    if not text.strip():
        return Listed()
    lines = [f"> {line}".rstrip() for line in inert(text).strip().split("\n")]
    left = budget
    for at, line in enumerate(lines):
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            rest = sum(map(estimate_tokens, lines[at:]))
            return Listed("\n".join(lines[:at]), len(lines) - at, rest)
    return Listed("\n".join(lines))


# ---- the parts around a conversation ----
#
# As long as memory is the same, so are the parts before the conversation. Earlier sessions and the
# journal stay as they were when this process first needed them for the session.

# Which parts get room first where it is tight; others come last.
_ORDER: Final = (
    *("global_rules", "project_rules", "identity", "soul", "global_lessons", "project_lessons"),
    *("notes", "skills", "history", "journal", "relevant"),
)


class Parts(NamedTuple):
    """The parts around a conversation.

    Attributes:
        soul: Who the assistant is.
        sections: The memories.
        skills: The skills.
        history: Earlier sessions.
        journal: The last days of the journal.
        notes: The working notes on the conversation.
        relevant: What matches the turn.
    """

    soul: Section | None
    sections: tuple[Section, ...]
    skills: Listed
    history: Section | None
    journal: Listed
    notes: Listed
    relevant: Relevant

    def costs(self) -> dict[str, int]:
        """Return the cost of each part, in the order in which they get room."""
        known = {section.name: section.tokens for section in self._sections()}
        texts = {name: part.text for name, part in self._listed().items()}
        texts["relevant"] = self.relevant.text
        known |= {name: estimate_tokens(text) for name, text in texts.items()}
        order = {name: at for at, name in enumerate(_ORDER)}
        names = sorted(known, key=lambda name: order.get(name, len(order)))
        return {name: known[name] for name in names if known[name]}

    def dropped(self, whole: Parts) -> list[Dropped]:
        """Return what these parts leave out, also compared with the ``whole`` ones.

        Args:
            whole: The parts as they would be with more room.
        """
        dropped: list[Dropped] = []
        for section in self._sections():
            if section.left_out:
                cost = sum(estimate_tokens(entry.text) for entry in section.left_out)
                reason = f"{len(section.left_out)} do not fit"
                dropped.append(Dropped("memories", section.name, cost, reason))
        for name, part in self._listed().items():
            if part.left_out:
                dropped.append(Dropped(name, "", part.tokens, f"{part.left_out} do not fit"))
        before, now = whole.costs(), self.costs()
        for name in ("history", "relevant"):
            lost = before.get(name, 0) - now.get(name, 0)
            if lost:
                dropped.append(Dropped(name, "", lost, _NO_ROOM))
        if self.relevant.trouble:
            dropped.append(Dropped("relevant", "", 0, self.relevant.trouble))
        return dropped

    def _sections(self) -> list[Section]:
        return [*filter(None, (self.soul, *self.sections, self.history))]

    def _listed(self) -> dict[str, Listed]:
        return {"skills": self.skills, "journal": self.journal, "notes": self.notes}


class Around:
    """The parts around one conversation: who the assistant is, memories, and what matches the turn.

    Skills, the journal, notes or other conversations that cannot be read are left out.

    Attributes:
        dropped: What could not be read, or is left out, and why.
        degraded: What a model reads about trouble with the transcripts, or ``""``.
    """

    def __init__(self, context: ContextBuilder, session: RunningSession | str) -> None:
        """Prepare to read the parts around a conversation."""
        self._context = context
        self._recollection = context.recollection
        self._session = session
        self._id = session if isinstance(session, str) else session.id
        self._words = self._recollection.overrides()
        episodes = context.scopes.episodes
        trouble = episodes.trouble if episodes is not None else None
        self.dropped: list[Dropped] = []
        self.degraded = sections.degraded(str(trouble)) if trouble is not None else ""

    def parts(self, room: int, said: str, subjects: tuple[str, ...] = ()) -> Parts:
        """Return the parts, within their own budgets and ``room``.

        Args:
            room: What they may cost together, in tokens.
            said: The user's last message.
            subjects: What the turn is about, if that is known.

        Raises:
            StoreError: If memory cannot be read, or a template is broken.
        """
        context, session = self._context, self._session
        days = context.notebooks.recent_days
        settled = context.settled(self._id, lambda: self._tried("journal", days) or [])
        if isinstance(session, str):
            who, earlier = self._recollection.standing(settled.identity), settled.earlier
        else:
            who, earlier = session.identity, session.earlier
        memory = self._recollection.gathered(who._replace(soul=""))
        citations = context.scopes.citations()
        known = self._tried("skills", context.skills.lines)
        notes = self._tried("notes", lambda: context.notebooks.notes(self._id).read().text)

        def made(budgets: Mapping[str, int], relevant: Relevant) -> Parts:
            return Parts(
                sections.soul_section(who.soul, budgets.get("soul", SOUL), self._words),
                sections.build(
                    memory, "", today(), budgets, self._words, changed=citations.has_changed
                ).sections,
                sections.procedures(
                    known or Procedures(), budgets.get("skills", SKILLS), self._words
                ),
                sections.retrospect(earlier, budgets["history"], self._words) if earlier else None,
                journal(settled.days, budgets.get("journal", JOURNAL)),
                noted(notes or "", budgets.get("notes", NOTES)),
                relevant,
            )

        budgets = self._recollection.budgets
        whole = made(budgets, Relevant())
        most = budgets.get("relevant", sections.BUDGETS["relevant"])
        shown = in_view(whole.sections)
        relevant = look_up(
            context.scopes, said, subjects, session=self._id, shown=shown, budget=min(most, room)
        )
        parts = whole = whole._replace(relevant=relevant)
        costs = whole.costs()
        # The templates add at most this to the parts, each of which is rounded up on its own.
        words = estimate_tokens(self.system(whole)) + estimate_tokens(self.aside(whole))
        shares = allotted(costs, room - (words - sum(costs.values()) + len(costs)))
        tight = {name: shares[name] for name in costs if shares[name] < costs[name]}
        if tight:
            parts = made({**budgets, **tight}, relevant.within(tight.get("relevant", most)))
        self.dropped += parts.dropped(whole)
        return parts

    def system(self, parts: Parts) -> str:
        """Return the text before the conversation, or ``""``."""
        texts = [section.text for section in parts.sections]
        past = parts.history.text if parts.history else ""
        remembered = [*filter(None, [*texts, parts.skills.text, past, parts.journal.text])]
        soul = parts.soul.text if parts.soul else ""
        if not remembered and not soul:
            return ""
        render = sections.renderer(self._words)
        memory = render("context.j2", {"sections": remembered}) if remembered else ""
        return render("working.j2", {"soul": soul, "memory": memory})

    def aside(self, parts: Parts, left_out: int = 0) -> str:
        """Return the text after the conversation, or ``""``.

        Args:
            parts: The parts.
            left_out: How many earlier messages do not fit.
        """
        values: dict[str, Any] = {
            "notes": parts.notes.text,
            "relevant": rendered(parts.relevant, self._words),
            "memories": parts.relevant.memories,
            "said": parts.relevant.said,
            "left_out": left_out,
            "degraded": self.degraded,
        }
        return sections.renderer(self._words)("aside.j2", values) if any(values.values()) else ""

    def _tried(self, name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except (EngramdownError, OSError) as error:
            self.dropped.append(Dropped(name, "", 0, str(error)))
            return None
