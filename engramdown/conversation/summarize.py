"""Writes the summaries of a conversation and puts them in place.

No lock is held while a model thinks. If one summary of a pass fails, none is written and the
conversation stays byte for byte as it was. The sources of a summary are checked again when it is
written: if somebody else was faster it is dropped, and messages that came meanwhile are never
covered.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.consolidation import summaries
from engramdown.consolidation.extractive import SUMMARY, Part
from engramdown.consolidation.summaries import Chunk, Item, Request, Written, fresh_tail
from engramdown.conversation.view import Track
from engramdown.errors import ModelError
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import Form, Gist, read_gist, write_gist
from engramdown.transcripts.visibility import LOOKED_UP, repeats_memory

Mode = Literal["incremental", "full", "handoff"]
# One round; as many rounds as help; one text for somebody who has not read the conversation.
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

# Writes one summary; returns ``None`` if there is nothing to write.
Write = Callable[[Request], Written | None]

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
