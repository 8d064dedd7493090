"""The state that a person had open is the one that explains best what they saved."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.hippocampus.hand_edits import find_base
from engramdown.hippocampus.history import Past, make_part
from tests.hippocampus.shelf import base_among
from tests.hippocampus.stories import hand_edited, machine_edited
from tests.strategies import markdown
from tests.tables import every

ONCE, TWICE, THRICE = (f"- {words} <!-- id:eeeeeeee -->\n" for words in ("one", "two", "three"))
A, B, C, D = (f"- {name} <!-- id:{name * 8} -->\n" for name in "abcd")
MINE, X = "- mine\n", "- x\n"


def story(*told: str) -> tuple[str, list[Past]]:
    """Return the newest of some states and how all came about; a mark in front of each says how."""
    marks = {"!": "saved", "~": "followed", "?": "displaced"}
    how = [marks.get(text[:1], "") for text in told]
    texts = [text.lstrip("!~?") for text in told]
    past = [
        Past(make_part("rules.md", before, after), how[at])  # type: ignore[arg-type]
        for at, (before, after) in enumerate(pairwise(texts), 1)
    ]
    return texts[-1], past[::-1]


@every(
    "states, saved, base",
    [
        pytest.param((A,), A + B, 0, id="one-state"),
        pytest.param((A, A + B), A + B + "mine\n", 1, id="newest"),
        pytest.param((A, A + B), A + "mine\n", 0, id="stale"),
        pytest.param((A, A + B, A + B + C), A + "mine\n" + B, 1, id="in-the-middle"),
        pytest.param((A, A + B), A, 1, id="one-line-was-deleted"),
        pytest.param((A, A + B, A + B + C), A, 0, id="saved-as-it-was-opened"),
        pytest.param((A, A + B, A + B + C), A.replace("-", "*", 1), 0, id="in-other-bullets"),
        pytest.param((A + B, A + B + C), B + A, 0, id="in-another-order"),
        pytest.param(("# T\n", "# T\n" + A, "# T\n" + A + B), "# T\n", 2, id="all-deleted"),
        pytest.param((A, A.replace("- a", "- b")), A, 0, id="before-it-was-reworded"),
        pytest.param((A + B, A, A + C), A + B, 0, id="before-one-was-forgotten"),
        pytest.param((A, B, A), "mine\n", 2, id="the-newest-of-equals"),
        pytest.param((A, A + B), B + "mine\n", 1, id="a-line-that-only-the-newest-has"),
        pytest.param((A, A + B), A + "- edited <!-- id:bbbbbbbb -->\n", 1, id="an-id-likewise"),
        pytest.param((A + B + C, A + B + C + D), A + "x\n", 0, id="most-of-an-old-one-deleted"),
        pytest.param(
            (ONCE, ONCE + A, TWICE + A, THRICE + A, THRICE + A + B + C),
            TWICE,
            2,
            id="nobody-types-it",
        ),
        pytest.param(("", A), "mine\n", 0, id="from-nothing"),
        pytest.param(("o\n- p\n", A), "o\nx\n", 0, id="half-of-it-is-enough"),
        pytest.param(("o\nq\nr\n", A), "o\nx\n", 1, id="less-is-another-text"),
        pytest.param(("o\r\n", "o\r\nn\r\n"), "o\nmine\n", 0, id="in-other-line-ends"),
        pytest.param(("\ufeffo\n", "o\nn\n"), "o\nmine\n", 0, id="without-a-mark"),
        pytest.param(
            ("- o\n\n  p\n", "- o\n\n  p, q\n"), "- o\n\n  p\n- m\n", 0, id="further-down"
        ),
        pytest.param(("- o\n- p\n", "- o\n- p\n- q\n"), "- o\n  p\n", 1, id="wrapped-it-differs"),
    ],
)
def test_the_state_that_a_person_had_open(states: tuple[str, ...], saved: str, base: int) -> None:
    assert base_among(states, saved) == states[base]


@every(
    "told, saved, back",
    [
        # An editor that goes on from what it saved, and that saves it once more.
        pytest.param((A, "!" + A + MINE, A + MINE + B), A + MINE + "x\n", 1, id="goes-on"),
        pytest.param((A, "!" + A, A + B, A + B + C), A, 2, id="again"),
        pytest.param((A, "!" + A, A + B), A, 0, id="one-deleted-after-a-save"),
        pytest.param((A + B, "!" + A + MINE, "~" + A + MINE + B), A + MINE, 1, id="again-when-old"),
        pytest.param(("# T\n", "!# T", "# T" + A, "# T" + A + B), "# T", 2, id="emptied-once"),
        # A save that our line displaced was on the disk before it, although it is behind it here.
        pytest.param((A, A + B, "?" + A + MINE, "~" + A + B + MINE), A, 2, id="taken-back"),
        pytest.param((A, A + B, "?" + A + MINE, "~" + A + B + MINE), A + B + "x\n", 1, id="read"),
        pytest.param((A, A + B, "?" + A + MINE, "~" + A + B + MINE), A + MINE, 2, id="saved-twice"),
        pytest.param((A, A + B, "?" + A + MINE), A + MINE + "x\n", 0, id="it-says-it-all"),
        pytest.param((A + B, "?" + A + MINE, "~" + A + B + MINE), A, 2, id="on-nothing-known"),
        # What was saved last counts, unless an older state explains clearly more.
        pytest.param((A, A + B + C, "!" + A + B + C + MINE), A + "x\n", 2, id="another-editor"),
        pytest.param((A, A + B, "!" + A + B + MINE), A + "x\n", 0, id="one-entry-is-too-little"),
        # Who opened the file while a line was away did less than who deleted that line as well.
        pytest.param((A, "!" + A + MINE, A, A + MINE), A + "x\n", 1, id="opened-while-it-was-away"),
        pytest.param((A, "!" + A + MINE, A, A + MINE + B), A + "x\n", 1, id="and-one-came-behind"),
        pytest.param(
            (A, "!" + A + MINE + ONCE + B, A + MINE + TWICE, A + MINE),
            A + ONCE,
            2,
            id="not-while-it-read-otherwise",
        ),
        # To take out one line of ours is less to do than to take out two of one's own.
        pytest.param(
            ("!" + A + MINE + X, A + MINE + X + B, A + B, A + B + C + X), A, 1, id="fewest-edits"
        ),
        pytest.param((A, "!" + A + MINE, A, A + B, A + B + MINE), A, 2, id="two-came-since"),
        pytest.param((A, "!" + A + B, A, A + B + C), A + B.replace(" b", " x"), 2, id="reworded"),
        pytest.param((A + B, "!" + A), A + B, 0, id="a-person-brings-it-back"),
        pytest.param((A + B, "!" + A + B + MINE), A + B, 0, id="a-person-takes-it-back"),
        pytest.param((A, A + B, "!" + A + B), A + "x\n", 0, id="one-line-explains-too-little"),
        pytest.param(("!" + A, A + B, "!" + B), "new\nold\n", 0, id="nothing-explains-it"),
        pytest.param((A + "o\np\n", "!" + B), "o\np\n", 1, id="only-an-older-one-explains-it"),
        pytest.param(("o\n", "o\np\n", "!" + B), "o\np\n", 1, id="the-best-of-older-ones"),
    ],
)
def test_what_a_person_saved_before_tells(told: tuple[str, ...], saved: str, back: int) -> None:
    assert find_base(*story(*told), saved).back == back


def test_a_buffer_may_be_a_thousand_steps_old() -> None:
    lines = [f"- {n} <!-- id:{n:08} -->\n" for n in range(1_000)]
    texts = ["".join(lines[:count]) for count in range(2, 1_001)]
    assert find_base(*story(*texts), texts[0] + MINE)[:2] == (texts[0], 998)


def test_a_journal_that_somebody_wrote_into_is_followed_as_far_as_it_is_true() -> None:
    seen, past = story(A, A + B, A + B + C)
    past[1] = past[1]._replace(part=past[1].part._replace(new="- x\n"))
    assert find_base(seen, past, A + MINE)[:2] == (A + B, 1)


def test_the_search_ends_where_nothing_comes_into_question() -> None:
    texts = [f"{n}\n" for n in range(300)]
    seen, past = story(MINE, *texts, A + B)
    assert find_base(seen, past, A + B + "x\n").back == 0
    assert find_base(seen, past, MINE + "x\n").back == 0


@st.composite
def stories(draw: st.DrawFn) -> tuple[tuple[str, ...], str]:
    """Return the states of a file, and what a person made of one of them."""
    states = [draw(markdown())]
    for _ in range(draw(st.integers(0, 4))):
        states.append(draw(machine_edited(states[-1])))
    return tuple(states), draw(hand_edited(draw(st.sampled_from(states))))


@given(stories())
@example((("- a\n\n  b", "- a\n\nb"), "- a\n\n  b"))
@example((("- a\r\n\r\n  b\r\n", "- a\r\n\r\n- b\r\n"), "- a\r\n\r\n  b\r\n"))
def test_a_state_costs_the_same_whichever_way_it_is_reached(
    told: tuple[tuple[str, ...], str],
) -> None:
    states, saved = told
    # A step that leads to nothing and back touches every line at once.
    around = [text for state in states for text in (state, "")][:-1]
    if states[-1]:
        assert base_among(around, saved) in (base_among(states, saved), "")
    assert base_among(states, saved) in states
