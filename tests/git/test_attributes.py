"""What ``.gitattributes`` and the clone's configuration say of the driver."""

from __future__ import annotations

import shlex

import pytest

from engramdown.git.driver import hook_text, merge_command, names_driver, rule, with_rule

LINE = rule(".engramdown")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"*.png binary\n", id="a-line"),
        pytest.param(b"*.png binary", id="no-line-end"),
        pytest.param(b"*.png binary\r\n", id="crlf"),
        pytest.param(b"\xff\xfe\n\n", id="bytes"),
    ],
)
def test_a_line_is_added_once_and_all_others_stay(data: bytes) -> None:
    done = with_rule(data, LINE)
    assert done.startswith(data)
    assert done.removesuffix(b"\n").removesuffix(b"\r").endswith(LINE)
    assert with_rule(done, LINE) == done
    assert (b"\r\n" in done) == (b"\r\n" in data)
    assert names_driver(done)
    assert not names_driver(data)


def test_memory_that_is_the_repository_is_named_from_its_top() -> None:
    assert rule("") == b"/memory/**/*.md merge=engramdown"


def test_a_program_may_stand_anywhere() -> None:
    path = "/o'er there/100% mine/engramdown"
    said = merge_command([path]).replace("%%", "%")
    assert f"then {shlex.quote(path)} merge-driver %O %A %B %P" in said
    assert "else git merge-file" in said


def test_the_hook_calls_the_program() -> None:
    assert hook_text(["/a b/engramdown"]).endswith("\nexec '/a b/engramdown' doctor --staged\n")
