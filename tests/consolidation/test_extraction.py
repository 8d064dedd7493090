"""What is learned from a user's words without a model."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.consolidation.corrections import MOST, extract
from engramdown.consolidation.sentences import LONGEST
from engramdown.engram import Engram
from engramdown.language.words import word_set
from tests.corpora.statements import CORPORA, corpus
from tests.tables import every

NEW: Final = ("latest", "last", "held_out")
TUNED: Final = tuple(name for name in CORPORA if name not in NEW)
# Words that forms are made of, and what hides them, put together at random.
WORDS: Final = word_set(
    "always never when I ask , use uv not pip . ! ? : ; - and but so no instead remember that my "
    "name is Ada I'm a nurse in CET prefer tabs don't again from now on the rule here we call me "
    "she said if ` ``` ~~~ \" ' “ ” « » > <b> </b> <!-- --> ( ) # $ immer nie toujours siempre "
    "İ ß 日本 e.g. Dr. 1. * this everywhere please ok can you"
)
PIECES: Final = (*sorted(WORDS), "\n", "\n\n", "\t", "\ue000", "\ud800", "    ")
any_talk: Final = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)
)


def _said(text: str) -> list[tuple[str, str]]:
    return [(engram.kind, engram.text) for engram in extract(text)]


def _outcome(name: str) -> tuple[int, int, int, int]:
    """Return how many sure memories are right and wrong, and how many statements are found."""
    right = wrong = found = missed = 0
    for message in corpus(name):
        engrams = extract(message.text)
        sure = [engram for engram in engrams if not engram.unsure]
        good = sum(any(one.fits(engram) for one in message.expected) for engram in sure)
        seen = sum(any(map(one.fits, engrams)) for one in message.expected)
        right, wrong = right + good, wrong + len(sure) - good
        found, missed = found + seen, missed + len(message.expected) - seen
    return right, wrong, found, missed


class TestEngrams:
    """What a statement becomes."""

    def test_what_is_learned_is_told_by_the_user_and_points_at_its_line(self) -> None:
        assert extract("Never push to main!", origin="s#4") == [
            Engram(
                "Never push to main",
                "never",
                "project",
                "high",
                source="user",
                basis="told",
                origin="s#4",
            )
        ]

    @pytest.mark.parametrize(
        "text, scope",
        [
            pytest.param("I prefer tabs.", "global", id="about-the-user"),
            pytest.param("Always use uv.", "project", id="a-rule"),
            pytest.param("Always use uv, in all my projects.", "global", id="everywhere"),
            pytest.param("Remember that CI takes 9 minutes.", "project", id="a-lesson"),
        ],
    )
    def test_what_is_about_the_user_or_said_of_every_project_is_global(
        self, text: str, scope: str
    ) -> None:
        assert [engram.scope for engram in extract(text)] == [scope]

    @pytest.mark.parametrize(
        "text, confidence",
        [
            pytest.param("Always use uv.", "high", id="an-order"),
            pytest.param("My name is Ada.", "high", id="a-fact"),
            pytest.param("I prefer tabs.", "medium", id="a-preference"),
            pytest.param("No, use pnpm instead.", "low", id="a-correction"),
        ],
    )
    def test_the_form_says_how_sure_it_is(self, text: str, confidence: str) -> None:
        assert [engram.confidence for engram in extract(text)] == [confidence]

    @pytest.mark.parametrize("via", ["tool", "web"])
    def test_what_came_through_a_tool_or_the_web_teaches_nothing(self, via: str) -> None:
        assert extract("Always use uv.", via=via) == []

    def test_a_thing_that_is_said_twice_is_learned_once(self) -> None:
        assert _said("Always use uv. I mean it: always use UV!") == [("always", "Always use uv")]

    def test_a_message_brings_so_many_at_most(self) -> None:
        rules = [f"Always use tool{number}." for number in range(MOST + 5)]
        assert len(extract(" ".join(rules))) == MOST


class TestLabelledMessages:
    """The messages that were labelled by hand."""

    # A change of these figures is a change of what docs/sleep.md may say: benchmarks/extraction.py.
    @pytest.mark.parametrize("name", NEW)
    def test_of_new_messages_most_is_learned_and_little_that_is_not_stated(self, name: str) -> None:
        right, wrong, found, missed = _outcome(name)
        assert right / (right + wrong) >= 0.93
        assert found / (found + missed) >= 0.9

    @pytest.mark.parametrize("name", TUNED)
    def test_the_forms_do_on_what_they_were_tuned_on_as_they_did(self, name: str) -> None:
        right, wrong, found, missed = _outcome(name)
        assert right / (right + wrong) >= 0.93
        assert found / (found + missed) >= 0.9

    @every("name", CORPORA)
    def test_at_least_two_in_five_messages_state_nothing(self, name: str) -> None:
        lures = [message for message in corpus(name) if not message.expected]
        assert all(message.lure for message in lures)
        assert len(lures) >= 0.4 * len(corpus(name))

    def test_no_message_stands_in_two_files(self) -> None:
        texts = [message.text for name in CORPORA for message in corpus(name)]
        assert len(texts) == len(set(texts))


class TestLaws:
    """What holds for any string."""

    @given(any_talk)
    def test_any_string_may_be_said(self, text: str) -> None:
        for engram in extract(text):
            assert len(engram.text) <= LONGEST + 20

    @example("verwende<b>immer")
    @example("remember that ß 0")
    @example('EVERYWHERE IF"\r"')
    @example("0;A0! NO/")
    @given(any_talk)
    def test_a_memory_is_a_piece_of_what_was_said_behind_a_word_of_ours(self, text: str) -> None:
        said = " ".join(text.encode(errors="ignore").decode().split())
        for engram in extract(text):
            words = {engram.text, engram.text[0].lower() + engram.text[1:]}
            for label in ("Always ", "Never "):
                words.add(engram.text.removeprefix(label))
            if engram.kind == "profile":
                words.add(engram.text.partition(": ")[2])
            folded = {" ".join(each.split()) for each in words}
            # What was corrected is made of two pieces.
            is_mended = {*re.findall(r"\w+", engram.text)} <= {*re.findall(r"\w+", said)}
            is_piece = any(piece and piece in said for piece in folded)
            assert is_piece or is_mended, (engram.text, said)

    @given(any_talk, st.sampled_from(["```", "~~~"]))
    def test_nothing_comes_out_of_a_fence(self, text: str, fence: str) -> None:
        inside = text.replace("```", "").replace("~~~", "")
        assert extract(f"{fence}\n{inside}\n{fence}") == []

    @example("! PREFER B<!--")
    @given(any_talk)
    def test_nothing_comes_out_of_a_quotation(self, text: str) -> None:
        inside = "".join(char for char in text if char not in '"\n“”')[:300]
        assert extract(f'"{inside}"') == []
        assert extract(f"> {inside}") == []

    @given(any_talk)
    def test_nothing_comes_out_of_a_tag(self, text: str) -> None:
        inside = text.replace("<", "").replace(">", "")
        assert extract(f"<tool_result>{inside}</tool_result>") == []

    @given(any_talk)
    def test_the_same_words_teach_the_same(self, text: str) -> None:
        assert extract(text) == extract(text)

    @given(st.sampled_from(PIECES), st.integers(1, 400))
    def test_no_word_makes_it_slow_however_often_it_is_said(self, piece: str, often: int) -> None:
        extract(f"{piece} " * often)
        extract(piece * often)
