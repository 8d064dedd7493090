"""A summary of a conversation by rules."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.consolidation.extractive import (
    HANDOFF,
    HEADINGS,
    NO_FILES,
    SUMMARY,
    Part,
    extract,
    hand_over,
)
from engramdown.engram import fold
from engramdown.language.untrusted import inert
from engramdown.tokens import estimate_tokens
from tests.strategies import any_text
from tests.tables import every

ROOM: Final = 10_000
SPEAKERS: Final = (
    "user", "assistant", "tool_call", "tool_result", "scratchpad", "system", SUMMARY, "other",
)  # fmt: skip
PIECES: Final = (
    "Let's use uv 0.5 instead of pip.",
    "We decided on SQLite.",
    "Wir nehmen Postgres.",
    "Der Port soll 80 sein.",
    "Never push to main!",
    "Why?",
    "TODO: rotate keys",
    "see src/app.py:3",
    "ValueError: bad",
    "It costs $40 a month",
    "日本語で 3 行。",
    '{"file_path": "a/b.py", "cmd": "cat c.md"}',
    "```\nlet's use 9\n```",
    "x" * 300,
    "[cut here: expand it for the rest]",
    *("```", "Decisions:", "- a", "## Key Decisions", "Files: none", "Goal: x", "**Next Steps**"),
    *("* b 2", "Traceback", "\n", "\n\n", "\u3002", "\ud800", "\u2028", "\x1b[31m", "none", "Hm"),
    *("no", "Yes.", "...", "🙂 5", "- - x", "# Facts"),
)
talk: Final = st.lists(
    st.builds(
        Part,
        speaker=st.sampled_from(SPEAKERS),
        text=st.one_of(
            st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join),
            st.lists(st.sampled_from(PIECES), max_size=8).map("\n".join),
            any_text,
        ),
        name=st.sampled_from(["", "shell", "recall"]),
        error=st.booleans(),
    ),
    max_size=8,
)


def _lines(text: str) -> dict[str, list[str]]:
    """Return the lines of a summary by their headings."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in text.split("\n"):
        if line.startswith("- "):
            found[heading].append(line[2:])
        elif line and line != NO_FILES:
            heading = line.removesuffix(":")
            found[heading] = []
    return found


def _told(*parts: Part) -> dict[str, list[str]]:
    return _lines(extract(parts, ROOM))


class TestLaws:
    """Whatever is said."""

    @given(talk, st.integers(0, 120))
    def test_it_never_costs_more_than_it_may(self, parts: list[Part], target: int) -> None:
        assert estimate_tokens(extract(parts, target)) <= target

    @given(talk)
    def test_it_has_known_headings_in_order_and_no_line_twice(self, parts: list[Part]) -> None:
        text = extract(parts, ROOM)
        found = _lines(text)
        places = [HEADINGS.index(heading) for heading in found]
        assert all(one < other for one, other in pairwise(places))
        assert all(found.values())
        lines = [fold(line) for heading in found for line in found[heading] if heading != "Files"]
        assert len(set(lines)) == len(lines)
        assert inert(text) == text

    @example([Part("user", "run a.md"), Part("user", "no")], 4)
    @given(talk, st.integers(0, 200))
    def test_a_summary_that_fits_comes_back_as_it_is(self, parts: list[Part], target: int) -> None:
        text = extract(parts, target)
        assert extract([Part(SUMMARY, text)], target) == text

    @given(talk, st.integers(0, 200))
    def test_less_room_leaves_lines_out_and_changes_none(
        self, parts: list[Part], target: int
    ) -> None:
        whole, less = _lines(extract(parts, ROOM)), _lines(extract(parts, target))
        for heading, lines in less.items():
            there = iter(whole[heading])
            assert all(line in there for line in lines)

    @given(talk)
    def test_two_who_summarise_write_the_same(self, parts: list[Part]) -> None:
        assert extract(parts, 60) == extract(tuple(parts), 60)


