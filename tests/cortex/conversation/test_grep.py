"""Every word is found where it was said, whatever summaries stand for it."""

from __future__ import annotations

import pytest

from engramdown.conversation.conversation import Conversation
from engramdown.conversation.lookup import SCOPES, Found, Scope
from tests.conftest import Opening
from tests.cortex.conversation.lineages import EMOJI, covered, deep, say
from tests.cortex.conversation.talks import SESSION, Summariser
from tests.tables import every


@pytest.fixture
def conversation(opened: Opening) -> Conversation:
    """Talk for so long that summaries are three deep and more."""
    return deep(opened(Summariser()))


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("100% sure", "100%"),
        ("a_b", "_"),
        ("all of *this*", "*this*"),
        ('he said "no"', '"no"'),
        ("back\\slash", "k\\s"),
        ("two\nlines", "two\nlines"),
        (f"a family {EMOJI} here", EMOJI),
        ("昨日は東京に行った", "東京"),
        ("Straße", "STRASSE"),
        ("x" + "needle " * 800, "needle " * 700),
        ("(unclosed [", "(unclosed ["),
        ("NOT AND OR a-b a:b", "AND OR a-b a:b"),
        ("-", "-"),
    ],
    ids=lambda text: str(text)[:12],
)
def test_a_pattern_is_looked_for_as_it_stands(opened: Opening, text: str, pattern: str) -> None:
    conversation = covered(opened(Summariser()), "nothing", text, "nothing else")
    (hit,) = conversation.grep(pattern)
    (gist,) = conversation.gists
    assert (hit.source, hit.gist, hit.role) == (2, gist.id, "user")
    if len(pattern) <= 500:
        assert pattern.casefold() in hit.snippet.casefold()
    assert len(hit.snippet) <= 520


@pytest.mark.parametrize("pattern", ["%", "_", "*", "?", "x" * 5_000, "東", ".", "^", "Question_1"])
def test_nothing_stands_for_anything_else(opened: Opening, pattern: str) -> None:
    conversation = covered(opened(Summariser()), "plain")
    assert [hit for hit in conversation.grep(pattern) if hit.role != "leaf"] == []


@every("pattern", ["", " ", "\n\t", "\u3000"])
def test_nothing_is_found_for_nothing(conversation: Conversation, pattern: str) -> None:
    assert conversation.grep(pattern) == []


def test_the_newest_is_found_first(conversation: Conversation) -> None:
    hits = conversation.grep("Question", "messages")
    seqs = [hit.source for hit in hits]
    assert len(hits) == 20
    assert seqs[0] == 17 * 12 - 3
    assert seqs == sorted(seqs, key=lambda source: -int(source))


@every("limit", [0, -1, -100])
def test_no_limit_is_twenty(conversation: Conversation, limit: int) -> None:
    assert conversation.grep("Question", limit=limit) == conversation.grep("Question")
    assert len(conversation.grep("Question", limit=limit)) == 20


def test_a_limit_is_that_of_messages_and_summaries_together(opened: Opening) -> None:
    conversation = deep(opened(Summariser(lambda number, _: f"Question {number} and more")), 6)
    assert len(conversation.grep("Question", limit=500)) > 18 + 6
    for limit in (1, 5, 20, 21):
        assert len(conversation.grep("Question", limit=limit)) == limit
    kinds = {isinstance(hit.source, str) for hit in conversation.grep("Question")}
    assert kinds == {True, False}


@every("scope", SCOPES)
def test_a_scope_is_kept_to(conversation: Conversation, scope: Scope) -> None:
    found = conversation.grep("1", scope, 1_000)
    kinds = {isinstance(hit.source, str) for hit in found}
    wanted = {"both": {True, False}, "messages": {False}, "summaries": {True}}
    assert kinds == wanted[scope]


def test_an_unknown_scope_is_refused(conversation: Conversation) -> None:
    with pytest.raises(
        ValueError, match="'all' is not a scope; use one of both, messages, summaries"
    ):
        conversation.grep("x", "all")  # type: ignore[arg-type]


def test_a_hit_says_which_summary_stands_for_it(conversation: Conversation) -> None:
    say_last = conversation.grep("Question 51")[0]
    first = next(hit for hit in conversation.grep("Question 1", limit=99) if hit.source == 1)
    assert say_last.gist == ""
    assert 1 in conversation.describe(first.gist).gist.sources
    above = [hit for hit in conversation.grep("Summary", "summaries", 99) if hit.gist]
    assert all(str(hit.source) in _sources(conversation, hit) for hit in above)


def _sources(conversation: Conversation, hit: Found) -> list[str]:
    return [str(source) for source in conversation.describe(hit.gist).gist.sources]


def test_a_snippet_holds_the_hit_wherever_it_stands(opened: Opening) -> None:
    for at in (0, 300, 600, 5_000):
        text = "x " * (at // 2) + "needle" + " y" * 3_000
        conversation = covered(opened(Summariser()), text)
        hit = conversation.grep("needle")[0]
        assert "needle" in hit.snippet
        assert len(hit.snippet) <= 502


def test_a_snippet_cuts_no_joined_emoji(opened: Opening) -> None:
    conversation = covered(opened(Summariser()), EMOJI * 100 + "needle" + EMOJI * 100)
    (hit,) = conversation.grep("needle")
    assert hit.snippet.strip("…").replace("needle", "").replace(EMOJI, "") == ""


def test_the_part_that_a_line_shows_cut_is_found_and_given_whole(opened: Opening) -> None:
    cortex = opened(Summariser())
    whole = "x" * 3_000 + " needle " + "y" * 3_000
    say(cortex, "Go")
    say(cortex, whole, role="tool_result")
    conversation = covered(cortex)
    (hit,) = conversation.grep("needle")
    assert (hit.source, "needle" in hit.snippet) == (2, True)
    given_back = conversation.expand(hit.gist)
    assert [item.text for item in given_back.items][1] == whole


def test_what_a_tool_only_repeated_is_marked_so(opened: Opening) -> None:
    cortex = opened(Summariser())
    say(cortex, "The needle is in the hay")
    assert cortex.episodes is not None
    log = cortex.episodes.log
    log(SESSION, "tool_call", '{"pattern": "needle"}', name="grep", call="c1")
    log(SESSION, "tool_result", "needle in hay", name="grep", call="c1", recalled=(f"{SESSION}#1",))
    log(SESSION, "tool_call", "needle", name="grep", call="c1")
    log(SESSION, "tool_result", "haystack.txt: needle", name="grep", call="c1")
    found = {hit.source: hit.echo for hit in cortex.conversations.get(SESSION).grep("needle")}
    assert found == {1: False, 2: True, 3: True, 4: False, 5: False}
