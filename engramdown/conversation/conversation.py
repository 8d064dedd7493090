"""A running conversation, as its assistant and its host see it, and the writing of its summaries.

No message is ever lost: what a model sees is computed from the transcript and the log of summaries.
Automatic work never raises and delays no message; after a failure it pauses. Only one compaction
runs at a time, and another one that is asked for meanwhile says so at once.

No lock is held while a model thinks. If one summary of a pass fails, none is written and the
conversation stays byte for byte as it was. The sources of a summary are checked again when it is
written: if somebody else was faster it is dropped, and messages that came meanwhile are never
covered.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.consolidation import summaries
from engramdown.consolidation.extractive import SUMMARY, Part
from engramdown.consolidation.summaries import Chunk, Item, Pressure, Request, Written, fresh_tail
from engramdown.conversation.lookup import Lineage
from engramdown.conversation.view import Track
from engramdown.errors import EngramdownError, ModelError
from engramdown.forks import Lock
from engramdown.models.ledger import Call
from engramdown.storage.disk import named_errors
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import Form, Gist, read_gist, write_gist
from engramdown.transcripts.visibility import LOOKED_UP, repeats_memory

if TYPE_CHECKING:
    from engramdown.context.builder import ContextBuilder
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.model_runs import Asking

Mode = Literal["incremental", "full", "handoff"]
# One round; as many rounds as help; one text for somebody who has not read the conversation.
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

# Writes one summary; returns ``None`` if there is nothing to write.
Write = Callable[[Request], Written | None]

# The names of its calls in the ledger, and of its prompts.
JOBS: Final = ("gist", "handoff")
NO_MODEL: Final = (
    "no model is set to summarise with; name one as `model` under [consolidation] in the global "
    "scope's config.toml, or ask for a summary without one"
)
# How many tokens models read in one pass: a pass that fails writes nothing, and costs all the same.
PASS_TOKENS: Final = 80_000

_ROUNDS: Final = 10
_SECONDS: Final = 120.0
_AT_ONCE: Final = 4
# A handoff reads everything at once; a longer conversation is summarised first.
_HANDED: Final = 2 * summaries.SOURCE_TOKENS
_TIGHT: Final = 2
_NOTHING: Final = "there is nothing to summarise before the newest messages"
_FASTER: Final = "the messages were summarised or taken back meanwhile"


class Compacted(NamedTuple):
    """The outcome of a compaction.

    Attributes:
        mode: One of :data:`MODES`.
        gists: The summaries that were written, in order.
        messages: How many messages they newly cover.
        tokens_before: What the view cost before.
        tokens_after: What it costs now.
        rounds: How many rounds wrote something.
        lost: How many summaries were dropped because somebody else was faster.
        seconds: How long it took.
        reload_required: Whether a program has to show its model the new view.
        reason: Why nothing was written, or not more, or ``""``.
        failed: Whether that is a failure.
    """

    mode: Mode
    gists: tuple[Gist, ...] = ()
    messages: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    rounds: int = 0
    lost: int = 0
    seconds: float = 0.0
    reload_required: bool = False
    reason: str = ""
    failed: bool = False


@dataclass(slots=True)
class Compaction:
    """One compaction of one conversation.

    Attributes:
        track: The conversation.
        write: Writes one summary; four may be written at once.
        limit: What the view may cost, in tokens; above it, even two gists are condensed.
        tail: How many of the newest messages are left alone.
        notes: The assistant's notes for itself, or ``""``.
        most: How many tokens all summaries of one pass read together, at least one chunk; by
            default any number. The rest is for the next pass.
    """

    track: Track
    write: Write
    limit: int | None
    tail: int = summaries.FRESH_TAIL
    notes: str = ""
    most: int | None = None
    _trouble: str = ""
    _lost: int = 0
    _rounds: int = 0

    def run(self, mode: Mode) -> Compacted:
        """Summarise.

        Raises:
            ModelError: If a summary failed, and its pass wrote nothing. After an earlier pass that
                wrote something, this becomes the reason in the outcome instead.
            StoreError: If one could not be written.
            SessionNotFoundError: If the session was purged meanwhile.
        """
        started = time.monotonic()
        self.track.refresh()
        before = self._cost()
        rounds = {"incremental": 1, "full": _ROUNDS}.get(mode, 0)
        items = self.track.items()
        handed = _handed(items, fresh_tail(items, self.tail))
        if mode == "handoff" and any(chunk.tokens > _HANDED for chunk in handed):
            rounds = _ROUNDS
        written = self._repeat(rounds, started)
        if mode == "handoff" and not self._trouble:
            written += self._pass("handoff", _handed)
        reason = "" if written else _FASTER if self._lost else _NOTHING
        return Compacted(
            mode=mode,
            gists=tuple(written),
            messages=sum(isinstance(each, int) for gist in written for each in gist.sources),
            tokens_before=before,
            tokens_after=self._cost(),
            rounds=self._rounds,
            lost=self._lost,
            seconds=time.monotonic() - started,
            reload_required=bool(written),
            reason=self._trouble or reason,
            failed=bool(self._trouble),
        )

    def _repeat(self, rounds: int, started: float) -> list[Gist]:
        """Repeat rounds as long as they help: each has to save tokens."""
        written: list[Gist] = []
        for _ in range(rounds):
            cost, before = self._cost(), len(written)
            try:
                written += self._pass("leaf", summaries.leaf_chunks)
                is_tight = self.limit is not None and self._cost() > self.limit
                fan_in = _TIGHT if is_tight else summaries.FAN_IN
                written += self._pass(
                    "condensed", partial(summaries.condensed_chunks, fan_in=fan_in)
                )
            except ModelError as error:
                if not written:
                    raise
                # The written summaries stay, and the next compaction continues from there.
                self._trouble = str(error)
            is_new = len(written) > before
            self._rounds += is_new
            late = time.monotonic() - started > _SECONDS
            if self._trouble or not is_new or late or self._cost() >= cost:
                break
        return written

    def _cost(self) -> int:
        return sum(item.tokens for item in self.track.items())

    def _pass(
        self, form: Form, choose: Callable[[Sequence[Item], int], Sequence[Chunk]]
    ) -> list[Gist]:
        """Write a summary of each chunk, or none; return those that were put in place."""
        with self.track.guard:
            items = self.track.items()
            chunks = choose(items, fresh_tail(items, self.tail))
            if self.most is not None:
                # As many of the oldest as are read in one pass.
                costs = accumulate(chunk.tokens for chunk in chunks)
                chunks = chunks[: max(sum(cost <= self.most for cost in costs), 1)]
            requests = [self._asked(items, chunk, form) for chunk in chunks]
        texts = self._written([request for request, _ in requests])
        gists = [
            gist._replace(
                ts=moment(),
                text=text.text,
                tokens=estimate_tokens(text.text),
                level=text.level,
                model=text.model,
                # Rules look at the parts only.
                previous="" if text.level == "extractive" else gist.previous,
            )
            for (_, gist), text in zip(requests, texts, strict=True)
            if text is not None
        ]
        return self._commit(gists) if gists else []

    def _written(self, requests: Sequence[Request]) -> list[Written | None]:
        if len(requests) < _TIGHT:
            return [self.write(request) for request in requests]
        # Imported here: most conversations need one summary at a time.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_AT_ONCE, "engramdown-summary") as pool:
            waiting = [pool.submit(self.write, request) for request in requests]
            try:
                return [each.result() for each in waiting]
            finally:
                # After a failure the others, which would not be written, are not requested.
                pool.shutdown(cancel_futures=True)

    def _commit(self, gists: Sequence[Gist]) -> list[Gist]:
        """Write the gists whose sources are still in the view, and still may be shown."""
        track, valid = self.track, list[Gist]()

        def make() -> list[bytes]:
            with track.guard:
                track.refresh()
                for gist in gists:
                    is_visible = not gist.previous or gist.previous in track.fold.gists
                    if is_visible and track.fold.covers_a_run(gist.sources):
                        valid.append(gist)
            return [write_gist(gist) for gist in valid]

        track.write(make)
        track.refresh()
        self._lost += len(gists) - len(valid)
        return valid

    def _asked(self, items: Sequence[Item], chunk: Chunk, form: Form) -> tuple[Request, Gist]:
        """Return the request for a summary, and the summary without its text."""
        sources = tuple(item.source for item in items[chunk.start : chunk.end])
        before = items[chunk.start - 1].source if chunk.start else 0
        previous = self.track.fold.gists[before].text if isinstance(before, str) else ""
        parts: list[Part] = []
        spans: list[tuple[str, str, int]] = []
        ids: list[str] = []
        for source in sources:
            if isinstance(source, str):
                gist = self.track.fold.gists[source]
                parts.append(Part(SUMMARY, gist.text, at=_minute(gist.earliest)))
                spans.append((gist.earliest, gist.latest, gist.messages))
                continue
            said = self.track.message(source)
            episode = said.episode
            # Words from memory are left out: they would be remembered as if they had been said.
            text = LOOKED_UP if repeats_memory(episode) else said.text
            at, failed = _minute(episode.ts), bool(episode.error)
            parts.append(Part(episode.role, text, episode.name, at, failed))
            spans.append((episode.ts, episode.ts, 1))
            ids.append(episode.id)
        request = Request(form, tuple(parts), chunk.depth, chunk.target, previous, self.notes)
        return request, Gist(
            id=f"g{os.urandom(8).hex()}",
            ts="",
            form=form,
            depth=chunk.depth,
            sources=sources,
            text="",
            tokens=0,
            earliest=min(first for first, _, _ in spans),
            latest=max(last for _, last, _ in spans),
            messages=sum(messages for _, _, messages in spans),
            source_tokens=chunk.tokens,
            previous=before if isinstance(before, str) else "",
            first=ids[0] if ids else "",
            last=ids[-1] if ids else "",
        )


def _handed(items: Sequence[Item], end: int) -> list[Chunk]:
    chunk = summaries.handoff_chunk(items, end)
    return [chunk] if chunk else []


def _minute(ts: str) -> str:
    return ts[:16].replace("T", " ")


# ---- a dry run: it asks no model and writes nothing ----

_PER_TOKEN: Final = 4


class DryTrack(Track):
    """The view of a conversation, with summaries that are nowhere else."""

    _kept: tuple[Gist, ...] = ()

    def write(self, make: Callable[[], Sequence[bytes]]) -> None:
        """Keep summaries in memory."""
        self._kept += tuple(filter(None, map(read_gist, make())))

    def refresh(self) -> None:
        """Take in what was added, and the summaries in memory."""
        with self.guard:
            super().refresh()
            self._apply(gist for gist in self._kept if gist.id not in self.fold.gists)


def pretend(request: Request) -> Written:
    """Return a text of the greatest length that was requested."""
    return Written("x" * (request.target * _PER_TOKEN), "normal")


# ---- a running conversation ----


class Conversation(Lineage):
    """A running conversation.

    Attributes:
        session: The id of its session.
        track: Its view.
    """

    def __init__(self, context: ContextBuilder, episodes: EpisodicMemory, session: str) -> None:
        """Follow a session; see :meth:`engramdown.conversation.conversations.Conversations.get`."""
        self.track = Track(episodes, session)
        super().__init__(self.track, episodes)
        self._scopes, self._notebooks = context.scopes, context.notebooks
        self._busy = Lock()
        self._failures: list[Call] = []
        self.session = session

    # ---- how full it is ----

    def view(self) -> list[Item]:
        """Return what a model sees of it, in order: messages, and summaries in place of others.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        self.track.refresh()
        return self.track.items()

    @property
    def uncovered(self) -> int:
        """How many messages before the fresh tail no summary covers."""
        items = self.view()
        return sum(item.is_message for item in items[: fresh_tail(items, self._tail)])

    @property
    def gists(self) -> tuple[Gist, ...]:
        """Every summary that applies, including those that others cover, the oldest first."""
        self.track.refresh()
        return tuple(self.track.fold.gists.values())

    def needs_compaction(self, budget: int | None = None) -> Pressure:
        """Return how full it is; the value is true if it is time to summarise.

        Args:
            budget: What a prompt may cost, in tokens, if that is known.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        return summaries.pressure(self.view(), self._scopes.settings.conversation, budget)

    # ---- compaction ----

    def compact(
        self,
        mode: Mode = "incremental",
        *,
        without_model: bool = False,
        tail: int | None = None,
        budget: int | None = None,
        runner: object = None,
        asking: Asking | None = None,
        dry_run: bool = False,
    ) -> Compacted:
        """Summarise what is older than the newest messages, whether it is time for that or not.

        Args:
            mode: ``incremental`` for one round, ``full`` for as many as help, ``handoff`` for one
                text for somebody who has not read the conversation and takes over.
            without_model: Summarise by rules; such summaries say so.
            tail: How many of the newest messages to leave alone; by default as set.
            budget: What a prompt may cost, in tokens: above it, more is condensed.
            runner: Whatever runs the model; one that is ``stateful`` keeps the conversation itself
                and need not reload it.
            asking: The run of jobs that this belongs to, with the model and its limits; by default
                a new one.
            dry_run: Ask no model and write nothing. The summaries are empty then, and count as many
                tokens as they may have; their ids are in no log.

        Raises:
            ValueError: If there is no such mode, or ``tail`` is negative.
            ModelError: If there is no model, or it gave no summary; then nothing was written.
            SessionNotFoundError: If there is no such session.
            StoreError: If a summary could not be written.
        """
        _check(mode, tail)
        if dry_run:
            return self._planned(mode, tail, budget)
        if not self._busy.acquire(blocking=False):
            return Compacted(mode, reason="this conversation is being summarised already")
        try:
            write = summaries.write_without_model if without_model else self._with_model(asking)
            most = None if without_model else PASS_TOKENS
            with named_errors(self.track.log.path(self.session), "written"):
                done = self._compaction(self.track, write, tail, budget, most).run(mode)
        finally:
            self._busy.release()
        stateful = getattr(runner, "stateful", False)
        return done._replace(reload_required=done.reload_required and not stateful)

    def _planned(self, mode: Mode, tail: int | None, budget: int | None) -> Compacted:
        """Return what a compaction would do, without asking a model or writing anything."""
        track = DryTrack(self._episodes, self.session)
        done = self._compaction(track, pretend, tail, budget, PASS_TOKENS).run(mode)
        gists = tuple(gist._replace(text="") for gist in done.gists)
        return done._replace(gists=gists, reload_required=False)

    def rehearse(
        self, mode: Mode = "incremental", *, tail: int | None = None, budget: int | None = None
    ) -> Compacted:
        """Do what :meth:`compact` does in a dry run; it works until 0.3."""
        msg = "conversation.rehearse is deprecated and goes with 0.3; use compact(dry_run=True)"
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return self.compact(mode, tail=tail, budget=budget, dry_run=True)

    def compact_if_due(self, budget: int | None = None, runner: object = None) -> Compacted | None:
        """Summarise if it is time for that; never raises.

        Without a model, or when it fails, nothing is done until the conversation cannot wait any
        longer; then the summary is made without one.

        Args:
            budget: What a prompt may cost, in tokens, if that is known.
            runner: See :meth:`compact`.

        Returns:
            The outcome, or ``None`` if it was not time.
        """
        try:
            needs = self.needs_compaction(budget)
            if not needs.due:
                return None
            reason, failed = self._resting(), False
            if not reason:
                try:
                    done = self.compact(budget=budget, runner=runner)
                except ModelError as error:
                    reason, failed = str(error), True
                    self._note_failure()
                else:
                    if done.failed:
                        self._note_failure()
                    else:
                        self._failures.clear()
                    return done
            if not needs.over:
                return Compacted("incremental", reason=reason, failed=failed)
            return self.compact(without_model=True, budget=budget, runner=runner)
        except (EngramdownError, OSError) as error:
            self._note_failure()
            return Compacted("incremental", reason=str(error), failed=True)

    def _resting(self) -> str:
        """Return why no model is asked for a summary that nobody requested, or ``""``."""
        # Imported here: only a conversation that is full needs the ledger.
        from engramdown.gate.model_runs import ledger_of

        now = moment()
        calls = [call for call in ledger_of(self._scopes).known().calls if call.job in JOBS]
        until = max(summaries.rests_until(calls, now), summaries.rests_until(self._failures, now))
        return f"after failures, or many calls, no model is asked until {until}" if until else ""

    def _note_failure(self) -> None:
        """Remember a failure in this process: the ledger has only those of a model."""
        self._failures.append(Call(moment(), JOBS[0], "", 0, 0, 0, "failed"))

    # ---- how a summary is written ----

    def _compaction(
        self, track: Track, write: Write, tail: int | None, budget: int | None, most: int | None
    ) -> Compaction:
        limit = self.needs_compaction(budget).limit
        newest = self._tail if tail is None else tail
        notes = self._notebooks.notes(self.session).read().text
        limit_or_none = limit if limit >= 0 else None
        return Compaction(track, write, limit_or_none, newest, notes, most)

    def _with_model(self, asking: Asking | None) -> Write:
        from engramdown.gate.model_runs import Asking, prompts_for

        run = asking or Asking.begin(self._scopes)
        models = {job: model for job in JOBS if (model := run.of(job)) is not None}
        if not models:
            raise ModelError(NO_MODEL, "refused")
        templates: dict[str, str] = {}
        for job in JOBS:
            templates |= prompts_for(self._scopes, job)

        def write(request: Request) -> Written:
            model = models[summaries.PROMPTS[request.form]]
            return summaries.write_summary(request, model, templates)

        return write

    @property
    def _tail(self) -> int:
        return self._scopes.settings.conversation.fresh_tail


def _check(mode: str, tail: int | None) -> None:
    if mode not in MODES:
        raise ValueError(f"{mode!r} is not a mode; use one of {', '.join(MODES)}")
    if tail is not None and tail < 0:
        raise ValueError(f"tail is {tail}; give 0 or more messages")
