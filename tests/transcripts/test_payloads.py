"""Law: a digest leads to the text that it was made of, or to nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given

from engramdown.storage.disk import Disk
from engramdown.transcripts.payloads import Payloads, digest
from tests.episodes.disks import Fault, FaultyDisk
from tests.episodes.strategies import texts


@given(texts)
def test_what_is_kept_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    payloads = Payloads(tmp_path_factory.mktemp("p"), Disk(), durable=True)
    assert payloads.fetch(digest(text)) is None
    payloads.keep(digest(text), text)
    payloads.keep(digest(text), text)
    assert payloads.fetch(digest(text)) == text


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "g" * 64, "a" * 63, "A" * 64])
def test_what_is_no_digest_leads_nowhere(tmp_path: Path, name: str) -> None:
    assert Payloads(tmp_path, Disk(), durable=False).fetch(name) is None


@pytest.mark.parametrize("left", [b"", b"wh", bytes(5)])
def test_what_a_power_cut_left_of_one_is_written_again(tmp_path: Path, left: bytes) -> None:
    payloads = Payloads(tmp_path, Disk(), durable=False)
    name = digest("whole")
    payloads.keep(name, "whole")
    payloads.path(name).write_bytes(left)
    assert payloads.fetch(name) is None
    payloads.keep(name, "whole")
    assert payloads.fetch(name) == "whole"


def test_one_that_others_wrote_is_synced_before_a_line_points_to_it(tmp_path: Path) -> None:
    """They may have died before they synced it, or sync nothing."""
    name = digest("whole")
    Payloads(tmp_path, Disk(), durable=False).keep(name, "whole")
    for call, file in (("sync", ""), ("sync_folder", name[:2])):
        disk = FaultyDisk(Fault(call, errno.EIO, file, times=1))
        payloads = Payloads(tmp_path, disk, durable=True)
        with pytest.raises(OSError, match="Input/output"):
            payloads.keep(name, "whole")
        disk.faults = [Fault("sync_folder", errno.EIO, name[:2])]
        with pytest.raises(OSError, match="Input/output"):
            payloads.keep(name, "whole")
        disk.faults = []
        payloads.keep(name, "whole")
        disk.faults = [Fault("sync_folder", errno.EIO, name[:2])]
        payloads.keep(name, "whole")
        payloads.release([name])
        with pytest.raises(OSError, match="Input/output"):
            payloads.keep(name, "whole")


def test_one_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = FaultyDisk(Fault("write", errno.ENOSPC, times=1, after=2))
    payloads = Payloads(tmp_path, disk, durable=False)
    with pytest.raises(OSError, match="No space left"):
        payloads.keep(digest("whole"), "whole")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
