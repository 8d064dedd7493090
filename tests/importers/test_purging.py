"""Laws: a purge takes one source and nothing else; what was exported comes back as it was."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engramdown.episodes.forget import Traces
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.session_export import as_json
from engramdown.errors import StoreError
from engramdown.importers.importer import Importer, Purged, purge_import
from engramdown.importers.inputs import find_inputs
from engramdown.recall.vectors import Vectors, digest_of
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import CACHE
from engramdown.transcripts.episode import Episode, Pointer
from engramdown.transcripts.payloads import PAYLOADS, Payloads, digest
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


def export(shop: Shop, session: str) -> Path:
    payloads = Payloads(shop.folder / PAYLOADS, Disk(), durable=False)
    episodes = EpisodicMemory(shop.folder.parent).session(session).episodes
    exported = as_json(session, episodes, lambda episode: payloads.fetch(episode.payload))
    path = shop.inbox / f"{session}.json"
    path.write_text(json.dumps(exported, indent=2), "utf-8")
    return path


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


def test_an_exported_session_comes_back_as_it_was(shop: Shop, tmp_path: Path) -> None:
    record(shop, "native", LONG, "\ud800 alone", "\u2028")
    other = Shop(tmp_path / "other")
    path = export(shop, "native")
    (brought,) = other.bring(path).sessions
    assert (brought.session, brought.new, brought.fresh) == ("native", 3, True)
    here = {name: data for name, data in shop.files().items() if not name.startswith("imports")}
    there = {name: data for name, data in other.files().items() if not name.startswith("imports")}
    assert here == there
    assert other.bring(path).states() == {"unchanged": 1}
    assert purge_import(other.folder, "engramdown").sessions == ("native",)
    assert other.sessions() == {}


def test_a_session_that_is_here_is_known_and_stays_when_its_export_is_purged(shop: Shop) -> None:
    record(shop, "native", "a")
    path = export(shop, "native")
    assert [(each.new, each.known) for each in shop.bring(path).sessions] == [(0, 1)]
    assert purge_import(shop.folder, "engramdown").sessions == ()
    assert list(shop.sessions()) == ["native"]


def test_another_session_of_the_same_id_gets_a_name_of_its_own(shop: Shop, tmp_path: Path) -> None:
    record(shop, "native", "theirs")
    path = export(shop, "native")
    other = Shop(tmp_path / "other")
    record(other, "native", "ours")
    before = other.files()["native.jsonl"]
    other.bring(path)
    assert other.files()["native.jsonl"] == before
    ((name, texts),) = [
        (name, [episode.text for episode in episodes if not episode.event])
        for name, episodes in other.sessions().items()
        if name != "native"
    ]
    assert name.startswith("native-")
    assert texts == ["theirs"]
    files = other.files()
    (other.folder / "imports" / "ledger.jsonl").unlink()
    assert other.bring(path).new == 0
    assert {n: d for n, d in other.files().items() if n in files and "imp" not in n} == {
        n: d for n, d in files.items() if "imp" not in n
    }


def test_secrets_of_an_export_are_hidden_as_they_are_here(shop: Shop, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory = EpisodicMemory(shop.folder.parent, EpisodeSettings(redact="off"))
    memory.log("native", "tool_result", f"{token} {LONG}", call="c")
    memory.log("native", "tool_call", token, call="c")
    memory.close()
    other = Shop(tmp_path / "other")
    other.bring(export(shop, "native"))
    assert all(token.encode() not in data for data in other.files().values())
    ((_, (_, found, short)),) = other.sessions().items()
    kept = EpisodicMemory(other.folder.parent).whole(found)
    assert kept == f"[redacted: GitHub token] {LONG}"
    assert found.cut == len(kept)
    assert (short.text, short.cut, short.payload) == ("[redacted: GitHub token]", None, "")


def test_a_whole_text_that_is_not_the_one_of_its_name_is_not_kept(shop: Shop) -> None:
    record(shop, "native", LONG)
    path = export(shop, "native")
    told = json.loads(path.read_text("utf-8"))
    told["session"] = "forged"
    told["payloads"] = dict.fromkeys(told["payloads"], "something else")
    path.write_text(json.dumps(told), "utf-8")
    before = {name: data for name, data in shop.files().items() if name.startswith(PAYLOADS)}
    shop.bring(path)
    assert {n: d for n, d in shop.files().items() if n.startswith(PAYLOADS)} == before


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


def test_every_field_of_an_episode_comes_back(shop: Shop) -> None:
    episode = Episode(
        seq=0,
        ts="2026-02-27T10:15:00.000000Z",
        id="0123456789abcdef",
        role="assistant",
        text="x",
        name="n",
        ms=1.5,
        error="e",
        model="m",
        turn=3,
        recalled=("a#1",),
        meta={"a": [1]},
        more={"unknown": {"b": None}},
    )
    path = shop.inbox / "x.json"
    path.write_text(json.dumps(as_json("x", [episode], lambda _: None)), "utf-8")
    shop.bring(path)
    assert shop.sessions() == {"x": (episode,)}
