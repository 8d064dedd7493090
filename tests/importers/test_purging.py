"""Laws: a purge takes one source and nothing else; what was exported comes back as it was."""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engramdown.episodes.forget import Traces
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.importers.importer import Importer, Purged, purge_import
from engramdown.importers.inputs import find_inputs
from engramdown.recall.vectors import Vectors, digest_of
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import CACHE
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.payloads import digest
from engramdown.transcripts.session_log import SessionLog
from tests.importers.shop import Shop, claude_line, write_lines

LONG = "y" * 3_000


def result(number: int, text: str) -> object:
    block = {"type": "tool_result", "tool_use_id": "t", "content": text}
    return claude_line(number, "") | {"message": {"content": [block]}}


def record(shop: Shop, session: str, *texts: str) -> EpisodicMemory:
    """Record a session here."""
    memory = EpisodicMemory(shop.folder.parent)
    memory.start_session(session)
    for text in texts:
        memory.log(session, "tool_result", text, call="c")
    memory.end(session)
    memory.close()
    return memory


def test_a_purge_takes_its_source_and_nothing_else(shop: Shop) -> None:
    memory = record(shop, "native", LONG, "short")
    before = shop.files()
    write_lines(shop.inbox / "a.jsonl", [result(1, LONG), result(2, "z" * 3_000)])
    write_lines(shop.inbox / "b.jsonl", [{"role": "user", "content": "other"}])
    shop.bring()
    name = next(name for name in shop.sessions() if name.startswith("claude-code"))
    (shop.folder / f"{name}.torn-1").write_bytes(b"half a l")
    asked = purge_import(shop.folder, "claude-code", dry=True)
    assert asked == Purged((name,), frozenset({digest("z" * 3_000)}))
    assert name in shop.sessions()
    assert purge_import(shop.folder, "claude-code") == asked
    assert [texts for texts in shop.texts() if "other" in texts] == [["other"]]
    assert memory.whole(memory.session("native").episodes[1]) == LONG
    assert not purge_import(shop.folder, "openai").texts
    left = {name: data for name, data in shop.files().items() if "torn" not in name}
    assert left == before | {"imports/ledger.jsonl": b""}


def test_what_was_made_of_the_sessions_goes_with_them(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "marmalade")])
    (brought,) = shop.bring().sessions
    record(shop, "native", "native words")
    root = shop.folder.parent
    for path in Traces(root, Disk()).derived(brought.session):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a card", "utf-8")
    assert EpisodicMemory(root).recall("marmalade")
    (shop.folder / f"{brought.session}.jsonl.1-ab.part").touch()
    purge_import(shop.folder, "claude-code")
    left = [path for path in root.rglob("*") if path.is_file() and shop.inbox not in path.parents]
    assert not [path for path in left if brought.session in path.name]
    assert not [path for path in left if b"marmalade" in path.read_bytes()]
    assert not EpisodicMemory(root).recall("marmalade")
    assert EpisodicMemory(root).recall("native words")


def test_what_was_purged_is_not_found_any_more(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "marmalade")])
    shop.bring()
    record(shop, "native", "native words")
    with closing(EpisodicMemory(shop.folder.parent)) as memory:
        assert memory.recall("marmalade")
    purge_import(shop.folder, "claude-code")
    with closing(EpisodicMemory(shop.folder.parent)) as memory:
        assert memory.recall("native words")
        assert not memory.recall("marmalade")


def test_the_vectors_of_what_was_purged_go(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "marmalade")])
    shop.bring()
    root = shop.folder.parent
    EpisodicMemory(root).log("native", "user", "native words")
    vectors = Vectors(root / CACHE, Disk())
    vectors.keep("m", [(digest_of(text), b"1234") for text in ("marmalade", "native words")])
    purge_import(shop.folder, "claude-code")
    left = vectors.each(lambda rows: [digest for _, digest, _ in rows])
    assert left == [digest_of("native words")]


