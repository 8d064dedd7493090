"""Summaries that stand for parts of a conversation, their lines, and the view that they leave."""

from __future__ import annotations

import json
import time
from typing import Final, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engramdown.transcripts.summary_log import (
    FORMS,
    KIND,
    LEVELS,
    Fold,
    Gist,
    Source,
    read_gist,
    without_gists_of,
    write_gist,
)
from tests.consolidation.view_laws import (
    damage_changes_nothing,
    fold,
    made,
    read_gists,
    view_is_whole,
    views_cover_all_once,
    what_is_read_was_written,
)
from tests.strategies import any_text
from tests.tables import every

LARGEST: Final = 0xFFFFFFFF
whole_text: Final = any_text.filter(lambda text: text == _joined(text))
counts: Final = st.integers(0, LARGEST)
sources: Final = st.lists(
    st.one_of(st.integers(0, 9), counts, whole_text, st.sampled_from(["g1", "g2"])),
    min_size=1,
    max_size=8,
).map(tuple)


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _told(**changed: object) -> dict[str, object]:
    gist = made("g1", 1, 2, "g0")
    return {"kind": KIND, **gist._asdict(), "sources": gist.runs} | changed


def _line(**changed: object) -> bytes:
    return json.dumps(_told(**changed)).encode() + b"\n"


class TestLines:
    """What is read is what was written, and damage is nothing."""

    @given(
        st.builds(
            Gist,
            id=whole_text.filter(bool),
            ts=whole_text,
            form=st.sampled_from(FORMS),
            depth=counts,
            sources=sources,
            text=whole_text,
            tokens=counts,
            level=st.sampled_from(LEVELS),
            model=whole_text,
            earliest=whole_text,
            latest=whole_text,
            messages=counts,
            source_tokens=counts,
        )
    )
    def test_what_is_read_is_what_was_written(self, gist: Gist) -> None:
        what_is_read_was_written(gist)

    @every(
        "text",
        [
            "\ud800 \udfff",
            "a\u2028b\u2029c\x85d",
            "\x00\x1b\r\n\x0c",
            "x" * 1_000_000,
            '"gist"',
            "",
        ],
        ids=["halves", "separators", "controls", "long", "mark", "empty"],
    )
    def test_any_text_stands_on_one_line(self, text: str) -> None:
        what_is_read_was_written(made("g1", 1)._replace(text=text))

    def test_halves_of_a_pair_that_meet_are_read_as_their_character(self) -> None:
        found = read_gist(write_gist(made("g1", 1)._replace(text="\ud83d\ude00")))
        assert found is not None
        assert found.text == "\U0001f600"

    @given(st.binary(max_size=80), st.integers(0, 400), st.integers(0, 400))
    @example(b"", 0, 400)
    def test_damaged_bytes_are_no_gist_or_another_one(
        self, noise: bytes, start: int, end: int
    ) -> None:
        line = _line()
        damage_changes_nothing(line[:start] + noise + line[end:])

    @given(
        st.sampled_from(sorted(_told())),
        st.recursive(
            st.one_of(
                st.none(), st.booleans(), st.integers(), st.floats(), any_text, st.just("gist")
            ),
            lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
            max_leaves=8,
        ),
    )
    def test_values_of_other_types_are_never_an_error(self, key: str, value: object) -> None:
        damage_changes_nothing(_line(**{key: value}))

    @every(
        "changed",
        [
            {"kind": "note"},
            {"id": ""},
            {"id": 5},
            {"form": "novel"},
            {"form": []},
            {"level": None},
            {"ts": None},
            {"text": 1},
            {"depth": True},
            {"depth": -1},
            {"tokens": 1.5},
            {"tokens": LARGEST + 1},
            {"sources": None},
            {"sources": {}},
            {"sources": []},
            {"sources": [5]},
            {"sources": [[1]]},
            {"sources": [[1, 2, 3]]},
            {"sources": [[2, 1]]},
            {"sources": [[-1, 1]]},
            {"sources": [[0, True]]},
            {"sources": [["a", "b"]]},
            {"sources": [[0, LARGEST]]},
            {"sources": [[0, 10**400]]},
            {"sources": [[0, 600_000], [600_001, 1_200_000]]},
        ],
        ids=str,
    )
    def test_a_value_that_makes_no_sense_makes_no_gist(self, changed: dict[str, object]) -> None:
        assert read_gist(_line(**changed)) is None

    @every(
        "line",
        [
            b"",
            b"\n",
            b'"gist"',
            b'["gist"]',
            b'{"kind":"gist"}',
            b'{"kind":"card","text":"about a gist"}',
            b'{"kind":"card","text":"a \\"gist\\""}',
            b'{"kind":"note","of":"gist"}',
            b'"gist"' + b"[" * 100_000,
            b'{"kind":"gist","tokens":' + b"9" * 5000 + b"}",
            b'\xff\xfe{"kind":"gist"}',
            _line()[:-20],
        ],
        ids=lambda line: line[:20],
    )
    def test_other_lines_are_passed_over(self, line: bytes) -> None:
        assert read_gist(line) is None

    def test_numbers_that_json_does_not_have_make_no_gist(self) -> None:
        assert read_gist(_line(tokens=float("nan"))) is None
        assert read_gist(_line(tokens=float("inf"))) is None

    def test_of_a_key_that_stands_twice_the_last_counts(self) -> None:
        found = read_gist(_line().replace(b'"id": "g1"', b'"id": 5, "id": "g2"'))
        assert found is not None
        assert found.id == "g2"
        assert read_gist(_line().replace(b'"id": "g1"', b'"id": "g2", "id": 5')) is None

    def test_what_an_older_line_does_not_say_has_its_default_and_more_is_passed_over(self) -> None:
        told = _told(colour="blue")
        del told["level"], told["messages"]
        found = read_gist(json.dumps(told).encode())
        assert found is not None
        assert (found.level, found.messages) == ("normal", 0)

    def test_a_long_run_is_written_as_its_ends(self) -> None:
        gist = made("g1", *range(100_000), "g0", 200_000)
        assert len(write_gist(gist)) < 400
        what_is_read_was_written(gist)

    def test_of_a_log_all_whole_lines_count(self) -> None:
        one, two, three = (made(name, 1) for name in ("g1", "g2", "g3"))
        log = write_gist(one) + b'{"kind":"card"}\n\n' + write_gist(two) + write_gist(three)[:-1]
        assert read_gists(log) == [one, two]
        assert read_gists(b"") == []
        assert read_gists(log + b"\n") == [one, two, three]


