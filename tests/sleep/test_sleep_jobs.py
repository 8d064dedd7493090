"""What the jobs of sleep learn from a session, and from whom not."""

from __future__ import annotations

import pytest

from engramdown.sleep.jobs import JOBS, REPLAY, STATEMENTS, NewLines
from engramdown.transcripts.episode import Episode
from tests.consolidation.answering import Answering


def said(*texts: str, role: str = "user", name: str = "") -> tuple[Episode, ...]:
    """Return lines that somebody said."""
    return tuple(
        Episode(at, "2026-03-01T10:00:00.000000Z", "x", role, text, name)
        for at, text in enumerate(texts, 1)
    )


def test_a_user_is_taken_at_their_word() -> None:
    told = NewLines("s1", said("From now on use uv."))
    assert STATEMENTS.is_due(told)
    [engram] = STATEMENTS.learn(told, None, {}).engrams
    assert (engram.text, engram.source, engram.origin) == ("Use uv", "user", "s1#1")


@pytest.mark.parametrize(
    "told",
    [
        NewLines("s1", said("From now on use uv."), parent="s0"),
        NewLines("s1", said("From now on use uv.", name="bo") + said("Hm.", name="ada")),
        NewLines("s1", said("From now on use uv.", role="assistant")),
    ],
)
def test_nobody_else_is_taken_for_the_user(told: NewLines) -> None:
    assert STATEMENTS.learn(told, None, {}).engrams == ()


def test_nothing_said_is_nothing_due() -> None:
    assert not any(job.is_due(NewLines("s1", ())) for job in JOBS)


def test_replay_asks_only_where_something_went_wrong() -> None:
    good = said("a", role="scratchpad"), said("b", role="scratchpad")
    lines = (*good[0], good[1][0]._replace(seq=2))
    assert not REPLAY.is_due(NewLines("s1", lines))
    bad = NewLines("s1", (lines[0], lines[1]._replace(error="no")))
    assert REPLAY.is_due(bad)
    assert REPLAY.learn(bad, None, {}).engrams == ()
    model = Answering(items=[{"text": "Wait for the lock", "cells": [2]}])
    [engram] = REPLAY.learn(bad, model, {}).engrams
    assert (engram.text, engram.source, engram.origin) == (
        "Wait for the lock",
        "consolidation",
        "s1#2",
    )
    assert len(model.asked) == 1


def test_each_job_has_a_name_of_its_own() -> None:
    assert len({job.name for job in JOBS}) == len(JOBS)
