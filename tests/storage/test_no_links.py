"""A file is written where the file system has no hard links, whatever it answers."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engramdown.storage.disk import Disk


@pytest.mark.parametrize("code", [errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EIO])
def test_is_written_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def no_link(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", no_link)
    path = tmp_path / "whole.txt"
    assert Disk().save(path, b"first", durable=False)
    assert not Disk().save(path, b"second", durable=False)
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["whole.txt"]  # noqa: PTH208 - the names are enough
