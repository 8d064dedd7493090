"""Notes are read as they were written, and their versions stand among other lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.journal.page import normalized
from engramdown.journal.working_notes import (
    Version,
    is_own,
    new_lines,
    read_versions,
    text_of,
    updated_of,
    with_text,
    without_versions,
    write_version,
)
from engramdown.markdown.front_matter import parse_strict

NOW = "2026-02-27T10:15:00Z"
LINES = ["---", "updated: x", "updated:", "mood: fine # so", "...", "text", "", "\ufeff---", "# a"]
pages = st.lists(
    st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\r\n", ""])), max_size=8
).map(lambda lines: "".join(map("".join, lines)))
texts = pages | pages.map(lambda text: f"---\n{text}\n---\n") | st.text()
versions = st.builds(Version, st.just(NOW), st.sampled_from(["person", "agent"]), texts)


@given(texts, texts)
def test_what_is_read_is_what_was_written(page: str, text: str) -> None:
    after = with_text(page, text, NOW)
    assert text_of(after) == normalized(text)
    front = parse_strict(after)
    before = parse_strict(page)
    if before.opening:
        assert front.opening == before.opening
        assert front.head.startswith(before.head[: before.head.find("updated")])
    if not front.opening:
        return  # A line of a person's stayed.
    assert updated_of(after) == NOW or before.text("updated")[:1] in tuple("|>") or before.head


@pytest.mark.parametrize(
    "page, after",
    [
        ("", f"---\nupdated: {NOW}\n---\n\nnew\n"),
        ("by hand", f"---\nupdated: {NOW}\n---\n\nnew\n"),
        (
            "\ufeff---\r\nmood: fine # so\r\nupdated: x # by us\r\n---\r\nold",
            f"\ufeff---\r\nmood: fine # so\r\nupdated: {NOW} # by us\r\n---\r\n\r\nnew\r\n",
        ),
        ("---\nmood: fine\n---", f"---\nmood: fine\nupdated: {NOW}\n---\n\nnew\n"),
        ("---\nupdated: |\n  x\n---\n", "---\nupdated: |\n  x\n---\n\nnew\n"),
    ],
)
def test_what_a_person_added_above_stays(page: str, after: str) -> None:
    assert with_text(page, "new", NOW) == after


ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "  \n", "\r\n \r\n"])


@given(
    st.sampled_from(["", "---\r\nmood: fine\n---\r\n", "\ufeff", " \r\n\n"]),
    st.lists(ENDS, min_size=2, max_size=6),
    st.integers(0, 5),
    st.sampled_from(["said", "said\nand done", ""]),
    st.booleans(),
)
def test_a_line_that_stays_keeps_its_bytes(
    front: str,
    ends: list[str],
    at: int,
    said: str,
    closed: bool,  # noqa: FBT001 - the same
) -> None:
    lines = [f"line {number}\udcff{end}" for number, end in enumerate(ends)]
    lines[-1] = lines[-1] if closed else lines[-1].rstrip()
    page, at = f"{front}{''.join(lines)}", at % len(lines)
    after = with_text(page, text_of(page).replace(f"line {at}\ufffd", said), NOW)
    others = [line for number, line in enumerate(lines) if number not in (at - 1, at, at + 1)]
    assert after.startswith(front[:3])
    assert [line for line in others if line in after] == others
    assert text_of(after) == normalized(text_of(page).replace(f"line {at}\ufffd", said))


@pytest.mark.parametrize(
    "page, text, after",
    [
        ("one\r\ntwo\r\n", "one\n2", "one\r\n2\r\n"),
        ("one\r\ntwo", "one\n2", "one\r\n2"),
        ("one\r\ntwo", "one\ntwo\nthree", "one\r\ntwo\r\nthree"),
        ("\r\n\none  \ntwo  \n\n", "one  \ntwo\nthree", "\r\n\none  \ntwo\nthree\r\n\n"),
        ("one\ntwo\r\nthree\n", "one\n2\nthree", "one\n2\r\nthree\n"),
        ("one\r\ntwo\r\n", "zero\none\ntwo", "zero\r\none\r\ntwo\r\n"),
        ("one\r\n", "new", f"---\r\nupdated: {NOW}\r\n---\r\n\r\nnew\r\n"),
        ("a: 1\n---\n", "---\na: 1\n---", f"---\nupdated: {NOW}\n---\n\n---\na: 1\n---\n"),
    ],
)
def test_an_edit_changes_the_lines_that_it_is_about(page: str, text: str, after: str) -> None:
    assert with_text(page, text, NOW) == after


@given(texts, texts)
def test_what_is_new_of_a_text_stands_between_lines_that_stay(old: str, text: str) -> None:
    start, end = new_lines(old, text)
    assert 0 <= start <= end <= len(text)
    assert old.startswith(text[:start].removesuffix("\n"))
    assert old.endswith(text[end:].removeprefix("\n"))
    assert new_lines(text, text)[0] == len(text)


@given(texts, texts)
def test_what_an_agent_wrote_is_its_own_until_somebody_changes_it(page: str, text: str) -> None:
    after = with_text("", text, NOW, own=True)
    assert is_own(after)
    assert is_own(with_text(after, page, NOW)) is (normalized(page) == normalized(text))
    assert is_own(with_text(after, page, NOW, own=True))


def test_no_text_is_a_page_without_one() -> None:
    assert with_text("", " \n", NOW) == f"---\nupdated: {NOW}\n---\n"


@given(st.lists(versions, max_size=4), st.binary(max_size=20))
def test_versions_are_read_newest_first_among_anything(said: list[Version], noise: bytes) -> None:
    noise = noise.replace(b"\n", b"")
    lines = [noise, b'{"kind":"gist"}', b'{"note', b'"note"', b'{"kind":"note","ts":1}']
    log = b"\n".join([*lines, b""]) + b"".join(map(write_version, said))
    kept = [each._replace(text=each.text) for each in reversed(said)]
    assert read_versions(log) == kept
    assert read_versions(without_versions(log)) == []
    assert without_versions(log).split(b"\n")[: len(lines)] == lines
