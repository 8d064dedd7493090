"""A compaction in a dry run chooses what a real one would, and leaves no trace."""

from __future__ import annotations

import pytest

from engramdown.conversation.conversation import MODES, Conversation, Mode
from engramdown.errors import SessionNotFoundError
from tests.conftest import Opening
from tests.conversation.test_summarize import files
from tests.cortex.conversation.lineages import deep, say
from tests.cortex.conversation.talks import SESSION, Summariser, talk


def shape(conversation: Conversation, mode: Mode, *, dry_run: bool) -> list[tuple[object, ...]]:
    """Return what is summarised, in order."""
    done = conversation.compact(mode, dry_run=dry_run)
    return [
        (gist.form, gist.depth, gist.messages, gist.earliest, gist.latest) for gist in done.gists
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rounds", [0, 1, 9])
def test_it_chooses_what_a_compaction_would_choose(
    opened: Opening, mode: Mode, rounds: int
) -> None:
    model = Summariser(lambda *_: "word " * 10)
    cortex = opened(model, "[conversation]\nmax_tokens = 200\n")
    deep(cortex, rounds)
    conversation = talk(cortex, 12)
    asked, before = len(model.asked), files(cortex)
    told = shape(conversation, mode, dry_run=True)
    assert told == shape(conversation, mode, dry_run=True)
    assert (len(model.asked), files(cortex)) == (asked, before)
    assert told == shape(conversation, mode, dry_run=False)
    assert told


def test_it_tells_what_a_summary_may_cost_and_says_nothing(opened: Opening) -> None:
    done = talk(opened(), 20).compact(dry_run=True)
    (gist,) = done.gists
    assert (gist.messages, gist.text, gist.sources) == (60, "", tuple(range(1, 61)))
    assert gist.tokens == gist.source_tokens // 3
    assert done.tokens_after < done.tokens_before
    assert not done.reload_required
    assert done.messages == 60


def test_summaries_of_summaries_are_in_a_dry_run_too(opened: Opening) -> None:
    cortex = opened(Summariser(), "[conversation]\nmax_tokens = 60\n")
    conversation = deep(cortex, 2)
    talk(cortex, 12)
    done = conversation.compact("full", tail=0, dry_run=True)
    assert [gist.form for gist in done.gists] == ["leaf", "condensed"]
    assert done.gists[1].sources[-1] == done.gists[0].id


def test_a_tail_is_left_alone(opened: Opening) -> None:
    conversation = talk(opened(), 20)
    assert conversation.compact(tail=60, dry_run=True).messages == 20
    assert conversation.compact(tail=80, dry_run=True).reason
    with pytest.raises(ValueError, match="tail is -1"):
        conversation.compact(tail=-1, dry_run=True)
    with pytest.raises(ValueError, match="'nap' is not a mode"):
        conversation.compact("nap", dry_run=True)  # type: ignore[arg-type]


def test_nothing_to_do_is_told(opened: Opening) -> None:
    cortex = opened()
    say(cortex, "Hello")
    done = cortex.conversations.get(SESSION).compact(dry_run=True)
    assert (done.gists, done.failed) == ((), False)
    assert done.reason
    with pytest.raises(SessionNotFoundError):
        cortex.conversations.get("none").compact(dry_run=True)


def test_the_old_name_of_a_dry_run_warns(opened: Opening) -> None:
    conversation = talk(opened(), 20)
    with pytest.warns(DeprecationWarning, match="compact\\(dry_run=True\\)"):
        assert conversation.rehearse().messages == conversation.compact(dry_run=True).messages
