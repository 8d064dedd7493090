"""What a page shows is decided by pure functions."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from engramdown.web import views

ENTRY: dict[str, Any] = {"id": "aaaaaaaa", "text": "Use pip here"}


def proposal(op: str = "encode", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has them
    """Return a proposal as the API gives it, as far as it is looked at here."""
    return {"op": op, "text": "Use uv here", "replaces": None, "takes": [], "similar": [], **more}


def step(
    op: str = "encode", by: str = "llm", *changes: tuple[str, str, Any, Any]
) -> dict[str, Any]:
    """Return a step with changes: id, file, before, after."""
    names = ("id", "file", "before", "after")
    found = [dict(zip(names, each, strict=True)) for each in changes]
    return {"id": f"{op}-{by}", "op": op, "by": by, "changes": found}


def marked(words: Any) -> str:  # noqa: ANN401 - pieces of text
    """Return pieces of a text with what went in brackets, and what came in braces."""
    signs = {"": "{}", "-": "[{}]", "+": "({})"}
    return "".join(signs[each.mark].format(each.text) for each in words)


class TestProposals:
    """What a proposal would change, and what it resembles."""

    def test_what_gives_way_comes_first(self) -> None:
        like = {"id": "bbbbbbbb", "text": "Use uv there"}
        shown = views.compared(proposal("replace", replaces=ENTRY, similar=[like, ENTRY]))
        assert [(each.entry["id"], each.how) for each in shown] == [
            ("aaaaaaaa", "replaces"),
            ("bbbbbbbb", "resembles"),
        ]
        assert marked(shown[0].words) == "Use [pip](uv) here"

    def test_what_would_be_forgotten_is_struck_whole(self) -> None:
        (only,) = views.compared(proposal("forget", replaces=ENTRY))
        assert (only.how, marked(only.words)) == ("forgets", "[Use pip here]()")

    @pytest.mark.parametrize(
        "op, line, brings",
        [("encode", 1, True), ("forget", 1, False), ("load", 3, True), ("load", 0, False)],
    )
    def test_some_bring_words(self, op: str, line: int, *, brings: bool) -> None:
        assert views.has_words(proposal(op, line=line)) is brings

    def test_steps_that_decided_are_found_in_each_scope(self) -> None:
        one = step("accept", "user", ("p1", "pending.md", "- [ ] a", None))
        other = step("accept", "user", ("p2", "pending.md", "- [ ] b", None))
        older = step("accept", "user", ("p1", "pending.md", "- [ ] a", None))
        foreign = step("encode", "llm", ("p1", "pending.md", "- [ ] a", None))
        assert views.steps_of(["p1", "p2"], [foreign, one, other, older]) == [one, other]


class TestSteps:
    """Steps as diffs."""

    def test_notes_are_beside_the_words(self) -> None:
        before, after = "- Use pip <!-- id:k pin:no -->\n", "- Use uv <!-- id:k pin:yes -->\n"
        (line,) = views.lines(step("update", "user", ("k", "lessons.md", before, after)))
        assert marked(line.words) == "- Use [pip](uv)"
        assert marked(line.notes) == "<!-- id:k pin:[no](yes) -->"

    def test_a_lesson_in_two_files_comes_once(self) -> None:
        raw = "- CI is slow <!-- id:k -->"
        twice = step(
            "encode", "llm", ("k", "lessons.md", None, raw), ("k", "topics/ci.md", None, raw)
        )
        (line,) = views.lines(twice)
        assert (line.file, marked(line.words)) == ("lessons.md", "(- CI is slow)")

    def test_what_is_retired_is_one_line(self) -> None:
        retired = step(
            "forget",
            "user",
            ("k", "archive.md", None, "- CI is slow <!-- id:k reason:forgotten -->"),
            ("k", "lessons.md", "- CI is slow <!-- id:k -->", None),
        )
        (line,) = views.lines(retired)
        assert (line.file, marked(line.words)) == ("lessons.md → archive.md", "[- CI is slow]")
        assert marked(line.notes) == "<!-- id:k (reason:forgotten )-->"

    def test_an_erased_line_says_so(self) -> None:
        erased = step("encode", "llm", ("k", "lessons.md", None, None))
        erased["changes"][0]["erased"] = True
        assert [each.erased for each in views.lines(erased)] == [True]

    def test_invisible_characters_are_seen(self) -> None:
        (line,) = views.lines(step("encode", "llm", ("k", "lessons.md", None, "- a\u202eb")))
        assert marked(line.words) == "(- a\u2039U+202E\u203ab)"

    def test_only_what_nobody_typed_was_learned(self) -> None:
        new = ("k", "lessons.md", None, "- a")
        ours = step("encode", "consolidation", new)
        waits = step("propose", "llm", ("k", "pending.md", None, "- [ ] a"))
        gone = step("compact", "consolidation", ("k", "lessons.md", "- a", None))
        assert views.learned([step("encode", "user", new), ours, waits, gone]) == [ours]


class TestTranscripts:
    """Lines of a transcript."""

    def test_a_result_stands_with_its_call(self) -> None:
        call = {"role": "tool_call", "call": "c1", "seq": 2}
        result = {"role": "tool_result", "call": "c1", "seq": 3}
        lone = {"role": "tool_result", "call": "c0", "seq": 1}
        begin = {"role": "event", "event": "start", "seq": 0}
        assert views.paired([begin, lone, call, result]) == [(lone, None), (call, result)]

    @pytest.mark.parametrize(
        "role, ts, runs",
        [
            ("user", "2026-11-26T10:09:00Z", True),
            ("tool_result", "2026-11-26T10:09:00Z", True),
            ("assistant", "2026-11-26T10:09:00Z", False),
            ("user", "2026-11-26T09:00:00Z", False),
        ],
    )
    def test_a_turn_ends_with_an_answer(self, role: str, ts: str, *, runs: bool) -> None:
        now = "2026-11-26T10:10:00Z"
        lines = [{"role": role, "ts": ts}]
        assert views.is_in_turn(lines, now) is runs
        # What memory notes of itself.
        assert views.is_in_turn([*lines, {"role": "memory_write", "ts": now}], now) is runs
        assert not views.is_in_turn([], now)


class TestCharts:
    """Numbers as pictures."""

    def test_weeks_begin_on_monday_and_leave_out_what_is_no_day(self) -> None:
        days = ["2026-11-25", "2026-11-23T10:00:00Z", "2026-11-20", "", "2026-01-01"]
        assert views.weekly(days, date(2026, 11, 26), 2) == {"2026-11-16": 1, "2026-11-23": 2}

    def test_each_proposal_that_was_decided_on_counts(self) -> None:
        gone = [(key, "pending.md", "- [ ] a", None) for key in ("p1", "p2")]
        here = step("accept", "user", *gone, ("k", "lessons.md", None, "- a"))
        # What was accepted into the other scope is a step there, too.
        there = step("accept", "user", ("k", "rules.md", None, "- a"))
        back = step("undo", "user", ("k", "rules.md", "- a", None))
        steps = [{**each, "at": "2026-11-25"} for each in (here, there, back)]
        found = [len(views.decided(steps, op)) for op in ("accept", "decline", "undo")]
        assert found == [2, 0, 1]

    def test_growth_begins_with_what_was_there(self) -> None:
        days = ["2025-01-01", "", "2026-11-20", "2026-11-25"]
        assert [*views.grown(days, date(2026, 11, 26), 2).values()] == [3, 4]

    def test_growth_by_a_field_is_stacked(self) -> None:
        entries = [{"kind": "lesson", "ts": "2026-11-20"}, {"kind": "always", "ts": "2026-11-25"}]
        (one, lessons), (other, rules) = views.growth(entries, "kind", date(2026, 11, 26))
        assert (one, other) == ("lesson", "always")
        assert [(bar.y, bar.height) for bar in (lessons[-1], rules[-1])] == [(45, 45), (0, 45)]
        assert [(bar.y, bar.height) for bar in (lessons[-2], rules[-2])] == [(45, 45), (45, 0)]

    def test_bars_are_as_high_as_their_share(self) -> None:
        one, two = views.columns({"a": 1, "b": 4}, width=100, height=80)
        assert (one.height, two.height, two.x) == (20, 80, 50)
        assert views.columns({}) == []
        assert views.columns({"a": 1}, height=80, most=4)[0].height == 20
        assert [bar.width for bar in views.rows_of({"user": 1, "llm": 4})] == [25, 100]

    def test_memories_are_grouped_by_their_place(self) -> None:
        entries = [
            {"file": "rules.md", "heading": "Always", "scope": "project", "id": "1"},
            {"file": "rules.md", "heading": "Always", "scope": "project", "id": "2"},
            {"file": "lessons.md", "heading": "", "scope": "global", "id": "3"},
        ]
        assert [(place, len(them)) for place, them in views.by_place(entries)] == [
            ("rules.md · Always · this project", 2),
            ("lessons.md · all projects", 1),
        ]