class TestView:
    """What gists leave of messages."""

    @given(st.integers(0, 9), st.data())
    def test_every_message_is_covered_once_whatever_gists_come(
        self, count: int, data: st.DataObject
    ) -> None:
        names = ["g1", "g2", "g3", "g4"]
        runs = st.tuples(st.integers(0, 9), st.integers(1, 4)).map(
            lambda run: tuple(range(run[0], sum(run)))
        )
        mixed = st.lists(st.sampled_from([*range(10), *names, ""]), max_size=4).map(tuple)
        some = st.lists(
            st.tuples(st.sampled_from([*names, ""]), st.one_of(runs, mixed)), max_size=10
        )
        views_cover_all_once(range(count), [made(name, *found) for name, found in data.draw(some)])

    @every(
        "wrong",
        [
            made("g2", 1, 3),
            made("g2", 2, 1),
            made("g2", 3, 4, 5),
            made("g2", 4, 4),
            made("g2", 9),
            made("g2"),
            made("g2", ""),
            made("g2", 4, ""),
            made("g2", "", 1),
            made("g2", "g2"),
            made("", 4),
            made("g1", 4),
        ],
        ids=lambda gist: f"{gist.id}-of-{gist.sources}",
    )
    def test_a_gist_of_what_is_no_run_of_the_view_is_stale(self, wrong: Gist) -> None:
        seen = fold(range(1, 6), [made("g1", 2, 3)])
        assert not seen.apply(wrong)
        assert list(seen) == [1, "g1", 4, 5]

    def test_of_two_that_compete_the_first_counts(self) -> None:
        one, two = made("g1", 1, 2, 3), made("g2", 3, 4)
        assert list(fold(range(1, 5), [one, two])) == ["g1", 4]
        assert list(fold(range(1, 5), [two, one])) == [1, 2, "g2"]

    def test_a_gist_of_what_was_taken_out_gives_the_rest_back(self) -> None:
        log = [made("g1", 1, 2), made("g2", "g1", 3), made("g3", 1, 3)]
        assert list(fold([1, 2, 3], log)) == ["g2"]
        assert list(fold([1, 3], log)) == ["g3"]
        assert list(fold([2, 3], log)) == [2, 3]

    def test_a_message_that_comes_again_after_it_was_covered_is_not_seen_twice(self) -> None:
        seen = fold([1, 2], [made("g1", 1, 2)])
        assert not seen.add(1)
        assert seen.add(3)
        assert list(seen) == ["g1", 3]

    def test_what_stands_in_the_view_can_be_asked(self) -> None:
        seen = fold([1, 2, 3], [made("g1", 1, 2)])
        assert "g1" in seen
        assert 3 in seen
        assert 1 not in seen
        assert "" not in seen
        assert len(seen) == 2
        assert seen.covers_a_run(["g1", 3])
        assert not seen.covers_a_run([])

    @pytest.mark.slow
    def test_depth_has_no_limit(self) -> None:
        chain = [made("g0", 0), *(made(f"g{at}", f"g{at - 1}") for at in range(1, 5000))]
        seen = fold([0, 1], chain)
        assert list(seen) == ["g4999", 1]
        view_is_whole(seen, [0, 1])

    def test_what_is_taken_back_goes_from_a_long_chain_of_summaries_at_once(self) -> None:
        first = made("g0", 0)
        chain = [
            first,
            *(made(f"g{at}", at)._replace(previous=f"g{at - 1}") for at in range(1, 3000)),
            *(made(f"other{at}", 10_000 + at) for at in range(3)),
        ]
        data = b"".join(map(write_gist, chain))
        began = time.process_time()
        left = without_gists_of(data, [0])
        assert time.process_time() - began < 2
        assert left == b"".join(map(write_gist, chain[3000:]))
        turned = b"".join(map(write_gist, reversed(chain[:40])))
        assert without_gists_of(turned, [0]) == b""

    def test_a_hundred_thousand_messages_in_leaves_of_ten(self) -> None:
        leaves = [made(f"g{at}", *range(at * 10, at * 10 + 10)) for at in range(10_000)]
        seen = fold(range(100_000), leaves)
        assert len(seen) == len(seen.gists) == 10_000


