"""What is asked for is found, and nothing that is asked is an error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.recall.query import Mode, wanted
from engramdown.transcripts.episode import ROLES, stamp
from tests.episodes.transcripts import START, append, found, line, memory, write
from tests.tables import every

HOSTILE = (
    *("", " ", '"', "*", "NOT", "AND", "OR NEAR", "a-b", "a:b", "(", ")", "%", "_", "\\", "😀"),
    *("搜", "搜索", "a", "\x00", "a\x00b", "\ud800", "x" * 5_000, "word " * 1_000, "'; DROP", "{}"),
    *("text:boat", "^boat", "boat*", "NEAR(boat lake)", "\n", "the of and", "١٢"),
)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[EpisodicMemory]:
    write(tmp_path, "lake", ["We went to the lake", "and the boat leaked", 'a "boat" (100%)_\\'])
    write(tmp_path, "talk", ["我们用的搜索引擎很快 😀", "K stands for Kelvin", "a-b a:b"], 30)
    with closing(memory(tmp_path)) as made:
        yield made


@every("mode", ["best", "exact"])
@every("query", HOSTILE)
def test_no_query_is_an_error(reader: EpisodicMemory, query: str, mode: Mode) -> None:
    hits = reader.recall(query, mode=mode)
    if mode == "exact":
        held = [hit for hit in hits if query.casefold() in hit.text.casefold()]
        assert hits == held


@pytest.mark.parametrize(
    "query, expected",
    [
        ("BOAT", ["lake#3", "lake#2"]),
        ('"boat"', ["lake#3"]),
        ("100%)_\\", ["lake#3"]),
        ("%", ["lake#3"]),
        ("_", ["lake#3"]),
        ("搜索", ["talk#1"]),
        ("😀", ["talk#1"]),
        ("\u212aelvin", ["talk#2"]),
        ("a:b", ["talk#3"]),
        ("the lake", ["lake#1"]),
        ("went to the la", ["lake#1"]),
        ("nowhere", []),
        ("boat\n", []),
    ],
)
def test_exact_finds_the_string_and_the_newest_first(
    reader: EpisodicMemory, query: str, expected: list[str]
) -> None:
    assert found(reader, query, mode="exact") == expected


@pytest.mark.parametrize(
    "query, first",
    [
        ("Who went to the lake?", "lake#1"),
        ("leaking", "lake#2"),
        ("搜索引擎", "talk#1"),
        ("😀", "talk#1"),
        ("kelvin", "talk#2"),
    ],
)
def test_best_finds_what_answers(reader: EpisodicMemory, query: str, first: str) -> None:
    assert found(reader, query)[0] == first


def test_a_hit_says_where_when_and_who(reader: EpisodicMemory, tmp_path: Path) -> None:
    said = line(9, "a zeppelin", 40, role="tool_result", name="look", call="c1")
    append(tmp_path / "episodes" / "lake.jsonl", said)
    for mode in get_args(Mode):
        (hit,) = reader.recall("zeppelin", 1, mode=mode)
        assert str(hit.pointer) == "lake#9"
        assert hit.time == stamp(START + timedelta(minutes=40))
        assert (hit.session, hit.seq, hit.role, hit.name) == ("lake", 9, "tool_result", "look")
        assert hit.text == hit.snippet == "a zeppelin"
        assert hit.score > 0


def test_the_snippet_of_a_long_turn_holds_what_was_found(
    reader: EpisodicMemory, tmp_path: Path
) -> None:
    text = "filler " * 90 + "the zeppelin landed " + "filler " * 90
    append(tmp_path / "episodes" / "lake.jsonl", line(9, text))
    for mode in get_args(Mode):
        (hit,) = reader.recall("zeppelin", 1, mode=mode)
        assert "the zeppelin landed" in hit.snippet
        assert hit.text == text
        assert len(hit.snippet) < 250


@pytest.mark.parametrize("mode", ["best", "exact"])
def test_filters_take_away_what_is_not_wanted(tmp_path: Path, mode: str) -> None:
    for day in range(6):
        write(tmp_path, f"day{day}", ["red boat", "a boat", "boat"], day * 24 * 60)
    append(tmp_path / "episodes" / "day5.jsonl", line(9, "boat", 9e3, role="tool_result"))
    with closing(memory(tmp_path)) as reader:

        def sessions(**filters: Any) -> list[str]:  # noqa: ANN401 - as they are
            hits = found(reader, "boat", mode=mode, **filters)
            return sorted({pointer.partition("#")[0] for pointer in hits})

        assert sessions() == [f"day{day}" for day in range(6)]
        assert sessions(session="day3") == ["day3"]
        assert sessions(session="nowhere") == sessions(session="../x") == []
        assert sessions(since=date(2026, 3, 1), until=date(2026, 3, 2)) == ["day2", "day3"]
        assert sessions(until=START) == []
        assert sessions(since=START + timedelta(days=5)) == ["day5"]
        assert found(reader, "boat", role="tool_result", mode=mode) == ["day5#9"]
        assert len(found(reader, "boat", role=["user", "assistant"], mode=mode)) == 18
        assert len(found(reader, "boat", 4, mode=mode)) == 4
        assert found(reader, "boat", 0, mode=mode) == found(reader, "boat", -1, mode=mode) == []
        assert sessions(days_back=10**9) == sessions()
        assert sessions(days_back=0) == []


def test_a_mode_that_is_none_is_refused(reader: EpisodicMemory) -> None:
    with pytest.raises(ValueError, match="is not a mode"):
        found(reader, "boat", mode="fuzzy")


@pytest.mark.parametrize("mode", ["best", "exact"])
def test_what_was_excluded_is_not_recalled_until_it_is_included(tmp_path: Path, mode: str) -> None:
    path = write(tmp_path, "s", ["red boat", "blue boat", "green boat"])
    with closing(memory(tmp_path)) as reader:

        def left() -> set[str]:
            return set(found(reader, "boat", mode=mode))

        assert left() == {"s#1", "s#2", "s#3"}
        append(path, line(4, "", role="event", event="exclude", of=[2, 3]))
        assert left() == {"s#1"}
        append(path, line(5, "", role="event", event="include", of=[3]))
        assert left() == {"s#1", "s#3"}
        append(path, line(6, "", role="event", event="exclude"))
        append(path, line(7, "another boat"))
        assert left() == set()
        append(path, line(8, "", role="event", event="include"))
        assert left() == {"s#1", "s#2", "s#3", "s#7"}


@pytest.mark.parametrize("mode", ["best", "exact"])
def test_events_and_what_was_recalled_are_no_experience(tmp_path: Path, mode: str) -> None:
    path = write(tmp_path, "s", ["the boat"])
    append(path, line(2, "the boat", role="memory_read", recalled=["s#1"]))
    append(path, line(3, "the boat", role="event", event="end"))
    with closing(memory(tmp_path)) as reader:
        assert found(reader, "boat", mode=mode) == ["s#1"]
        assert found(reader, "boat", role="memory_read", mode=mode) == ["s#2"]


def test_of_thousands_of_equal_lines_the_newest_are_found(tmp_path: Path) -> None:
    for session in range(30):
        write(tmp_path, f"s{(session * 7) % 30:02}", ["boat"] * 100, (session * 7) % 30 * 200)
    with closing(memory(tmp_path)) as reader:
        hits = reader.recall("boat", 10)
        assert {hit.session for hit in hits} == {"s29"}
        assert found(reader, "boat", 10, mode="exact") == [f"s29#{at}" for at in range(100, 90, -1)]


def test_a_neighbour_in_the_next_chunk_helps(tmp_path: Path) -> None:
    texts = ["hm"] * 200
    texts[62] = "what about the zeppelin"
    texts[63] = "the landing"
    texts[130] = "the landing"
    write(tmp_path, "s", texts)
    with closing(memory(tmp_path)) as reader:
        hits = {hit.seq: hit.score for hit in reader.recall("zeppelin landing")}
        assert hits[64] > hits[131]


def test_who_is_named_is_found_among_hundreds_who_say_more_of_it(tmp_path: Path) -> None:
    write(tmp_path, "others", ["a red kayak, the red kayak"] * 300, 1000)
    path = write(tmp_path, "people", ["Good day"] * 40)
    append(path, line(41, "Mine is that kayak", role="user", name="Zoë"))
    append(path, line(42, "Not this kayak", role="user", name="Ana"))
    with closing(memory(tmp_path)) as reader:
        assert "people#41" in found(reader, "the red kayak of Zoë", 400)
        assert "people#42" in found(reader, "the red kayak of Ana", 400)
        assert "people#41" not in found(reader, "the red kayak", 400)


def test_the_name_of_a_tool_is_nobody_in_a_chat_of_several_people(tmp_path: Path) -> None:
    scores = []
    for name in ("look", ""):
        root = tmp_path / (name or "without")
        path = write(root, "lake", ["Where is the red boat?", "In the boat house"])
        append(path, line(3, "boat boat", role="tool_result", name=name))
        with closing(memory(root)) as reader:
            scores.append([(str(hit.pointer), hit.score) for hit in reader.recall("red boat")])
    assert scores[0] == scores[1]
    assert [pointer for pointer, _ in scores[0]] == ["lake#1", "lake#2", "lake#3"]


def test_last_week_is_counted_from_now(tmp_path: Path) -> None:
    now = datetime.fromtimestamp(time.time(), UTC)
    for name, days in (("old", 60), ("lately", 8), ("today", 0)):
        write(tmp_path, name, ["the kayak"], (now - START) / timedelta(minutes=1) - days * 1440)
    with closing(memory(tmp_path)) as reader:
        assert found(reader, "the kayak")[0] == "today#1"
        assert found(reader, "the kayak a week ago")[0] == "lately#1"
        assert found(reader, "the kayak 2 months ago")[0] == "old#1"


def test_a_date_alone_finds_what_was_said_then(tmp_path: Path) -> None:
    for name, days in (("early", 0), ("then", 30), ("late", 60)):
        write(tmp_path, name, ["the kayak", "red"], days * 1440)
    then = (START + timedelta(days=30)).strftime("%B %d")
    with closing(memory(tmp_path)) as reader:
        assert found(reader, f"What happened on {then}?") == ["then#1", "then#2"]
        assert found(reader, f"What happened on {then}?", role="assistant") == ["then#2"]
        assert found(reader, "What happened in 1999?") == []


def test_who_is_named_alone_is_found_by_what_they_said(tmp_path: Path) -> None:
    write(tmp_path, "others", ["a red kayak"])
    append(write(tmp_path, "people", ["hm"]), line(2, "a boat", role="user", name="Zoë"))
    with closing(memory(tmp_path)) as reader:
        assert found(reader, "Zoë?")[0] == "people#2"


def test_the_newer_of_two_values_comes_first_and_the_older_line_is_marked(tmp_path: Path) -> None:
    write(tmp_path, "early", ["Standup is at 9:30"])
    write(tmp_path, "late", ["The hall is cold", "Since May standup is at 10:15 in the hall"], 1000)
    with closing(memory(tmp_path)) as reader:
        hits = {str(hit.pointer): hit.newer for hit in reader.recall("when is standup?")}
    assert [*hits][:2] == ["late#2", "early#1"]
    assert (hits["late#2"], hits["early#1"]) == ("", "late#2")


def test_of_several_people_each_outdates_only_what_they_said(tmp_path: Path) -> None:
    path = write(tmp_path, "people", [])
    append(path, line(1, "My standup is at 9:30", 1, role="user", name="Ada"))
    append(path, line(2, "My standup is at 10:15", 2, role="user", name="Bo"))
    append(path, line(3, "My standup is at 8:45 now", 3, role="user", name="Bo"))
    with closing(memory(tmp_path)) as reader:
        hits = {hit.seq: hit.newer for hit in reader.recall("when is the standup?")}
    assert hits == {1: "", 2: "people#3", 3: ""}


def test_a_question_of_which_nobody_said_a_word_is_answered_by_others(tmp_path: Path) -> None:
    write(tmp_path, "talk", ["The hall is cold", "The car goes to Roy", "Ask first"])
    with closing(memory(tmp_path)) as reader:
        assert found(reader, "who repairs our automobile?")[0] == "talk#2"
        assert found(reader, "the hall, the cold and an automobile")[0] == "talk#1"


def test_surroundings_cross_sessions_and_stop_at_a_silence(tmp_path: Path) -> None:
    write(tmp_path, "one", ["first", "second", "x" * 5_000])
    write(tmp_path, "two", ["the boat", "after"], 4)
    write(tmp_path, "later", ["too late"], 30)
    with closing(memory(tmp_path)) as reader:
        (around,) = reader.around(reader.recall("boat", 1))
        assert [(each.session, each.seq) for each in around.before] == [
            ("one", 1),
            ("one", 2),
            ("one", 3),
        ]
        assert [each.text for each in around.after] == ["after"]
        assert [each.truncated for each in around.before] == [False, False, True]
        assert len(around.before[-1].text) == 2_000
        assert (around.more_before, around.more_after) == (0, 0)


def test_reading_changes_no_transcript(reader: EpisodicMemory, tmp_path: Path) -> None:
    files = sorted((tmp_path / "episodes").iterdir())
    before = [(path.name, path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    reader.recall("boat")
    time.sleep(0.01)
    reader.recall("boat", mode="exact")
    files = sorted((tmp_path / "episodes").iterdir())
    after = [(path.name, path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    assert after == before


# ---- which lines may be recalled ----

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
USER = ROLES.index("user")


def at(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_by_default_everything_but_events_and_what_was_recalled() -> None:
    everything = wanted(NOW)
    assert everything.takes_all()
    assert not wanted(NOW, days_back=3).takes_all()
    kept = {name for place, name in enumerate(ROLES) if everything.takes(place, 0)}
    assert kept == set(ROLES) - {"event", "memory_read"}


def test_what_was_recalled_comes_when_it_is_asked_for() -> None:
    assert wanted(NOW, role="memory_read").takes(ROLES.index("memory_read"), 0)
    assert not wanted(NOW, role=["user", "assistant"]).takes(ROLES.index("system"), 0)


@pytest.mark.parametrize("role", ["event", "judge", ["user", ""]])
def test_a_role_that_is_none_is_refused(role: str | list[str]) -> None:
    with pytest.raises(ValueError, match="is not a role"):
        wanted(NOW, role=role)


def test_days_back_count_from_now() -> None:
    recent = wanted(NOW, days_back=2)
    assert recent.takes(USER, at(NOW - timedelta(days=2)))
    assert not recent.takes(USER, at(NOW - timedelta(days=2, microseconds=1)))
    assert wanted(NOW, days_back=10**9).takes(USER, at(datetime(1, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize("days", [-1, float("nan")])
def test_days_that_are_none_are_refused(days: float) -> None:
    with pytest.raises(ValueError, match="days_back"):
        wanted(NOW, days_back=days)


def test_a_time_may_be_a_text() -> None:
    day = wanted(NOW, since="2026-02-27", until="2026-02-27")
    assert day == wanted(NOW, since=date(2026, 2, 27), until=date(2026, 2, 27))
    moment = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    for text in ("2026-02-27T10:15:00Z", "2026-02-27 11:15+01:00", "2026-02-27T10:15"):
        assert wanted(NOW, until=text) == wanted(NOW, until=moment), text


@every("time", ["", "soon", "2026-02-30", "2026-02-27T25:00", 5, 1.5, ["x"]])
def test_a_time_that_is_none_is_refused(time: Any) -> None:  # noqa: ANN401 - whatever is given
    for name in ("since", "until"):
        with pytest.raises(ValueError, match=rf"{name} is .*; give a date, a datetime, or a text"):
            wanted(NOW, **{name: time})


def test_a_day_is_wanted_whole_and_a_time_exactly() -> None:
    day = wanted(NOW, since=date(2026, 2, 27), until=date(2026, 2, 27))
    assert day.takes(USER, at(datetime(2026, 2, 27, tzinfo=UTC)))
    assert day.takes(USER, at(datetime(2026, 2, 27, 23, 59, 59, 999_999, tzinfo=UTC)))
    assert not day.takes(USER, at(datetime(2026, 2, 28, tzinfo=UTC)))
    until = wanted(NOW, until=datetime(2026, 2, 27, 1, tzinfo=timezone(timedelta(hours=1))))
    assert until.takes(USER, at(datetime(2026, 2, 27, tzinfo=UTC)))
    assert not until.takes(USER, at(datetime(2026, 2, 27, 0, 0, 0, 1, tzinfo=UTC)))
    assert wanted(NOW, since=datetime(2026, 2, 27)).since == at(  # noqa: DTZ001 - without a zone
        datetime(2026, 2, 27, tzinfo=UTC)
    )


def test_the_narrowest_of_two_limits_holds() -> None:
    both = wanted(NOW, days_back=1, since=date(2020, 1, 1))
    assert both.since == at(NOW - timedelta(days=1))


# ---- recall of what was said some time before or after something else ----


DAY = 24 * 60.0
BUGS = "The bugs of the parser came up again"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Bugs every week, the newest first by default; a release, a birthday and a move."""
    for week in range(12):
        write(tmp_path, f"week-{week:02}", [BUGS], week * 7 * DAY)
    write(tmp_path, "release", ["We made the big release today, at last"], 6 * 7 * DAY)
    write(tmp_path, "birthday", ["It is my birthday. I got a kite"], 3 * 7 * DAY + DAY)
    day = START.replace(month=4, day=24)
    write(tmp_path, "move", [f"We move to Bonn on {day:%B} {day.day}"], 2 * DAY)
    return tmp_path


