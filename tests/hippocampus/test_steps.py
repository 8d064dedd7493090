"""What a step of the journal is, and how it is written down."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.hippocampus.history import (
    Change,
    Head,
    Part,
    Step,
    digest,
    make_part,
    read_heads,
    read_line,
    write_line,
)
from tests import strategies
from tests.tables import every

# What a file can hold: any bytes, read with surrogateescape.
texts = st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape"))
files = st.none() | texts | strategies.markdown()
names = st.sampled_from(["rules.md", "topics/köln.md"])

STEP: Final = Step(
    "k3v9q2ht",
    "2026-02-27T10:00:00.000000Z",
    "user",
    "forget",
    "no longer true",
    (make_part("rules.md", "- a\n- b\n", "- b\n"),),
    (Change("_1234567", "rules.md", "- a\n", None, "always"),),
)


def test_an_address_of_an_older_journal_is_read_as_it_is_written_today() -> None:
    line = write_line(STEP).replace(b"_1234567", b"~1234567")
    assert read_line(line) == STEP


@given(files, files)
@example("- a\n- b\n- b\n", "- a\n- b\n")
@example("aaa", "aa")
@example(None, "")
def test_a_part_leads_there_and_back(before: str | None, after: str | None) -> None:
    part = make_part("rules.md", before, after)
    assert part.forward(before or "") == (after or "")
    assert part.backward(after or "") == (before or "")
    assert (part.source, part.target) == (digest(before), digest(after))
    assert len(part.old) + len(part.new) <= len(before or "") + len(after or "")
    assert part.begins == (part.text if before is not None else part.new)


@given(names, files, files, texts)
def test_a_step_comes_back_from_its_line(
    name: str, before: str | None, after: str | None, why: str
) -> None:
    part = make_part(name, before, after)
    change = Change("aaaaaaaa", name, before, after, "never")
    step = STEP._replace(why=why, parts=(part, part), changes=(change,), of="x")
    line = write_line(step)
    assert line.index(b"\n") == len(line) - 1
    assert read_line(line) == step
    assert read_line(line[:-1]) == step


HEADS: Final = {"rules.md": Head("0123456789abcdef", 7, 9), "topics/k\u00f6ln.md": Head("", 0)}


def test_a_line_may_tell_how_every_file_was_left_before_it() -> None:
    line = write_line(STEP, HEADS, 300)
    assert read_line(line) == STEP
    assert read_heads(line, 300) == HEADS
    assert read_heads(write_line(STEP, {}, 0), 0) == {}


@every(
    "line, at",
    [
        pytest.param(write_line(STEP), 0, id="not-told"),
        pytest.param(write_line(STEP, HEADS, 300), 301, id="another-place"),
        pytest.param(write_line(STEP, HEADS, 300)[:-9], 300, id="torn"),
        pytest.param(b'{"known": {}}', 0, id="nothing-said"),
        pytest.param(b'{"known": {"files": 0}}', 0, id="no-files"),
        pytest.param(b'{"known": {"files": {"a": [0, 1]}, "at": 0}}', 0, id="half-a-head"),
        pytest.param(b'{"known": {"files": {}}}', 0, id="no-place"),
        pytest.param(b'{"known": {"files": {"a": ["", 1e999, 0]}, "at": 0}}', 0, id="no-size"),
    ],
)
def test_how_the_files_were_left_is_not_guessed(line: bytes, at: int) -> None:
    assert read_heads(line, at) is None


def test_a_step_names_its_files() -> None:
    assert STEP.files == ("rules.md",)


def test_a_file_that_is_not_there_has_no_digest() -> None:
    assert digest(None) == ""
    assert digest("") != digest(None)
    assert len(digest("a")) == 16


@every(
    "line",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'"step"',
        b"\xff",
        b'{"step": "a"}',
        b"[" * 100_000,
        write_line(STEP).replace(b'"to"', b'"too"'),
        write_line(STEP)[:-20],
    ],
    ids=lambda line: ascii(line[:12]),
)
def test_a_line_that_cannot_be_read_is_none(line: bytes) -> None:
    assert read_line(line) is None


@every("key", ["step", "at", "by", "op", "why", "of", "file", "from", "to", "old", "new", "text"])
@every("value", [5, [], {}, True, "\ud800"], ids=ascii)
def test_a_line_with_something_else_than_a_text_is_none(key: str, value: object) -> None:
    assert read_line(told(key, value)) is None


@every("key", ["at", "whole", "size"])
@every("value", [-1, 0.5, None, True, "1", []], ids=ascii)
def test_a_line_with_something_else_than_a_number_is_none(key: str, value: object) -> None:
    assert read_line(told(key, value, part=True)) is None


@every("key", ["id", "in", "before", "after", "section"])
@every("value", [5, [], False], ids=ascii)
def test_a_line_with_something_else_than_a_memory_is_none(key: str, value: object) -> None:
    record = json.loads(write_line(STEP))
    record["entries"][0][key] = value
    assert read_line(json.dumps(record).encode()) is None


def told(key: str, value: object, *, part: bool = False) -> bytes:
    """Return the line of a step with another value in the place of one, of its file if it has."""
    record = json.loads(write_line(STEP))
    at_file = part or key not in record
    (record["files"][0] if at_file else record)[key] = value
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    "size, whole, others, holds",
    [
        pytest.param(0, 0, 0, False, id="empty-journal"),
        pytest.param(1_000, 0, 0, False, id="soon-after"),
        pytest.param(300_000, 0, 0, True, id="long-after"),
        pytest.param(300_000, 0, 100_000, False, id="not-long-after-for-so-much-text"),
        pytest.param(1_000, 2_000, 0, True, id="a-journal-that-was-cut"),
    ],
)
def test_now_and_then_a_part_holds_the_whole_text(
    size: int, whole: int, others: int, *, holds: bool
) -> None:
    heads = {"rules.md": Head("", whole), "lessons.md": Head("", 0, others)}
    part = make_part("rules.md", "- a\n", "- b\n", heads, size)
    assert part == Part(
        "rules.md",
        digest("- a\n"),
        digest("- b\n"),
        2,
        "a",
        "b",
        "- b\n" if holds else None,
        size if holds else whole,
        4,
    )