class _Pending(NamedTuple):
    """A compaction that was begun and is not written yet."""

    gist: Gist
    times: int


class Histories(RuleBasedStateMachine):
    """Compactors that write late, twice or never, crashes, and messages that come and go."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.said: list[int] = []
        self.away: set[int] = set()
        self.log = b""
        self.pending: list[_Pending] = []
        self.made = 0
        self.seen = Fold()

    @property
    def live(self) -> list[int]:
        return [seq for seq in self.said if seq not in self.away]

    def _scratch(self) -> Fold:
        return fold(self.live, read_gists(self.log))

    @rule(count=st.integers(1, 5))
    def say(self, count: int) -> None:
        for _ in range(count):
            self.said.append(len(self.said))
            assert self.seen.add(self.said[-1])

    @precondition(lambda self: len(self.seen) > 0)
    @rule(data=st.data(), times=st.integers(1, 2))
    def begin_a_compaction(self, data: st.DataObject, times: int) -> None:
        view = list(self.seen)
        start = data.draw(st.integers(0, len(view) - 1))
        end = data.draw(st.integers(start + 1, min(start + 6, len(view))))
        self.made += 1
        self.pending.append(_Pending(made(f"g{self.made}", *view[start:end]), times))

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def write_one(self, data: st.DataObject) -> None:
        gist, times = self.pending.pop(data.draw(st.integers(0, len(self.pending) - 1)))
        if self.log and not self.log.endswith(b"\n"):
            # A line that lacked nothing but its end counts from now on.
            self.log += b"\n"
            self.seen = self._scratch()
        for nth in range(times):
            before = list(self.seen)
            fits = self.seen.covers_a_run(gist.sources) and nth == 0
            self.log += write_gist(gist)
            assert self.seen.apply(gist) == fits
            assert fits or list(self.seen) == before

    @precondition(lambda self: self.pending)
    @rule()
    def lose_one(self) -> None:
        self.pending.pop()

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.log = self.log[: data.draw(st.integers(0, len(self.log)))]
        self.seen = self._scratch()

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def write_the_end_of_the_log_again(self, data: st.DataObject) -> None:
        lines = self.log.split(b"\n")[:-1]
        if lines and self.log.endswith(b"\n"):
            self.log += b"".join(line + b"\n" for line in data.draw(st.permutations(lines[-3:])))
            self.seen = self._scratch()

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def take_out_or_bring_back(self, data: st.DataObject) -> None:
        self.away ^= {data.draw(st.sampled_from(self.said))}
        self.seen = self._scratch()

    @invariant()
    def all_that_is_live_is_seen_once_and_in_order(self) -> None:
        scratch = self._scratch()
        view_is_whole(scratch, self.live)
        assert list(self.seen) == list(scratch)
        assert self.seen.derived == scratch.derived


TestHistories = Histories.TestCase


@given(st.lists(st.one_of(st.integers(0, 30), st.sampled_from(["g1", "g2"])), max_size=12))
def test_runs_are_the_sources(some: list[Source]) -> None:
    spread: list[Source] = []
    for run in made("g3", *some).runs:
        spread += [run] if isinstance(run, str) else range(run[0], run[1] + 1)
    assert spread == some
