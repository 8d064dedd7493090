"""Law: an import that is killed is finished by the next one, and nothing is there twice."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from engramdown.importers.importer import Importer
from engramdown.importers.inputs import find_inputs
from engramdown.settings import EpisodeSettings
from tests.episodes.disks import Fault, FaultyDisk
from tests.importers.shop import Shop, claude_line, write_lines

# Ends itself before the call of the disk with a given number; writes only half of what it is
# given first, if that call writes.
DYING: Final = """\
import os, signal, sys
from pathlib import Path
from engramdown.storage.disk import Disk
from engramdown.importers import importer as file
from engramdown.importers.inputs import find_inputs
from engramdown.importers.importer import Importer
from engramdown.settings import EpisodeSettings

left = int(sys.argv[1])
file._MOST_BYTES = 400

class Dying(Disk):
    pass

def dying(name):
    usual = getattr(Disk, name)
    def call(self, *arguments, **named):
        global left
        left -= 1
        if left < 0:
            if name == "write":
                usual(self, arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return usual(self, *arguments, **named)
    setattr(Dying, name, call)

for name in ("open", "write", "publish", "make_folder", "truncate", "find"):
    dying(name)
Importer(Path(sys.argv[2]), EpisodeSettings(output_limit=5), Dying()).run(
    find_inputs([Path(sys.argv[3])])
)
"""
TEXTS: Final = ["one", "two", "three"]


def fill(shop: Shop) -> None:
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "a long result"}]
    lines = [claude_line(n, text) for n, text in enumerate(TEXTS)]
    write_lines(
        shop.inbox / "a.jsonl", [*lines, claude_line(9, "") | {"message": {"content": result}}]
    )
    conversation = {"uuid": "c1", "chat_messages": [{"sender": "human", "text": "hello"}]}
    (shop.inbox / "c.json").write_text(json.dumps([conversation]), "utf-8")


def die_at(shop: Shop, number: int) -> bool:
    """Import and die at a call; whether there was such a call."""
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(number), str(shop.folder), str(shop.inbox)], check=False
    )
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.slow
def test_an_import_that_is_killed_at_any_call_is_finished_by_the_next(tmp_path: Path) -> None:
    whole = Shop(tmp_path / "whole")
    fill(whole)
    whole.bring(output_limit=5)
    wanted = [[ep.text for ep in episodes] for episodes in whole.sessions().values()]
    number = 0
    while True:
        shop = Shop(tmp_path / str(number))
        fill(shop)
        if not die_at(shop, number):
            break
        shop.bring(output_limit=5)
        found = [[ep.text for ep in episodes] for episodes in shop.sessions().values()]
        assert found == wanted, number
        for episodes in shop.sessions().values():
            assert [ep.seq for ep in episodes] == list(range(len(episodes)))
            assert [ep.event for ep in episodes if ep.event] == ["start", "end"]
        assert shop.bring(output_limit=5).states() == {"unchanged": 2}
        number += 1
    assert number > 20


@pytest.mark.parametrize(
    "fault",
    [
        Fault("write", errno.ENOSPC, "claude-code"),
        Fault("write", errno.ENOSPC, "claude-code", after=150),
        Fault("write", errno.ENOSPC, "ledger"),
        Fault("write", errno.ENOSPC, "ledger", after=20),
        Fault("write", errno.EIO, ".txt"),
        Fault("open", errno.EACCES, "claude-2"),
    ],
    ids=str,
)
def test_a_disk_that_fails_stops_it_and_the_next_one_goes_on(tmp_path: Path, fault: Fault) -> None:
    shop = Shop(tmp_path)
    fill(shop)
    disk = FaultyDisk(fault)
    with pytest.raises(OSError):  # noqa: PT011 - the system's own, whichever
        Importer(shop.folder, EpisodeSettings(output_limit=5), disk).run(find_inputs([shop.inbox]))
    assert disk.landed
    shop.bring(output_limit=5)
    assert sorted(shop.texts()) == [["hello"], [*TEXTS, "a lon"]]
    assert shop.bring(output_limit=5).states() == {"unchanged": 2}


def test_the_settings_do_not_change_what_is_the_same(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    fill(shop)
    shop.bring(output_limit=5)
    (shop.folder / "imports" / "ledger.jsonl").unlink()
    assert shop.bring(redact="all", payloads="drop").new == 0
