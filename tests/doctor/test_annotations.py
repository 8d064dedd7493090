"""What doctor says about metadata, and what it makes of it."""

from __future__ import annotations

from datetime import date

import pytest

from engramdown.doctor.syntax import Sheet, corrected, day, metadata_findings
from engramdown.markdown.metadata import Metadata
from tests.tables import every


def found(text: str, *, ours: bool = True) -> list[tuple[int, str, bool]]:
    sheet = Sheet.read("lessons.md", text)
    return [
        (item.line, item.code, item.fixable)
        for placed in sheet.memories()
        for item in metadata_findings(sheet, placed, ours=ours)
    ]


@every(
    "inside, expected",
    [
        pytest.param("id:k3v9q2ht", "id:k3v9q2ht", id="nothing"),
        pytest.param("confidence:HIGH", "confidence:high", id="case"),
        pytest.param("confidence:meduim", "confidence:medium", id="slip"),
        pytest.param("a:b confidence:sure c:d", "a:b c:d", id="unknown"),
        pytest.param("source:User", "source:user", id="source-by-case"),
        pytest.param("source:usr", "", id="source-is-not-guessed"),
        pytest.param("basis:verifed", "", id="basis-is-not-guessed"),
        pytest.param("ts:2026/2/7", "ts:2026-02-07", id="slashes"),
        pytest.param("ts:20260207", "ts:2026-02-07", id="no-separator"),
        pytest.param("ts:2026-02-07T10:00:00Z", "ts:2026-02-07", id="time"),
        pytest.param("ts:2026-02-30", "", id="no-such-day"),
        pytest.param("ts:07.02.2026", "", id="day-first"),
        pytest.param("expires:2026.12.24", "expires:2026-12-24", id="expires"),
        pytest.param("expires:soon", "expires:soon", id="expires-is-not-dropped"),
        pytest.param("scope:here kind:alway", "kind:always", id="scope-and-kind"),
        pytest.param("ts:2026-01-01 ts:2026-01-02", "ts:2026-01-01", id="twice"),
        pytest.param("id:a,b", "id:a,b", id="an-id-is-never-guessed"),
        pytest.param("topic:%20 from:x#1", "topic:%20 from:x#1", id="quoted"),
    ],
)
def test_metadata_is_corrected_as_far_as_it_is_plain(inside: str, expected: str) -> None:
    meta = Metadata.parse(inside)
    assert meta is not None
    assert str(corrected(meta)) == str(Metadata.parse(expected) or Metadata())


def test_what_is_corrected_is_correct() -> None:
    meta = Metadata.parse("confidence:HIGH confidence:low source:x ts:2026/1/2 kind:never")
    assert meta is not None
    assert corrected(corrected(meta)) == corrected(meta)


@every(
    "value", ["2026-2-7", "2026-02-30", "soon", "", "20260207", "\uff12\uff10\uff12\uff16-01-01"]
)
def test_what_is_no_day_is_none(value: str) -> None:
    assert day(value) is None


def test_a_day_is_a_date() -> None:
    assert day("2026-02-28") == date(2026, 2, 28)


@every(
    "comment, code",
    [
        pytest.param("<!-- id:k3v9q2ht confidence: high -->", "near-metadata", id="space"),
        pytest.param("<!-- id=k3v9q2ht -->", "near-metadata", id="equals"),
        pytest.param("<!-- k3v9q2ht, ts:2026-01-01, -->", "near-metadata", id="commas"),
        pytest.param("<!-- Mia: source: user -->", "near-metadata", id="in-words"),
        pytest.param("<!-- source: the wiki -->", "", id="a-note"),
        pytest.param("<!-- id: 7 -->", "", id="another-id"),
        pytest.param("<!-- topic: CI -->", "", id="any-words"),
        pytest.param("<!-- resource: user -->", "", id="part-of-a-word"),
        pytest.param("<!-- todo:check -->", "", id="unknown-key"),
        pytest.param("<!-- confidence: -->", "metadata-value", id="no-value"),
        pytest.param("<!-- id: -->", "metadata-value", id="no-id"),
        pytest.param("<!-- id:a,b -->", "metadata-value", id="odd-id"),
        pytest.param("<!-- a:1 a:2 -->", "metadata-twice", id="twice"),
        pytest.param("<!-- id:k3v9q2ht --> more", "metadata-not-last", id="before-words"),
        pytest.param("<!-- id:k3v9q2ht --> <!-- a:b -->", "metadata-not-last", id="before-another"),
        pytest.param("<!-- id:own --> more", "", id="an-id-of-a-persons-own"),
        pytest.param("<!-- ts:2026-01-01 --> more", "", id="no-id-before-words"),
        pytest.param("<!-- a note --> more", "", id="a-note-before-words"),
        pytest.param("`<!-- id:k3v9q2ht -->` more", "", id="code"),
        pytest.param("<!-- id:k3v9q2ht", "", id="open"),
        pytest.param("", "", id="none"),
    ],
)
def test_comments_are_judged(comment: str, code: str) -> None:
    assert [item[1] for item in found(f"- text {comment}\n")] == ([code] if code else [])


def test_the_line_of_the_metadata_is_told() -> None:
    text = "- one\n  two <!-- ts:x -->\n\n- three <!-- id:k3v9q2ht -->\n  four\n"
    assert found(text) == [(2, "metadata-value", True), (4, "metadata-not-last", False)]


def test_only_what_is_ours_and_plain_can_be_mended() -> None:
    text = "- a <!-- id:x,y ts:1 ts:1 expires:soon -->\n"
    codes = [
        (1, "metadata-value", False),
        (1, "metadata-value", True),
        (1, "metadata-twice", True),
        (1, "metadata-value", False),
    ]
    assert found(text) == codes
    assert [item[2] for item in found(text, ours=False)] == [False] * 4