@pytest.mark.parametrize(
    "question, first",
    [
        pytest.param("bugs of the parser two weeks before the release", 4, id="weeks-before"),
        pytest.param("bugs of the parser three weeks after the release", 9, id="weeks-after"),
        pytest.param("bugs of the parser the day before my birthday", 3, id="day-before"),
        pytest.param("bugs of the parser in the week of the move", 8, id="week-of-a-day-named"),
        pytest.param("bugs of the parser in the week of the kite", 3, id="other-words-for-it"),
        pytest.param("bugs of the parser the day after 2026-03-12", 2, id="day-that-is-named"),
    ],
)
def test_a_time_counted_from_an_event_comes_first(store: Path, question: str, first: int) -> None:
    with closing(memory(store)) as opened:
        said = [one for one in found(opened, question) if one.startswith("week")]
        assert said[0] == f"week-{first:02}#1"
        # It is a help and no filter.
        assert len(said) == 12


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("bugs of the parser two weeks before the eclipse", id="event-never-told"),
        pytest.param("bugs of the parser the day after", id="no-event"),
        pytest.param("bugs of the parser after the release", id="no-distance"),
    ],
)
def test_without_an_event_the_newest_comes_first(store: Path, question: str) -> None:
    with closing(memory(store)) as opened:
        said = [one for one in found(opened, question) if one.startswith("week")]
        assert said[0] == "week-11#1"


def test_what_may_be_found_is_as_before(store: Path) -> None:
    with closing(memory(store)) as opened:
        question = "bugs of the parser two weeks before the release"
        assert found(opened, question, session="week-01") == ["week-01#1"]
