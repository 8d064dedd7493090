"""Facts about the user, looked for after so many messages of theirs, in however many sessions.

Promises: what was counted is not read again only to be counted; a model is asked once about a
message; sessions that run count, too, as nothing but what was said in them is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from engramdown.sleep.jobs import SHOWN, Identity
from engramdown.sleep.progress import Mark
from engramdown.sleep.steps import Night, Steps
from engramdown.transcripts.sessions import SessionInfo

__all__ = ["Facts"]

_JOB: Final = Identity.name


class _Waiting(NamedTuple):
    """A session with messages that were not looked at; how many says ``mark.messages``."""

    info: SessionInfo
    mark: Mark


class Facts:
    """The facts about the user in the sessions of one place."""

    def __init__(self, steps: Steps, night: Night) -> None:
        """Learn in ``steps`` of a sleep."""
        self._steps = steps
        self._night = night
        self._identity = Identity()

    def learn(
        self,
        infos: Iterable[SessionInfo],
        stops: Callable[[], bool],
        advance: Callable[[int], object],
    ) -> None:
        """Look for facts, if the user has said enough since the last time.

        Args:
            infos: The sessions, in the order in which they began.
            stops: Asked before each step.
            advance: Told of each session that was counted.
        """
        waiting: list[_Waiting] = []
        for info in infos:
            if self._steps.is_due(_JOB, info):
                if stops():
                    return
                mark = self._counted(info)
                waiting += [_Waiting(info, mark)] if mark.messages else []
                advance(1)
        for batch in _batches(waiting, self._night.scopes.settings.consolidation.identity_every):
            if self._night.why_not:
                self._steps.skip(_JOB, *(each.mark for each in batch))
            elif stops():
                return
            else:
                self._ask(batch)

    def _counted(self, info: SessionInfo) -> Mark:
        """Return the mark of a session with the number of its messages that are new."""
        mark = self._steps.mark(_JOB, info)
        known = self._steps.state.seen(mark)
        if known is not None:
            return known
        count = len(self._identity.messages(self._steps.told(_JOB, info)))
        mark = mark._replace(messages=count)
        if count:
            self._steps.wait(mark)
        else:
            self._steps.pass_over(mark)
        return mark

    def _ask(self, batch: Iterable[_Waiting]) -> None:
        read = [(each.info, self._steps.told(_JOB, each.info)) for each in batch]
        parts = [self._steps.part(_JOB, info, told) for info, told in read]
        messages = [said for _, told in read for said in self._identity.messages(told)]
        self._steps.ask(_JOB, parts, partial(self._identity.learn, messages))


def _batches(waiting: Iterable[_Waiting], every: int) -> Iterator[list[_Waiting]]:
    """Yield sessions with as many messages as one call shows; few that are left wait for more."""
    batch: list[_Waiting] = []
    for each in waiting:
        batch.append(each)
        if sum(it.mark.messages for it in batch) >= SHOWN:
            yield batch
            batch = []
    if sum(it.mark.messages for it in batch) >= every and batch:
        yield batch
