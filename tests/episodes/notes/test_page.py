"""Notes are read as they were written, and their versions stand among other lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.front import split
from engramdown.episodes.journal.page import normal
from engramdown.episodes.notes.page import (
    Version,
    read_versions,
    text_of,
    updated_of,
    with_text,
    without_versions,
    write_version,
)

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
    assert text_of(after) == normal(text)
    front = split(after)
    before = split(page)
    if before.opening:
        assert front.opening == before.opening
        assert front.head.startswith(before.head[: before.head.find("updated")])
    assert updated_of(after) == NOW or before.get("updated")[:1] in tuple("|>") or before.head


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
