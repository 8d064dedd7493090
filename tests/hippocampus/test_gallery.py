"""The laws of documents, and what doctor finds, on a gallery of hand-written memory files."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest

from engramdown.doctor.checks import check, fix
from engramdown.doctor.findings import codes
from engramdown.markdown.document import Document, parse
from engramdown.markdown.metadata import Metadata
from tests.hippocampus.gallery import Page, Said
from tests.hippocampus.gallery_damaged import DAMAGED_PAGES
from tests.hippocampus.gallery_notes import NOTES_PAGES
from tests.hippocampus.gallery_rules import RULES_PAGES
from tests.tables import every

PAGES: Final = (*RULES_PAGES, *NOTES_PAGES, *DAMAGED_PAGES)
TODAY: Final = date(2026, 3, 15)
META: Final = Metadata((("id", "zzzzzzzz"),))
NEW_TEXTS: Final = ("New", "two\n\n  lines", "## Always", "```\ncode\n```", "x <!-- y -->", "---")

every_page = every("page", PAGES, ids=lambda page: page.name)


def said(document: Document) -> list[Said]:
    return [
        Said(placed.line, placed.kind or placed.heading, placed.block.text)
        for placed in document.placed()
    ]


def without_lines(entries: list[Said]) -> list[tuple[str, str]]:
    return [(entry.under, entry.text) for entry in entries]


def test_the_gallery_is_large_and_its_names_are_unique() -> None:
    assert len(PAGES) >= 60
    assert len({page.name for page in PAGES}) == len(PAGES)


@every_page
def test_a_page_comes_back_byte_for_byte(page: Page) -> None:
    assert parse(page.text).render() == page.text
    data = page.data.encode() if isinstance(page.data, str) else page.data
    assert page.text.encode("utf-8", "surrogateescape") == data


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=page.name, marks=pytest.mark.xfail(reason=page.bug) if page.bug else ()
        )
        for page in PAGES
    ],
)
def test_a_page_says_what_a_reader_expects(page: Page) -> None:
    assert said(parse(page.text)) == list(page.entries)


@every_page
@every("kind", ["", "always", "never", "when"])
def test_adding_an_entry_inserts_one_piece_and_changes_no_other_entry(
    page: Page, kind: str
) -> None:
    before = parse(page.text)
    for text in NEW_TEXTS:
        added = before.add(text, META, kind, "Title").render()
        start = common_start(page.text, added)
        assert added.endswith(page.text[start:])
        after = without_lines(said(parse(added)))
        at = next(i for i, entry in enumerate(after) if entry not in without_lines(said(before)))
        assert after[at][1] == text
        assert not kind or after[at][0] == kind
        assert after[:at] + after[at + 1 :] == without_lines(said(before))


def common_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


@every_page
def test_editing_an_entry_leaves_every_byte_around_it(page: Page) -> None:
    document = parse(page.text)
    for placed in document.placed():
        start = sum(len(block.raw) for block in document.blocks[: placed.at])
        end = start + len(placed.block.raw)
        for edited in (
            document.remove(placed.block),
            document.note(placed.block, META),
            document.replace(placed.block, "Replaced\n- twice", META),
            document.replace(placed.block, "Replaced", None),
        ):
            assert edited.render().startswith(page.text[:start])
            assert edited.render().endswith(page.text[end:])


@every_page
def test_editing_an_entry_changes_no_other_entry(page: Page) -> None:
    document = parse(page.text)
    before = without_lines(said(document))
    for at, placed in enumerate(document.placed()):
        under, text = before[at]
        for edited, expected in (
            (document.remove(placed.block), []),
            (document.note(placed.block, META), [(under, text)]),
            (
                document.replace(placed.block, "Replaced\n- twice", META),
                [(under, "Replaced\n- twice")],
            ),
            (document.replace(placed.block, "Replaced", None), [(under, "Replaced")]),
        ):
            wanted = before[:at] + expected + before[at + 1 :]
            assert without_lines(said(parse(edited.render()))) == wanted


@every_page
def test_doctor_finds_what_is_wrong_and_nothing_else(page: Page) -> None:
    found = check({page.file: page.text}, TODAY, "global")
    assert tuple((finding.line, finding.code) for finding in found) == page.findings
    assert all(finding.file == page.file for finding in found)


@every_page
def test_mending_a_page_leaves_nothing_that_could_be_mended_by_text(page: Page) -> None:
    text = page.text
    for number in range(3):
        found = check({page.file: text}, TODAY, "global")
        text = fix(text, found, iter([f"0000000{number}"]).__next__)
    left = check({page.file: text}, TODAY, "global")
    assert [finding for finding in left if finding.fixable and finding.code != "expired"] == []


@every_page
def test_mending_a_page_leaves_what_a_person_wrote(page: Page) -> None:
    found = check({page.file: page.text}, TODAY, "global")
    mended = fix(page.text, found, lambda: "00000000")
    fixable = {finding.line for finding in found if finding.fixable}
    lines = page.text.split("\n")
    theirs = [line for number, line in enumerate(lines, 1) if number not in fixable]
    left = iter(mended.split("\n"))
    assert all(line in left for line in theirs)


def test_every_code_about_text_stands_in_the_gallery() -> None:
    about_files = {
        "profile-in-project",
        "not-used",
        "wrong-folder",
        "unknown-file",
        "topic-name",
        "held",
        "leftover",
        "not-a-file",
        "link",
        "too-large",
        "cannot-read",
        "cannot-write",
        "open-to-all",
        "settings",
        "settings-from-git",
        "overruled",
        "switched-off",
        "history-line",
        "degraded",
        "episode-line",
        "torn-line",
        "unfinished-line",
        "missing-text",
        "left-open",
        "transcript-secret",
        "source-redacted",
        "source-gone",
        "cited-changed",
        "cited-missing",
        "copies-differ",
        "not-for-git",
        "no-merge-driver",
        "hook-trouble",
    }
    shown = {code for page in PAGES for _, code in page.findings}
    assert shown == codes().keys() - about_files
