"""Law: what was exported as JSON is read as the episodes that it was."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.session_export import as_json
from engramdown.importers.own import OWN
from engramdown.transcripts.episode import Episode
from tests.episodes.strategies import episodes, texts
from tests.importers.told import read

NAME = "20260227-101500-4f2a"


@given(st.lists(episodes, max_size=4), texts)
def test_every_episode_comes_back(written: list[Episode], whole: str) -> None:
    exported = json.loads(json.dumps(as_json(NAME, written, lambda _: whole)))
    told = read(OWN, exported)
    assert [kept.episode for kept in told.kept] == written
    assert all(kept.whole == (whole if kept.episode.payload else None) for kept in told.kept)
    assert told.skipped == []
    (found,) = told.conversations
    assert (found.key, found.as_it_was, found.whole) == (NAME, True, True)


def test_a_whole_text_that_was_not_kept_is_none() -> None:
    episode = Episode(
        seq=1, ts="2026-02-27T10:15:00.000000Z", id="x", role="tool_result", payload="ab", cut=9
    )
    assert read(OWN, as_json(NAME, [episode], lambda _: None)).kept[0].whole is None


def test_what_is_no_session_of_ours_is_skipped() -> None:
    bad = {"engramdown": 1, "session": "../x", "episodes": []}
    told = read(OWN, bad, {"engramdown": 1}, 5, bad | {"session": "x", "episodes": [{}, "x"]})
    assert told.kept == []
    assert told.reasons == ["is not a session of engramdown!"] * 3 + ["is not an episode!"] * 2
