"""A running conversation, as its assistant and its host see it.

No message is ever lost: what a model sees is computed from the transcript and the log of summaries.
Automatic work never raises and delays no message; after a failure it pauses. Only one compaction
runs at a time, and another one that is asked for meanwhile says so at once.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

from engramdown.clock import moment
from engramdown.consolidation.summaries import (
    PROMPTS,
    Item,
    Pressure,
    Request,
    Written,
    fresh_tail,
    pressure,
    rests_until,
    write_summary,
    write_without_model,
)
from engramdown.conversation.lookup import Lineage
from engramdown.conversation.summarize import (
    MODES,
    Compacted,
    Compaction,
    DryTrack,
    Mode,
    Write,
    pretend,
)
from engramdown.conversation.view import Track
from engramdown.errors import EngramdownError, ModelError
from engramdown.forks import Lock
from engramdown.models.ledger import Call
from engramdown.storage.disk import named_errors
from engramdown.transcripts.summary_log import Gist

if TYPE_CHECKING:
    from engramdown.context.builder import ContextBuilder
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.model_runs import Asking

# The names of its calls in the ledger, and of its prompts.
JOBS: Final = ("gist", "handoff")
NO_MODEL: Final = (
    "no model is set to summarise with; name one as `model` under [consolidation] in the global "
    "scope's config.toml, or ask for a summary without one"
)
# How many tokens models read in one pass: a pass that fails writes nothing, and costs all the same.
PASS_TOKENS: Final = 80_000


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
        return pressure(self.view(), self._scopes.settings.conversation, budget)

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
            write = write_without_model if without_model else self._with_model(asking)
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
        until = max(rests_until(calls, now), rests_until(self._failures, now))
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
            model = models[PROMPTS[request.form]]
            return write_summary(request, model, templates)

        return write

    @property
    def _tail(self) -> int:
        return self._scopes.settings.conversation.fresh_tail


def _check(mode: str, tail: int | None) -> None:
    if mode not in MODES:
        raise ValueError(f"{mode!r} is not a mode; use one of {', '.join(MODES)}")
    if tail is not None and tail < 0:
        raise ValueError(f"tail is {tail}; give 0 or more messages")