class TestWhatIsTold:
    """Each kind of thing, under its heading."""

    @pytest.mark.parametrize(
        "parts", [[], [Part("user", "")], [Part("assistant", " \n```\n2\n```")]]
    )
    def test_nothing_gives_nothing(self, parts: list[Part]) -> None:
        assert extract(parts, ROOM) == ""
        assert extract([Part("user", "Use uv 3.")], 0) == ""

    def test_what_was_asked_first_stays_and_then_what_was_asked_last(self) -> None:
        asked = [f"Please write chapter {word}" for word in ("one", "two", "three", "four")]
        text = extract([Part("user", each) for each in asked], 24)
        assert _lines(text) == {"Asked": [asked[0], asked[3]]}

    def test_what_was_asked_first_gives_way_if_it_would_fill_the_summary(self) -> None:
        asked = Part(
            "user", "I wonder how one writes a chapter about tea and all that belongs to it"
        )
        text = extract([asked, Part("user", "Never mention coffee.")], 30)
        assert _lines(text) == {"Decisions": ["Never mention coffee."]}

    def test_decisions_are_those_of_both_sides(self) -> None:
        found = _told(
            Part("user", "Let's use uv. I like it."),
            Part("assistant", "We'll keep `pip` for CI. It is slow."),
            Part("user", "Wir nehmen Python drei. No, the other one!"),
        )
        assert found["Decisions"] == [
            "Let's use uv.",
            "We'll keep `pip` for CI.",
            "Wir nehmen Python drei.",
            "No, the other one!",
        ]

    def test_an_answer_stands_with_its_question(self) -> None:
        found = _told(
            Part("user", "Set up the database"),
            Part("assistant", "Shall I use Postgres?"),
            Part("user", "Yes, please."),
            Part("assistant", "Done. Which port?"),
            Part("user", "8081"),
            Part("user", "Who pays for it?"),
            Part("assistant", "Maria does."),
        )
        assert found["Decisions"] == ["Shall I use Postgres? Yes, please.", "Which port? 8081"]
        assert found["Facts"] == ["Who pays for it? Maria does."]
        assert found["Asked"] == ["Set up the database", "Who pays for it?"]

    def test_a_nod_tells_nothing(self) -> None:
        assert _told(Part("user", "Ok, thanks!"), Part("assistant", "Great.")) == {}
        found = _told(Part("user", "Is it on?"), Part("assistant", "Sure. It is on port 80."))
        assert found == {"Asked": ["Is it on?"], "Facts": ["It is on port 80."]}

    def test_what_code_and_quotations_say_is_not_decided(self) -> None:
        found = _told(
            Part("assistant", "The page says \"let's use 9 of them\".\n```\nlet's use 8\n```")
        )
        assert found == {"Facts": ['The page says "let\'s use 9 of them".']}

    def test_text_of_a_tool_is_data(self) -> None:
        said = "We decided to use 9 of them. TODO: all. Never push! see a.py?"
        assert _told(Part("tool_result", said, "web")) == {}
        found = _told(Part("tool_result", said, "web", error=True))
        assert list(found) == ["Errors"]

    def test_what_memory_brought_in_is_passed_over(self) -> None:
        for name in ("recall", "mcp__engramdown__recall"):
            call = Part("tool_call", '{"path": "a.py"}', name)
            assert _told(call, Part("tool_result", "no such thing", name, error=True)) == {}

    def test_words_of_a_system_are_passed_over(self) -> None:
        assert _told(Part("system", "Never say 5."), Part("other", "Use 6.")) == {}

    def test_files_are_those_mentioned_and_those_of_calls(self) -> None:
        found = _told(
            Part("user", "Look at src/a.py."),
            Part("assistant", "It needs b.toml, see src/a.py:3."),
            Part("tool_call", '{"file_path": "c/d", "content": "e.py", "limit": 5}', "write"),
            Part("tool_call", '{"paths": ["f.md", 4], "command": "cat g.md | h"}', "shell"),
            Part("tool_call", '{"path": ".", "file": ""}', "list"),
            Part("tool_call", "cat i.txt", "shell"),
            Part("scratchpad", "open('j.txt')", "pad"),
        )
        assert found["Files"] == ["b.toml", "src/a.py", "c/d", "f.md", "g.md", "i.txt"]

    def test_that_there_are_no_files_is_said(self) -> None:
        text = extract([Part("user", "Fix uv 0.5 in Python"), Part("assistant", "It is 5 MB.")], 99)
        assert text == f"Asked:\n- Fix uv 0.5 in Python\n{NO_FILES}\nFacts:\n- It is 5 MB."

    @every(
        "output, line",
        [
            ("no such file\n\n", "no such file"),
            ("a: not found\nexit code 127\n", "a: not found"),
            ("Command failed\n\n---\n", "---"),
            ("Traceback (…):\n  File x\nKeyError: 'b'\n[exit 1]", "KeyError: 'b'"),
            ("E   ValueError: bad\n1 failed in 3s", "ValueError: bad"),
            ('{"stderr": "one\\ntwo", "stdout": "x"}', "two"),
            ('{"error": true}', '{"error": true}'),
        ],
    )
    def test_of_what_failed_the_line_that_says_why(self, output: str, line: str) -> None:
        found = _told(Part("tool_result", output, "sh", error=True))
        assert found == {"Errors": [f"sh: {line}"]}

    def test_an_exception_is_seen_where_nobody_says_that_it_failed(self) -> None:
        trace = "Traceback (most recent call last):\n  File x\na.b.SomeError: no"
        assert _told(Part("tool_result", trace)) == {"Errors": ["a.b.SomeError: no"]}
        assert _told(Part("tool_result", "Traceback of 1 packet")) == {}
        assert _told(Part("tool_result", "SomeError: raised if it is wrong")) == {}
        assert _told(Part("scratchpad", "1/0\nZeroDivisionError: x", error=True)) == {
            "Errors": ["ZeroDivisionError: x"]
        }
        assert _told(Part("tool_result", "", "sh", error=True)) == {}

    def test_exceptions_that_somebody_names_are_errors(self) -> None:
        found = _told(
            Part("assistant", "It raises KeyError in 3 places. A PoolException of Django is next.")
        )
        assert found["Errors"] == [
            "It raises KeyError in 3 places.",
            "A PoolException of Django is next.",
        ]

    def test_questions_are_open_until_the_other_side_speaks(self) -> None:
        asked = Part("user", "Start. Who owns the cluster in Berlin?")
        assert _told(asked)["Questions"] == ["Who owns the cluster in Berlin?"]
        assert "Questions" not in _told(asked, Part("assistant", "Ada does, I think so."))
        ours = Part("assistant", "Hello there. Which one of the two do you want?")
        assert _told(asked, ours)["Questions"] == ["Which one of the two do you want?"]
        assert "Questions" not in _told(ours, asked._replace(text="Neither of them, I am afraid."))

    def test_what_is_to_be_done_is_open_whoever_speaks(self) -> None:
        found = _told(
            Part("user", "Hi. TODO: the logo."), Part("assistant", "Still to do: 3 pages.")
        )
        assert found["Questions"] == ["TODO: the logo.", "Still to do: 3 pages."]

    def test_facts_with_numbers_go_before_others(self) -> None:
        said = Part("user", "Hi. The sky is blue over the river. The limit is 40 MB. That is fine.")
        assert _told(said)["Facts"] == [
            "The sky is blue over the river.",
            "The limit is 40 MB.",
        ]
        assert _lines(extract([said], 17))["Facts"] == ["The limit is 40 MB."]

    def test_what_a_user_states_goes_before_all(self) -> None:
        said = Part("user", "Hi. I saw 4 of 5 fail. My name is Ada. Always run ruff first.")
        found = _told(said)
        assert found["Decisions"] == ["Always run ruff first."]
        assert found["Facts"] == ["I saw 4 of 5 fail.", "My name is Ada."]
        assert "I saw" not in extract([said], 26)
        assert "Ada" in extract([said], 26)

    def test_an_assistant_tells_what_has_a_name_or_a_number(self) -> None:
        found = _told(Part("assistant", "I think that is it. The job is called `sync_all` there."))
        assert found == {"Facts": ["The job is called `sync_all` there."]}

    def test_the_same_words_stand_once_where_they_are_newest(self) -> None:
        found = _told(
            Part("user", "Let's use uv."),
            Part("assistant", "Done: 5 of 6."),
            Part("user", "Hm. let's use UV"),
            Part("user", "Let's use tox."),
        )
        assert found["Decisions"] == ["let's use UV", "Let's use tox."]

    def test_a_secret_is_hidden(self) -> None:
        key = "ghp_" + "A1b2C3d4E5" * 4
        parts = [
            Part("user", f"Use the token {key} for it."),
            Part("tool_call", f'{{"path": "/x/{key}/a.py"}}', "read"),
            Part("tool_call", f"cat /y/{key}/b.py", "read"),
            Part("tool_result", f"denied: {key}", "sh", error=True),
            Part(SUMMARY, f"Facts:\n- it is {key}"),
        ]
        text = extract(parts, ROOM)
        assert key not in text
        assert text.count("[redacted: GitHub token]") >= 3

    def test_a_long_sentence_is_cut(self) -> None:
        [line] = _told(Part("user", "Use it in " + "many words " * 40))["Decisions"]
        assert len(line) <= 240
        assert line.endswith(("many\u2026", "words\u2026"))
        [line] = _told(Part("tool_result", "x" * 9000, error=True))["Errors"]
        assert line == "x" * 239 + "\u2026"

    def test_sentences_end_in_chinese_too(self) -> None:
        found = _told(Part("user", "端口是8081。数据库在第2台。谁负责\uff1f"))
        assert found["Asked"] == ["端口是8081。"]
        assert found["Facts"] == ["数据库在第2台。"]
        assert found["Questions"] == ["谁负责\uff1f"]


