"""Three-way merge: the person wins, and no entry is lost."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.markdown.document import parse
from engramdown.markdown.merge import compare, merge
from tests import laws, strategies
from tests.hippocampus.stories import three_sides
from tests.tables import every

A, B, C = (f"- {name} <!-- id:{name * 8} -->\n" for name in "abc")
pages = strategies.markdown()


def merged(base: str, ours: str, theirs: str) -> tuple[str, list[str]]:
    """Return the merged text and the texts that gave way."""
    result = merge(parse(base), parse(ours), parse(theirs))
    return result.document.render(), [placed.block.text for placed in result.lost]


@given(pages, pages)
@example("", "- a")
def test_a_merge_with_one_side_takes_that_side(base: str, other: str) -> None:
    laws.one_sided_merges_take_that_side(base, other)


@given(three_sides())
@example((A, A + B, A + C))
@example((A, A.replace("- a", "- ours"), A.replace("- a", "- theirs")))
@example((A.rstrip(), A.replace("- a", "- ours").rstrip(), A + "mine\n"))
@example((A, A + A.replace("- a", "- copied"), "# T\n" + A))
@example((A, A.replace("- a", "- ours"), A.replace("-->", "x:1 -->") + A))
@example(("", "- a\nk: v\n", "---\n"))
@example(("- a\n\xa0\n", "- a\n\xa0 <!-- x:1 -->\n", "- a\n"))
def test_both_sides_are_kept(sides: tuple[str, str, str]) -> None:
    laws.merging_keeps_both_sides(*sides)


@given(pages, pages, pages)
@example("", "- item\n...\n", "\ufeff---\r\nk: v\r\n")
def test_unrelated_pages_keep_both_sides_too(base: str, ours: str, theirs: str) -> None:
    laws.merging_keeps_both_sides(base, ours, theirs)


@every(
    "base, ours, theirs, expected, lost",
    [
        pytest.param(A, A + B, A + C, A + C + B, [], id="both-add"),
        pytest.param(A + B, A, A + B + C, A + C, [], id="ours-removes"),
        pytest.param(A + B, A + B + C, A, A + C, [], id="theirs-removes"),
        pytest.param(
            A + B, A + B.replace("b <", "x <"), B + A, B.replace("b <", "x <") + A, [], id="moved"
        ),
        pytest.param(
            A,
            A.replace("a <", "x <"),
            A.replace("a <", "y <"),
            A.replace("a <", "y <"),
            ["x"],
            id="both-change",
        ),
        pytest.param(A, A.replace("a <", "x <"), "", "", ["x"], id="changed-and-removed"),
        pytest.param(
            A,
            A.replace("a <", "x <"),
            A.replace("a <", "x <"),
            A.replace("a <", "x <"),
            [],
            id="the-same-change",
        ),
        pytest.param(
            A, A.replace("-->", "ts:1 -->"), "mine\n" + A, "mine\n" + A[:-4] + "ts:1 -->\n", [],
            id="ours-changes-metadata",
        ),
        pytest.param(A, A.replace("-->", "ts:1 -->"), A.replace("a <", "y <"),
            A.replace("a <", "y <").replace("-->", "ts:1 -->"), [], id="words-and-metadata",
        ),
        pytest.param(A, A.replace("-->", "ts:1 -->"), A.replace("a <", "y <")[:-4] + "x:1 -->\n",
            A.replace("a <", "y <")[:-4] + "x:1 -->\n", [], id="both-change-metadata",
        ),
        pytest.param(A, A.replace("-->", "ts:1 -->"), "", "", [], id="metadata-is-no-loss"),
        pytest.param(A + B, B, A.replace("a <", "y <") + B, A.replace("a <", "y <") + B, [],
            id="theirs-changes-what-ours-removes",
        ),
        pytest.param(A, "", "mine\n\n" + A.replace("\n", "\r\n"), "mine\n\n", [],
            id="other-line-ends-are-no-change",
        ),
        pytest.param("", "## Always\n\n- x\n", "## Never\n\n- x\n",
            "## Never\n\n- x\n\n## Always\n\n- x\n", [], id="another-kind-is-another-memory",
        ),
        pytest.param("## Own\n\n- a\n", "## Own\n\n- a\n- b\n", "## Own\n\n- a\n\n## When\n\n- c\n",
            "## Own\n\n- a\n- b\n\n## When\n\n- c\n", [], id="a-section-of-their-own",
        ),
        pytest.param("", "- x\n", "x\n", "x\n- x\n", [], id="a-paragraph-is-not-the-line"),
        pytest.param("", "- x <!-- id:aaaaaaaa -->\n", "- x\n", "- x\n", [], id="said-already"),
        pytest.param("", "Mine.", "- a\n", "- a\nMine.\n", [], id="a-paragraph-of-another-editor"),
    ],
)  # fmt: skip
def test_a_merge(base: str, ours: str, theirs: str, expected: str, lost: list[str]) -> None:
    assert merged(base, ours, theirs) == (expected, lost)


def test_entries_are_matched_as_they_were_then_by_id_then_by_text() -> None:
    before = parse(A + B + "- plain\n" + C)
    after = parse(A.replace("a <", "copied <") + A + "- Plain.\n" + B.replace("b <", "x <"))
    changes = compare(before, after)
    pairs = {(old.block.text, new.block.text) for old, new in changes.kept}
    assert pairs == {("a", "a"), ("b", "x"), ("plain", "Plain.")}
    assert [placed.block.text for placed in changes.added] == ["copied"]
    assert [placed.block.text for placed in changes.removed] == ["c"]
    assert [(old.block.text, new.block.text) for old, new in changes.reworded] == [
        ("b", "x"),
        ("plain", "Plain."),
    ]


def test_in_code_a_line_that_is_wrapped_otherwise_is_another_text() -> None:
    base = "- Run\n  ```\n  a b\n  ```\n- c\n"
    ours = base.replace("a b\n", "a b\n") + "- d\n"
    saved = base.replace("a b", "a\n  b")
    assert "a\n  b" in merge(parse(base), parse(ours), parse(saved)).document.render()
    assert compare(parse(base), parse(saved)).reworded or compare(parse(base), parse(saved)).added
