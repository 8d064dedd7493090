"""Memory files merge entry by entry, and no entry is dropped."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import example, given

from engramdown.engram import fold
from engramdown.git.merge import Merge, merge_files, name_of
from engramdown.markdown.document import parse
from tests import strategies
from tests.git.test_lines import by_us
from tests.hippocampus.stories import three_sides

TITLE: Final = "# Lessons\n\n"
A, B, C, D = (f"- {name} <!-- id:{name * 8} ts:2026-01-01 -->\n" for name in "abcd")
RULES: Final = f"# Rules\n\nOne.\nTwo.\nThree.\n\n## Always\n\n{A}\n## Never\n\n{B}"
HAND: Final = "- Run the tests twice a day\n"
P: Final = "# Pending\n\n- [ ] p <!-- id:aaaaaaaa -->\n"
pages = strategies.markdown()
_SPLIT: Final = re.compile(
    r"^\ufeff?<{7} ours\r?\n((?:.*\n)*?)={7}\r?\n((?:.*\n)*?)>{7} theirs(?:\r?\n|\Z)", re.MULTILINE
)


def merged(base: str, ours: str, theirs: str, name: str = "lessons.md") -> str:
    """Return the merge of three texts, which is to be by entry."""
    done = merge_bytes(base, ours, theirs, name)
    assert not done.by_lines
    assert done.conflict == ("<<<<<<<" in done.data.decode("utf-8", "surrogateescape"))
    return done.data.decode("utf-8", "surrogateescape")


def merge_bytes(base: str, ours: str, theirs: str, name: str = "lessons.md") -> Merge:
    old, mine, other = (side.encode("utf-8", "surrogateescape") for side in (base, ours, theirs))
    return merge_files(f".engramdown/memory/{name}", old, mine, other)


def clash(ours: str, theirs: str) -> str:
    return f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n"


# ---- laws ----


@given(three_sides())
@example((A, A + B, A + C))
@example(("", "- one\n", "para text\n"))
@example((A + A, A, A + A + B))
@example(("- item\n", "<!--\n- item\n", "- item\n  ts:2026-01-02 -->\n"))
def test_no_entry_of_either_side_is_dropped(sides: tuple[str, str, str]) -> None:
    _nothing_is_dropped(sides, "lessons.md")
    _nothing_is_dropped(sides, "rules.md")


@given(pages, pages, pages)
@example("", "<<<<<<< a\n", "\ufeff- item\n")
@example("- item\n", "\ufeff<!--\n- item\n", "- item\n  ts:2026-01-02 -->\n")
@example("- item\n- item\n", "- item\r\n<!--\n- item\n", "- item\n- item\n  ts:2026-01-02 -->\n")
def test_no_entry_of_unrelated_pages_is_dropped(base: str, ours: str, theirs: str) -> None:
    _nothing_is_dropped((base, ours, theirs), "pending.md")


def _nothing_is_dropped(sides: tuple[str, str, str], name: str) -> None:
    """Whatever a side has stays, unless the other one, which knew it, has it no more."""
    data = [side.encode("utf-8", "surrogatepass") for side in sides]
    texts = [each.decode("utf-8", "surrogateescape") for each in data]
    done = merge_files(f"memory/{name}", data[0], data[1], data[2])
    text = done.data.decode("utf-8", "surrogateescape")
    base, ours, theirs = map(_said, texts)
    # A comment or a fence that one side never closes hides what stands behind it: whoever answers
    # a conflict takes that side out, and has the other one.
    now = set[str]().union(*(_said(each) for each in (text, *_answers(text))))
    for mine, other in ((ours, theirs), (theirs, ours)):
        for said in mine - now:
            assert said in base - other, done


def _answers(text: str) -> list[str]:
    """Return a text with each of its conflicts answered by one side, and by the other."""
    return [_SPLIT.sub(answer, text) for answer in (r"\1", r"\2")]


def _said(text: str) -> set[str]:
    """Return what the items of a text say, as far as two of them may be one."""
    items = (placed.block for placed in parse(text).placed() if placed.block.shape == "item")
    return {fold(re.sub(r"\A\[[ xX-]\]", "", block.text)) for block in items}


@given(three_sides())
def test_a_merge_with_an_untouched_side_is_the_other_one(sides: tuple[str, str, str]) -> None:
    base, ours, _ = sides
    assert merge_bytes(base, base, ours).data == merge_bytes(base, ours, base).data
    assert merge_bytes(base, ours, ours) == merge_bytes(base, ours, base)


# ---- entries ----


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        pytest.param(A, A + B, A + C, A + B + C, id="both-add"),
        pytest.param("", TITLE + A, TITLE + B, TITLE + A + B, id="no-common-ancestor"),
        pytest.param(A + B, A, A + B + C, A + C, id="a-deletion-is-one"),
        pytest.param(A + B, "", A, "", id="deleted-on-both-sides"),
        pytest.param(A, A.replace("a <", "x <"), A + B, A.replace("a <", "x <") + B, id="an-edit"),
        pytest.param(
            A,
            A.replace("a <", "x <"),
            A.replace("a <", "x <") + B,
            A.replace("a <", "x <") + B,
            id="the-same-edit",
        ),
        pytest.param(
            A + B,
            A.replace("a <", "x <") + B,
            A.replace("a <", "y <") + B + C,
            clash(A.replace("a <", "x <"), A.replace("a <", "y <")) + B + C,
            id="edit-against-edit",
        ),
        pytest.param(
            A, A.replace("a <", "x <"), B, clash(A.replace("a <", "x <"), "") + B,
            id="edit-against-deletion",
        ),
        pytest.param(
            A, B, A.replace("a <", "y <"), B + clash("", A.replace("a <", "y <")),
            id="deletion-against-edit",
        ),
        pytest.param(A, "", A.replace("01-01", "01-02"), "", id="deletion-against-metadata"),
        pytest.param(
            "", A, A.replace("a <", "x <"), clash(A, A.replace("a <", "x <")), id="one-id-two-texts"
        ),
        pytest.param("", HAND + A, A + HAND, HAND + A, id="both-by-hand"),
        pytest.param(
            HAND + A, HAND.replace("twice", "once") + A, HAND.replace("day", "week") + A,
            clash(HAND.replace("twice", "once"), HAND.replace("day", "week")) + A,
            id="by-hand-edit-against-edit",
        ),
        pytest.param(
            HAND + A, HAND.replace("twice", "once") + A, HAND + A + B,
            HAND.replace("twice", "once") + A + B, id="by-hand-edit",
        ),
        pytest.param(A + B + C, C + A + B, A + B + C + D, C + A + B + D, id="moved"),
        pytest.param(A + B + C, A + B + C + D, C + A + B, C + A + B + D, id="moved-by-them"),
        pytest.param(A + B + C, B + A + C, A + C + B, A + C + B, id="both-moved"),
        pytest.param(
            A.rstrip(), A + B, A.rstrip() + "\n" + C.rstrip(), A + B + C.rstrip(),
            id="no-end",
        ),
        pytest.param(A.rstrip(), A.rstrip() + " ", A + C, A.rstrip() + " \n" + C, id="spaces"),
        pytest.param(A, A + "\nOne.\n", A + "\nTwo.\n", A + "\nOne.\n\nTwo.\n", id="paragraphs"),
        pytest.param(
            A, "\ufeff" + A + B, A + C, "\ufeff" + A + B + C, id="byte-order-mark"
        ),
        pytest.param(
            A, A + B, "\ufeff" + A + C, "\ufeff" + A + B + C, id="byte-order-mark-of-theirs"
        ),
        pytest.param(
            f"---\nk: 1\n---\n{A}", f"---\nk: 2\n---\n{A}", f"---\nk: 1\n---\n{A}{B}",
            f"---\nk: 2\n---\n{A}{B}", id="front-matter",
        ),
        pytest.param(
            A.replace("\n", "\r\n"), (A + B).replace("\n", "\r\n"), (A + C).replace("\n", "\r\n"),
            (A + B + C).replace("\n", "\r\n"), id="crlf",
        ),
        pytest.param(
            "- \udcff\n", "- \udcff\n" + A, "- \udcff\n" + B, "- \udcff\n" + A + B,
            id="bytes",
        ),
        pytest.param(
            A, A + "- Use  uv\n", A.replace("a <", "use UV! <"),
            "- use UV! <!-- id:aaaaaaaa ts:2026-01-01 -->\n",
            id="learned-here-changed-to-it-there",
        ),
        pytest.param(
            A, A.replace("a <", "use UV! <"), A + "- Use  uv\n",
            "- use UV! <!-- id:aaaaaaaa ts:2026-01-01 -->\n",
            id="changed-to-it-here-learned-there",
        ),
    ],
)  # fmt: skip
def test_entries_meet(base: str, ours: str, theirs: str, expected: str) -> None:
    assert merged(base, ours, theirs) == expected


# ---- the same, learned twice ----


@pytest.mark.parametrize(
    "ours, theirs, expected",
    [
        pytest.param(
            "- Use uv <!-- id:bbbbbbbb confidence:low ts:2026-01-02 -->\n",
            "- use UV. <!-- id:cccccccc confidence:high source:user ts:2026-01-03 from:s#1 -->\n",
            "- use UV. <!-- id:cccccccc confidence:high source:user ts:2026-01-02 from:s#1 -->\n",
            id="the-stronger-stays",
        ),
        pytest.param(
            "- Use uv <!-- id:bbbbbbbb topic:x from:a#1 -->\n",
            "- Use uv <!-- id:cccccccc topic:y from:b#2 -->\n",
            "- Use uv <!-- id:bbbbbbbb topic:x from:a#1,b#2 -->\n",
            id="both-places-where-it-was-learned",
        ),
        pytest.param(
            "- Use uv <!-- id:bbbbbbbb -->\n", "- Use uv.\n", "- Use uv.\n", id="a-person-wrote-it"
        ),
        pytest.param(
            "- Use uv <!-- id:bbbbbbbb -->\n", "- Use uv\n  <!-- id:bbbbbbbb x:1 -->\n",
            "- Use uv\n  <!-- id:bbbbbbbb x:1 -->\n", id="one-id",
        ),
    ],
)  # fmt: skip
def test_what_both_sides_learned_is_one_memory(ours: str, theirs: str, expected: str) -> None:
    assert merged(A, A + ours, A + theirs) == A + expected
    assert merged(A, A + theirs, A + ours) == A + expected


def test_a_rule_and_its_contrary_are_two_memories() -> None:
    ours = RULES.replace(A, A + "- push <!-- id:cccccccc -->\n")
    text = merged(RULES, ours, RULES + "- push <!-- id:dddddddd -->\n", "rules.md")
    assert [(each.kind, each.block.text) for each in parse(text).placed()][1:] == [
        ("always", "a"), ("always", "push"), ("never", "b"), ("never", "push"),
    ]  # fmt: skip


def test_what_was_retired_for_two_reasons_is_two_lines() -> None:
    ours, theirs = (
        f"- a <!-- id:{name} kind:lesson was:lessons.md reason:{reason} -->\n"
        for name, reason in (("bbbbbbbb", "deleted"), ("cccccccc", "expired"))
    )
    assert merged("# Archive\n", f"# Archive\n{ours}", f"# Archive\n{theirs}", "archive.md") == (
        f"# Archive\n{ours}{theirs}"
    )


# ---- metadata ----


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        pytest.param("ts:1", "ts:1 pin:yes", "ts:1 topic:x", "ts:1 pin:yes topic:x", id="keys"),
        pytest.param("ts:1 pin:yes", "ts:1", "ts:1 pin:yes x:1", "ts:1 x:1", id="a-key-taken-out"),
        pytest.param(
            "basis:inferred", "basis:told", "basis:verified", "basis:verified",
            id="basis",
        ),
        pytest.param("ts:1", "ts:2", "ts:3", "ts:3", id="ts"),
        pytest.param("from:a#1", "from:a#1,b#1", "from:a#1,c#1", "from:a#1,b#1,c#1", id="from"),
        pytest.param("x:1", "x:2", "x:2 y:1", "x:2 y:1", id="the-same-change"),
        pytest.param(
            "confidence:low", "confidence:odd", "confidence:high", "confidence:high",
            id="odd",
        ),
    ],
)  # fmt: skip
def test_metadata_merges_key_by_key(base: str, ours: str, theirs: str, expected: str) -> None:
    sides = (f"- a <!-- id:aaaaaaaa {said} -->\n" for said in (base, ours, theirs))
    assert merged(*sides) == f"- a <!-- id:aaaaaaaa {expected} -->\n"


def test_trust_is_not_given_to_words_that_nobody_confirmed() -> None:
    confirmed = A.replace("ts:", "basis:verified ts:")
    reworded = A.replace("a <", "x <")
    assert merged(A, reworded, confirmed) == merged(A, confirmed, reworded) == reworded


def test_a_key_that_both_sides_set_anew_is_a_conflict() -> None:
    ours, theirs = (A.replace("ts:", f"topic:{topic} ts:") for topic in "xy")
    old = A.replace("ts:", "topic:z ts:")
    assert merged(old, ours, theirs) == clash(ours, theirs)
    assert merged(old, ours, theirs, "archive.md") == ours


def test_a_comment_that_a_person_took_off_stays_off() -> None:
    bare = "- a\n"
    assert merged(A, bare, A.replace("a <", "x <")) == "- x\n"
    assert merged(A, A.replace("a <", "x <"), bare) == "- x\n"
    assert merged(bare + B, A + B, bare + B + C) == A + B + C
    old = A.replace("01-01", "01-02")
    assert merged(A, bare, old) == clash(bare, old)


def test_other_spaces_and_other_words_are_both_kept() -> None:
    spaced = A.replace("- a", "-  a")
    assert merged(A + B, spaced + B, A.replace("01-01", "01-02") + B) == (
        spaced.replace("01-01", "01-02") + B
    )
    assert merged(A + B, A.replace("01-01", "01-02") + B, spaced + B) == (
        A.replace("01-01", "01-02") + B
    )


# ---- proposals ----


@pytest.mark.parametrize("known", [True, False])
def test_a_tick_beats_what_still_waits(known: bool) -> None:  # noqa: FBT001 - a parameter
    base = P if known else "# Pending\n\n"
    ticked = P.replace("[ ]", "[x]")
    assert merged(base, ticked, P + "\n", "pending.md") == ticked + "\n"
    assert merged(base, P + "\n", ticked, "pending.md") == ticked + "\n"


@pytest.mark.parametrize("base", [P, "# Pending\n\n"])
def test_yes_against_no_is_a_conflict(base: str) -> None:
    said = merged(base, P.replace("[ ]", "[x]"), P.replace("[ ]", "[-]"), "pending.md")
    yes, no = (P[11:].replace("[ ]", tick) for tick in ("[x]", "[-]"))
    assert said == "# Pending\n\n" + clash(yes, no)


def test_a_tick_is_not_taken_back_by_the_one_that_waits_again() -> None:
    gone = P.replace("[ ]", "[-]")
    yes = P.replace("[ ]", "[x]")
    assert merged(gone, P, yes, "pending.md") == merged(gone, yes, P, "pending.md") == yes


# ---- sections and prose ----


def test_prose_between_entries_merges_line_by_line() -> None:
    ours = RULES.replace("One.", "ONE.").replace(A, A + C)
    theirs = RULES.replace("Three.", "THREE.").replace(A, A + D)
    expected = RULES.replace("One.", "ONE.").replace("Three.", "THREE.").replace(A, A + C + D)
    assert merged(RULES, ours, theirs, "rules.md") == expected


def test_prose_that_clashes_leaves_the_entries_alone() -> None:
    ours, theirs = RULES.replace("Two.", "TWO.").replace(A, A + C), RULES.replace("Two.", "2.") + D
    said = merged(RULES, ours, theirs, "rules.md")
    assert said == RULES.replace("Two.\n", clash("TWO.\n", "2.\n")).replace(A, A + C) + D


def test_a_section_that_both_sides_made_is_there_once() -> None:
    said = merged(RULES, f"{RULES}\n## When\n\n{C}", f"{RULES}\n## when:\n\n{D}", "rules.md")
    assert said == f"{RULES}\n## When\n\n{C}{D}"


def test_sections_that_one_side_made_stay_apart() -> None:
    said = merged(RULES, f"{RULES}\n## When\n\n{C}", f"{RULES}{D}\n## Mine\n\n- m\n", "rules.md")
    assert said == f"{RULES}{D}\n## When\n\n{C}\n## Mine\n\n- m\n"


def test_an_entry_stays_below_its_heading_when_its_neighbour_moves_away() -> None:
    ours = RULES.replace(A, "").replace(B, A + B)
    said = merged(RULES, ours, RULES.replace(A, A + C), "rules.md")
    assert [(each.kind, each.block.text) for each in parse(said).placed()][1:] == [
        ("always", "c"), ("never", "a"), ("never", "b"),
    ]  # fmt: skip


def test_a_heading_with_another_name_moves_nothing() -> None:
    text = f"# L\n\n## Tips\n\n{A}{B}"
    said = merged(text, text.replace("Tips", "Advice"), f"{text}{C}")
    assert said == f"{text.replace('Tips', 'Advice')}{C}"


def test_a_section_that_stands_twice_is_there_once_with_all_of_it() -> None:
    ours = f"{RULES}\n## When\n\n{C}\n## When\n\n- again\n"
    said = merged(RULES, ours, f"{RULES}{D}", "rules.md")
    assert said == f"{RULES}{D}\n## When\n\n{C}\n\n- again\n"


def test_a_list_that_a_person_wrote_anew_is_not_searched_for_what_became_of_each_line() -> None:
    lines = [f"- line {number} of what I know\n" for number in range(201)]
    old, new = "".join(lines), "".join(lines).replace("know", "knew")
    assert merged(old, new, old + C) == new + C


def test_lines_and_entries_in_one_place_are_both_kept() -> None:
    base = f"{A}\n> old\n\n{B}"
    said = merged(base, f"{A}{C}\n> new\n\n{B}", f"{A}\n> old\n{D}\n{B}")
    assert said == f"{A}{C}\n> new\n{D}\n{B}"
    base = f"{A}\n## Old\n> q\n{B}"
    said = merged(base, f"{A}{C}\n## New\n> q\n{B}", f"{A}\n## Old\n{D}> q\n{B}")
    assert said == f"{A}{C}\n## New\n{D}> q\n{B}"
    said = merged(base, f"{A}\n## New\n{C}> q\n{B}", f"{A}\n## Newer\n{D}> q\n{B}")
    assert said == f"{A}\n{clash('## New' + chr(10), '## Newer' + chr(10))}{C}{D}> q\n{B}"


def test_a_paragraph_merges_line_by_line_too() -> None:
    text = "One\ntwo\nthree\nfour.\n"
    assert merged(text, text.replace("One", "1"), text.replace("four", "4")) == (
        "1\ntwo\nthree\n4.\n"
    )
    assert merged(text, text.replace("One", "1"), text.replace("One", "I")) == clash(
        text.replace("One", "1"), text.replace("One", "I")
    )


# ---- what is not merged by entry ----


def test_other_files_merge_as_text() -> None:
    sides = "a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"
    done = merge_bytes(*sides, "soul.md")
    assert done == Merge(b"x\nb\ny\n", conflict=False, by_lines="it is not a file of entries")


def test_a_conflict_that_was_committed_is_not_made_worse() -> None:
    ours = clash(A, B) + C
    done = merge_bytes(A, ours, A + D)
    assert "never resolved" in done.by_lines
    assert all(line in done.data.decode() for line in (A, B, C, D))


def test_utf_16_stays_as_it_is_and_is_a_conflict() -> None:
    ours = "- a\n".encode("utf-16")
    done = merge_files("memory/lessons.md", b"", ours, b"- b\n")
    assert (done.data, done.conflict) == (ours, True)
    assert "UTF-16" in done.by_lines


def test_a_conflict_in_the_common_ancestor_says_nothing_of_the_entry() -> None:
    x, y = "- x <!-- id:aaaaaaaa -->\n", "- y <!-- id:aaaaaaaa -->\n"
    base = f"<<<<<<<<< one\n{x}=========\n{y}>>>>>>>>> two\n"
    assert merged(base + B, x + B, y + B) == clash(x, y) + B


def test_what_would_not_read_as_it_should_is_merged_as_text() -> None:
    sides = "## Always\n", "- a\n", "## Always\n-->\n"
    done = merge_bytes(*sides, "rules.md")
    assert (done.by_lines, done.conflict) == ("its entries could not be set in order", True)
    assert done.data.decode() == by_us(sides)


def test_where_text_alone_would_hide_an_entry_both_versions_are_shown_whole() -> None:
    ours, theirs = f"<!--\n\n{A}{B}", f"{A}{B}\n-->\n"
    done = merge_bytes(A + B, ours, theirs)
    assert done.conflict
    assert done.data.decode() == clash(ours, theirs)


def test_a_name_is_what_stands_below_the_memory_folder() -> None:
    assert name_of("a/memory/b/memory/rules.md") == name_of("rules.md") == "rules.md"
