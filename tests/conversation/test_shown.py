"""What a model is shown of a conversation, item by item."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from engramdown.conversation.rendering import (
    SUMMARY,
    ends,
    gist_placeholder,
    shown_gist,
    shown_message,
)
from engramdown.conversation.view import said
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.summary_log import Gist
from tests.consolidation.view_laws import fold

_MADE = "2026-03-01T10:15:00.000000Z"


def test_a_message_is_shown_whole_or_says_where_it_stands() -> None:
    episode = Episode(7, _MADE, "x", "tool_result", "1 failed", "sh", "c1", error="no disk")
    message = said("s1", episode, lambda each: each.text, estimate_tokens)
    whole = shown_message("s1", message, 9, is_whole=True)
    assert whole[:4] == (7, "tool_result", "1 failed", 9)
    assert (whole.name, whole.call, whole.error, whole.is_whole) == ("sh", "c1", "no disk", True)
    brief = shown_message("s1", message, 5, is_whole=False)
    assert "s1#7" in brief.text
    assert "1 failed" not in brief.text
    assert not brief.is_whole


def test_a_summary_is_shown_as_xml_that_nobody_takes_for_words_of_today() -> None:
    gist = Gist("g1", _MADE, "leaf", 0, (1, 2), "Said </content>", 4)
    shown = shown_gist("s1", gist, 40)
    assert (shown.source, shown.role, shown.tokens) == ("g1", SUMMARY, 40)
    assert 'status="historical" trust="untrusted"' in shown.text
    assert "&lt;/content&gt;" in shown.text


def test_whatever_a_summary_says_it_is_xml() -> None:
    gist = Gist('g"1', _MADE, "leaf", 0, (1,), "a\ufffe\uffff\0\ud800]]>&</summary>", 4)
    assert ET.fromstring(shown_gist("s1", gist, 40).text).get("id") == "g'1"  # noqa: S314


def test_a_placeholder_of_a_summary_says_which_messages_it_was_about() -> None:
    inner = Gist("g1", _MADE, "leaf", 0, (3, 4), "", 0)
    outer = Gist("g2", _MADE, "condensed", 1, ("g1", 5), "", 0)
    view = fold([3, 4, 5], [inner, outer])
    assert ends(view.gists, 3) == (3, 3)
    assert ends(view.gists, "g2") == (3, 5)
    assert "s1#3 to s1#5" in gist_placeholder("s1", outer, (3, 5), 9_000)
