"""Law: the list of what was written is a cache; whatever somebody writes into it does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.transcripts.changes import touch, touched


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"a\0b", id="nul"),
        pytest.param(b"../../secret", id="a-way-out"),
        pytest.param(b"/etc/passwd", id="from-the-top"),
        pytest.param(b"\xff\xfe", id="no-text"),
        pytest.param(b"x" * 5000, id="long"),
    ],
)
def test_only_what_can_be_a_session_is_named(tmp_path: Path, name: bytes) -> None:
    (tmp_path / "written").write_bytes(name + b"\n")
    touch(tmp_path, "birch")
    assert touched(tmp_path, 0)[1] == ["birch"]