class TestSummaries:
    """What earlier summaries tell is taken in."""

    def test_lines_are_put_under_the_same_headings(self) -> None:
        one = extract(
            [Part("user", "Fix a.py. Let's use uv."), Part("assistant", "It is 1.2.")], 99
        )
        two = extract([Part("user", "Fix b.py. Let's use tox."), Part("assistant", "It is 3.")], 99)
        found = _told(Part(SUMMARY, one), Part(SUMMARY, two))
        assert found == {
            "Asked": ["Fix a.py.", "Fix b.py."],
            "Decisions": ["Let's use uv.", "Let's use tox."],
            "Files": ["a.py", "b.py"],
            "Facts": ["It is 1.2.", "It is 3."],
        }

    def test_a_summary_of_a_model_is_read_by_its_headings(self) -> None:
        text = (
            "Ada builds a shop. It has 3 pages.\n\n## Goal\nSell tea.\n**Key Decisions:**\n"
            "1. Use Django\n* No Redis\nFiles: none\n### Blockers and Gotchas\n- CI is red\n"
            "Next Steps: write docs\nSomething else:\nmore\nExpand for details about: tea\n"
            "[cut here: expand it for the rest]"
        )
        assert _told(Part(SUMMARY, text)) == {
            "Asked": ["Sell tea."],
            "Decisions": ["Use Django", "No Redis"],
            "Errors": ["CI is red"],
            "Questions": ["write docs", "Something else:", "more"],
            "Facts": ["Ada builds a shop.", "It has 3 pages."],
        }

    def test_its_questions_are_open_until_an_assistant_speaks(self) -> None:
        old = Part(SUMMARY, "Questions:\n- Who pays?\n- TODO: docs")
        assert _told(old)["Questions"] == ["Who pays?", "TODO: docs"]
        assert _told(old, Part("assistant", "I do."))["Questions"] == ["TODO: docs"]

    def test_the_first_thing_that_was_asked_outlives_them_all(self) -> None:
        text = extract([Part("user", "Build the shop for Ada"), Part("assistant", "Yes.")], 99)
        for turn in range(30):
            said = Part("user", f"Write page {turn}")
            text = extract([Part(SUMMARY, text), said, Part("assistant", f"Made page {turn}.")], 40)
        found = _lines(text)
        assert found["Asked"][0] == "Build the shop for Ada"
        assert found["Asked"][-1] == "Write page 29"
        assert found["Facts"][-1] == "Made page 29."


