"""The marked block in a file of somebody else's."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.markdown.marked_block import BEGIN, END, BlockError, found, put_in, taken_out
from tests.tables import every

PIECES = (
    *(b"# Ours\n", b"text", b"\n", b"\r\n", b"\r", b"- x\n", b"\xff\x80", b"\xef\xbb\xbf", b"\0"),
    *(b"```\n", b"~~~~ py\n", b"```` a`b\n", b"   ```\n", b"`````\r\n", b"<!-- mine -->\n"),
    *(f"{BEGIN} -->\n".encode(), f"{END}\n".encode(), b"<!-- engramdown:begin", b"\xc3\xa9\n"),
)
FILES = st.lists(st.sampled_from(PIECES), max_size=10).map(b"".join) | st.binary(max_size=30)
TEXTS = st.sampled_from(["- a", "- a\n\n```\n- b", f"- é\n{END}\n{BEGIN} -->", "~~~"])


@given(FILES, TEXTS, TEXTS)
@example(b"a\r", "- a", "~~~")
@example(b"\xef\xbb\xbf", "- a", "~~~")
@example(b"one\r\ntwo", "- a", "~~~")
def test_no_byte_outside_the_block_changes(data: bytes, text: str, other: str) -> None:
    try:
        after = put_in(data, text)
    except BlockError:
        return
    assert put_in(after, text) == after
    changed = put_in(after, other)
    assert put_in(changed, text) == after
    if found(data) is None:
        assert after.startswith(data)
        assert taken_out(after) == taken_out(changed) == data
        assert put_in(after, "") == data
    else:
        before, _, rest = data.partition(BEGIN.encode())
        assert after.startswith(before)
        assert after.endswith(rest.partition(END.encode())[2].lstrip(b" \t\r\n"))


@given(st.text(alphabet="a\n-<!> é", max_size=20), st.text(alphabet="b\n", max_size=9))
def test_a_person_goes_on_writing_around_the_block(before: str, behind: str) -> None:
    first = f"{before}\n".encode()
    data = put_in(first, "- a") + behind.encode()
    assert put_in(data, "- b").endswith(behind.encode())
    assert taken_out(put_in(data, "- b")) == first + behind.encode()


def test_the_block_says_what_was_put_in() -> None:
    data = put_in(b"# Ours\r\n", "- a\n- b")
    assert found(data) == "- a\n- b"
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert found(b"nothing") is None
    assert taken_out(b"nothing") == b"nothing"


@every(
    "data, line, said",
    [
        (f"one\n{BEGIN} -->\n- a\n", 2, "begins here and never ends"),
        (f"one\n\n{END}\n", 3, "without its other half"),
        (f"{BEGIN} -->\n{END}\n{BEGIN} -->\n{END}\n", 3, "a second block"),
        (f"{BEGIN} -->\n{BEGIN} -->\n{END}\n", 2, "without its other half"),
        (f"one\n{BEGIN}\n{END}\n", 2, "is damaged"),
        ("one\n```py\ntwo\n", 2, "never closed"),
        ("a\0b", 1, "UTF-16"),
    ],
)
def test_a_file_in_which_the_block_is_not_sure_is_refused(data: str, line: int, said: str) -> None:
    for act in (taken_out, found, lambda data: put_in(data, "- a")):
        with pytest.raises(BlockError, match=said) as caught:
            act(data.encode())
        assert caught.value.line == line


def test_utf_16_is_refused() -> None:
    with pytest.raises(BlockError, match="UTF-16"):
        put_in("é".encode("utf-16"), "- a")


def test_marks_in_a_code_fence_are_an_example() -> None:
    data = f"# How\n```md\n{BEGIN} -->\n{END}\n```\n~~~\n```\n~~~\n".encode()
    after = put_in(data, "- a")
    assert after.startswith(data)
    assert found(after) == "- a"
    assert taken_out(after) == data


def test_code_in_a_line_is_no_fence() -> None:
    data = b"```` a`b ````\n```x```\n"
    assert taken_out(put_in(data, "- a")) == data


def test_what_somebody_wrote_between_the_marks_is_not_lost() -> None:
    data = put_in(b"", "- a").replace(b"- a", b"- a\n- mine")
    for act in (taken_out, lambda data: put_in(data, "- b")):
        with pytest.raises(BlockError, match="somebody wrote between the marks"):
            act(data)
    assert found(put_in(data, "- b", force=True)) == "- b"
    assert taken_out(data, force=True) == b""


def test_other_line_ends_are_no_edit() -> None:
    data = put_in(b"# Ours\n", "- a\n- b").replace(b"\n", b"\r\n")
    assert found(put_in(data, "- c")) == "- c"
    assert taken_out(data) == b"# Ours\r\n"


def test_a_block_that_a_person_marked_out_is_filled() -> None:
    data = f"# Ours\n{BEGIN} -->\n{END}".encode()
    after = put_in(data, "- a")
    assert found(after) == "- a"
    assert after.endswith(END.encode())
    assert taken_out(after) == b"# Ours\n"