def test_a_text_that_somebody_says_while_it_is_purged_stays(shop: Shop) -> None:
    """No line that refers to it comes in between the look for others and the removal."""
    write_lines(shop.inbox / "a.jsonl", [result(1, LONG)])
    shop.bring()
    memory = EpisodicMemory(shop.folder.parent)
    remove = Disk.unlink
    said: list[Pointer | None] = []

    class Slow(Disk):
        def unlink(self, path: Path) -> None:
            if path.suffix == ".txt" and not said:
                thread = threading.Thread(
                    target=lambda: said.append(memory.log("native", "tool_result", LONG))
                )
                thread.start()
                thread.join(0.3)
                assert not said  # it waits for the lock
                said.append(None)
                remove(self, path)
                return
            remove(self, path)

    purge_import(shop.folder, "claude-code", Slow())
    while len(said) < 2:
        time.sleep(0.01)
    assert said[1] is not None
    episode = memory.episode(said[1])
    assert episode is not None
    assert memory.whole(episode) == LONG


def test_a_text_that_is_removed_while_it_is_imported_again_is_kept(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = record(shop, "native", LONG)
    write_lines(shop.inbox / "a.jsonl", [result(1, LONG)])
    append = SessionLog.append

    def meanwhile(*arguments: Any) -> int:  # noqa: ANN401 - those of the method
        monkeypatch.setattr(SessionLog, "append", append)
        memory.forgetting().purge("native")
        return append(*arguments)

    monkeypatch.setattr(SessionLog, "append", meanwhile)
    (brought,) = shop.bring().sessions
    episode = memory.session(brought.session).episodes[1]
    assert episode.cut == len(LONG)
    assert memory.whole(episode) == LONG


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_purge_that_is_killed_at_any_change_is_finished_by_the_next(tmp_path: Path) -> None:
    class Dying(Disk):
        left = 0

        def _count(self) -> None:
            if Dying.left == 0:
                os._exit(9)
            Dying.left -= 1

        def unlink(self, path: Path) -> None:
            self._count()
            super().unlink(path)

        def save(self, path: Path, data: bytes, **how: Any) -> bool:  # noqa: ANN401 - as given
            self._count()
            return super().save(path, data, **how)

    number, died = 0, True
    while died:
        shop = Shop(tmp_path / str(number))
        write_lines(shop.inbox / "a.jsonl", [result(1, LONG + "z"), claude_line(2, "marmalade")])
        write_lines(shop.inbox / "b.jsonl", [claude_line(1, "quince", sessionId="s2")])
        shop.bring()
        record(shop, "native", LONG)
        with closing(EpisodicMemory(shop.folder.parent)) as memory:
            assert memory.recall("marmalade")
        child = os.fork()
        if child == 0:
            Dying.left = number
            purge_import(shop.folder, "claude-code", Dying())
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        purge_import(shop.folder, "claude-code")
        with closing(EpisodicMemory(shop.folder.parent)) as memory:
            assert list(shop.sessions()) == ["native"]
            assert not memory.recall("marmalade quince")
        cache = (shop.folder.parent / CACHE).iterdir()
        assert b"marmalad" not in b"".join(path.read_bytes() for path in cache)
        assert len(list(shop.folder.rglob("*.txt"))) == 1
        number += 1
    assert number > 8


def test_what_was_purged_can_come_again(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "x")])
    shop.bring()
    before = shop.sessions()
    purge_import(shop.folder, "claude-code")
    assert shop.bring().new == 1
    assert shop.sessions() == before


def test_nothing_to_purge_is_nothing(shop: Shop) -> None:
    assert purge_import(shop.folder, "anton") == Purged((), frozenset())
    assert not shop.folder.exists()


def test_a_purge_that_stopped_is_finished_by_the_next(shop: Shop) -> None:
    class Stubborn(Disk):
        def unlink(self, path: Path) -> None:
            if path.suffix == ".jsonl":
                raise PermissionError(13, "no", str(path))
            super().unlink(path)

    write_lines(shop.inbox / "a.jsonl", [result(1, LONG)])
    shop.bring()
    with pytest.raises(PermissionError):
        purge_import(shop.folder, "claude-code", Stubborn())
    assert len(purge_import(shop.folder, "claude-code").sessions) == 1
    assert not [name for name in shop.files() if not name.startswith((".git", "imports"))]


def test_a_session_that_vanishes_while_it_grows_is_said(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    (brought,) = shop.bring().sessions
    write_lines(path, [claude_line(2, "two")], mode="a")

    class Vanishing(Disk):
        def open(self, path: Path | str, *, write: bool = False, new: bool = False) -> int:
            if write and Path(path).stem == brought.session:
                Path(path).unlink()
            return super().open(path, write=write, new=new)

    importer = Importer(shop.folder, EpisodeSettings(), Vanishing())
    with pytest.raises(StoreError, match="import again"):
        importer.run(find_inputs([path]))