class TestHandOver:
    """For somebody who has not read any of it."""

    @given(talk, st.integers(0, 300))
    def test_it_has_all_headings_in_order_and_costs_no_more_than_it_may(
        self, parts: list[Part], target: int
    ) -> None:
        text = hand_over(parts, target)
        assert estimate_tokens(text) <= target
        assert inert(text) == text
        if "## Goal" in text:
            headings = [line[3:] for line in text.split("\n") if line.startswith("## ")]
            assert tuple(headings) == HANDOFF
        whole = hand_over(parts, ROOM)
        assert whole.startswith("## Goal\n- ") or not extract(parts, ROOM)
        assert sorted(_items(whole)) == sorted(
            item for lines in _lines(extract(parts, ROOM)).values() for item in lines
        )

    def test_each_thing_stands_where_somebody_looks_for_it(self) -> None:
        text = hand_over(
            [
                Part("user", "Please move the parser to src/parse.py."),
                Part("assistant", "Python 3.11 is installed. The suite takes 40 seconds."),
                Part("tool_result", "ValueError: bad token 7", "shell", error=True),
                Part("user", "Please write tests for it. Let's use pytest 8, not unittest."),
                Part("assistant", "The port is 8017. The tests pass in 3 seconds."),
                Part("user", "Which version do we release?"),
            ],
            ROOM,
        )
        told = {
            part.split("\n")[0]: part.split("\n")[1:]
            for part in text.removeprefix("## ").split("\n## ")
        }
        assert tuple(told) == HANDOFF
        assert told["Goal"] == ["- Please move the parser to src/parse.py."]
        assert told["Files Changed"] == ["- src/parse.py"]
        assert told["Blockers and Gotchas"] == ["- shell: ValueError: bad token 7"]
        assert told["Key Decisions"] == ["- Let's use pytest 8, not unittest."]
        assert told["Next Steps"] == ["- Which version do we release?"]
        assert told["Current State"] == [
            "- The suite takes 40 seconds.",
            "- The port is 8017.",
            "- The tests pass in 3 seconds.",
        ]
        assert told["Progress"] == [
            "- Python 3.11 is installed.",
            "- Please write tests for it.",
        ]

    def test_what_is_empty_is_said_to_be(self) -> None:
        text = hand_over([Part("user", "Please sing.")], ROOM)
        assert text.count("- (none)") == len(HANDOFF) - 1
        assert hand_over([Part("user", "")], ROOM) == ""
        # It is nothing that a summary of it would tell again.
        assert extract([Part(SUMMARY, text)], ROOM) == "Asked:\n- Please sing.\nFiles: none"

    def test_less_room_leaves_lines_out_and_no_heading(self) -> None:
        said = [Part("user", f"We never ship on day {day} of the month.") for day in range(40)]
        text = hand_over(said, 200)
        assert [line[3:] for line in text.split("\n") if line.startswith("## ")] == [*HANDOFF]
        assert 3 < len(_items(text)) < 40
        assert estimate_tokens(text) <= 200

    def test_without_room_for_the_headings_the_short_form_is_told(self) -> None:
        parts = [Part("user", "Please move it to src/app.py.")]
        assert hand_over(parts, 30) == extract(parts, 30)


def _items(text: str) -> list[str]:
    return [line[2:] for line in text.split("\n") if line.startswith("- ") and line != "- (none)"]
