"""How a summary is shown."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from engramdown.consolidation.summaries import format_summary
from engramdown.conversation.view import ends
from engramdown.transcripts.summary_log import Gist
from tests.consolidation.view_laws import fold

_MADE = "2026-03-01T10:15:00.000000Z"


def test_whatever_a_summary_says_it_is_xml_that_nobody_takes_for_words_of_today() -> None:
    gist = Gist('g"1', _MADE, "leaf", 0, (1,), "a\ufffe\uffff\0\ud800]]>&</summary>", 4)
    text = format_summary(gist, "s1")
    assert 'status="historical" trust="untrusted"' in text
    assert ET.fromstring(text).get("id") == "g'1"  # noqa: S314


def test_a_summary_knows_the_first_and_last_message_that_it_covers() -> None:
    inner = Gist("g1", _MADE, "leaf", 0, (3, 4), "", 0)
    outer = Gist("g2", _MADE, "condensed", 1, ("g1", 5), "", 0)
    view = fold([3, 4, 5], [inner, outer])
    assert ends(view.gists, 3) == (3, 3)
    assert ends(view.gists, "g2") == (3, 5)
