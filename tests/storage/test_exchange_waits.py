"""A file that is known to be there is waited for without a look at what stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.storage import exchange
from engramdown.storage.disk import Disk
from engramdown.storage.exchange import Swap


class _Blind(Disk):
    """A folder that may be entered but not listed."""

    def names(self, folder: Path) -> list[str]:
        raise PermissionError(str(folder))


def test_empty_file_is_changed_where_the_folder_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_SETTLE_GONE", 0.02)
    path = tmp_path / "day.md"
    path.write_bytes(b"")
    assert Swap(_Blind()).edit(path, lambda before: (before or b"") + b"new") == b"new"
    assert path.read_bytes() == b"new"
