"""Two programs summarise one conversation while two others talk in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Opening
from tests.cortex.conversation.talks import SESSION, everything

ROOT: Final = Path(__file__).parents[3]
TALK: Final = """\
import sys
from engramdown import Cortex
cortex = Cortex.open(project=sys.argv[1], home=sys.argv[2])
for number in range(150):
    assert cortex.episodes.log(sys.argv[3], "user", f"{sys.argv[4]} says {number}")
"""
COMPACT: Final = """\
import sys
from engramdown import Cortex
class Model:
    name = "scripted"
    def ask(self, schema, system, user):
        return schema(text=f"{len(user)} characters")
cortex = Cortex.open(project=sys.argv[1], home=sys.argv[2], model=Model())
conversation = cortex.conversations.get(sys.argv[3])
written = 0
for _ in range(60):
    if conversation.view():
        done = conversation.compact()
        written += len(done.gists)
print(written)
"""


@pytest.mark.slow
def test_two_compactions_while_two_others_talk_cover_each_message_once(
    opened: Opening, tmp_path: Path
) -> None:
    # As many calls as it takes: what is limited here is not money.
    config = "[consolidation]\ncalls_per_run = 100000\ncalls_per_window = 100000\n"
    config += "tokens_per_run = 100000000\ntokens_per_window = 100000000\n"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(config, encoding="utf-8")
    cortex = opened()
    assert cortex.episodes is not None
    cortex.episodes.log(SESSION, "user", "Hello")
    arguments = [str(tmp_path / "project"), str(tmp_path / "home"), SESSION]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, *arguments, f"{number}"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for number, script in enumerate((TALK, TALK, COMPACT, COMPACT))
    ]
    written = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    conversation = opened().conversations.get(SESSION)
    assert everything(conversation) == list(range(1, 302))
    assert len(conversation.gists) == sum(int(text) for text in written[2:])
    assert conversation.gists


def test_a_cortex_that_looks_again_sees_what_another_one_sees(opened: Opening) -> None:
    here, there = opened(), opened()
    assert there.episodes is not None
    for number in range(100):
        there.episodes.log(SESSION, "user", f"{number}")
        if number % 9 == 0:
            there.conversations.get(SESSION).compact(without_model=True)
            assert here.conversations.get(SESSION).view() == there.conversations.get(SESSION).view()
    fresh = opened().conversations.get(SESSION)
    assert here.conversations.get(SESSION).view() == fresh.view()
    assert everything(fresh) == list(range(1, 101))


def test_a_transcript_that_somebody_edits_in_place_is_read_again(opened: Opening) -> None:
    cortex = opened()
    assert cortex.episodes is not None
    for number in range(30):
        cortex.episodes.log(SESSION, "user", f"heron {number:02d}")
    conversation = cortex.conversations.get(SESSION)
    assert len(conversation.view()) == 30
    path = conversation.track.path
    data = path.read_bytes().replace(b"heron 29", b"egret 29")
    path.write_bytes(data)
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    conversation.view()
    assert conversation.track.message(30).text == "egret 29"
