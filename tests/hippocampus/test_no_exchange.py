"""Where a system cannot exchange two names, a crash in between leaves nothing behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from engramdown.hippocampus.store import Hippocampus
from engramdown.hippocampus.transaction import Staging
from engramdown.storage import disk
from engramdown.storage.disk import Disk


class CrashError(BaseException):
    """The process ends here."""


def opened(root: Path) -> Hippocampus:
    return Hippocampus(root, disk=Disk(durable=False))


def crash(*_: object) -> NoReturn:
    raise CrashError


@pytest.mark.parametrize("links", [pytest.param(True, id="links"), pytest.param(False, id="none")])
@pytest.mark.parametrize("number", range(1, 6))
def test_what_a_crash_leaves_is_swept_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, links: bool
) -> None:
    opened(tmp_path).encode_lesson("Retry twice")
    replace, left = Path.replace, number

    def replace_or_crash(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        return crash() if left == 0 else replace(path, target)

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patch:
        patch.setattr(disk, "_exchange", lambda _new, _path: False)
        patch.setattr(Path, "replace", replace_or_crash)
        patch.setattr(Staging, "put_back", crash)
        if not links:
            patch.setattr(os, "link", refuse)
        try:
            opened(tmp_path).encode_lesson("Pin the image")
        except CrashError:
            assert left == 0
    store = opened(tmp_path)
    store.encode_lesson("Log in UTC")
    assert [entry.text for entry in store.entries()] == [
        "Retry twice",
        "Pin the image",
        "Log in UTC",
    ]
    assert {path.name for path in store.memory.iterdir()} == {"lessons.md", ".lock"}
    assert store.archived() == []
