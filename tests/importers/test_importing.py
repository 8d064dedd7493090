"""Laws: twice changes nothing; what grew brings what is new; nothing is lost, nothing twice."""

from __future__ import annotations

import errno
import json
import os
import random
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.importers.importer import Importer, alone
from engramdown.importers.inputs import find_inputs
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from tests.importers.shop import Shop, claude_line, write_lines


def chatgpt(name: str, *texts: str, at: float = 1736209400.0) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"parent": None, "message": None}}
    above = "root"
    for number, text in enumerate(texts):
        key = f"{name}-{number}"
        nodes[key] = {
            "parent": above,
            "message": {
                "id": key,
                "author": {"role": "user"},
                "create_time": at + number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        above = key
    return {"id": name, "title": name, "create_time": at, "mapping": nodes, "current_node": above}


def test_a_session_is_there_with_its_times_and_its_source(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one"), claude_line(2, "two")])
    report = shop.bring()
    ((name, (start, one, two, end)),) = shop.sessions().items()
    assert name.startswith("claude-code-20260227-")
    assert (start.event, start.more["source"], start.ts) == ("start", "claude-code", one.ts)
    assert (one.seq, one.text, one.ts) == (1, "one", "2026-02-27T10:00:01.123000Z")
    assert (two.seq, two.text, two.ts) == (2, "two", "2026-02-27T10:00:02.123000Z")
    assert (end.event, end.more, end.ts) == ("end", {"reason": "import"}, two.ts)
    assert len({episode.id for episode in (start, one, two, end)}) == 4
    (brought,) = report.sessions
    assert (brought.session, brought.fresh, brought.new, brought.known) == (name, True, 2, 0)
    info = EpisodicMemory(shop.folder.parent).sessions()[0]
    assert (info.source, info.reason, info.ended) == ("claude-code", "import", end.ts)


def test_twice_changes_nothing(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one"), "damaged"])
    (shop.inbox / "conversations.json").write_text(json.dumps([chatgpt("c", "x")]), "utf-8")
    shop.bring()
    before = shop.files()
    report = shop.bring()
    assert shop.files() == before
    assert report.states() == {"unchanged": 2}
    assert (report.new, report.known) == (0, 0)


def test_a_dry_run_says_the_same_and_writes_nothing(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(n, str(n)) for n in range(5)] + [{}])
    dry = shop.bring(dry=True)
    assert not shop.folder.exists()
    assert dry == shop.bring()
    before = shop.files()
    write_lines(shop.inbox / "a.jsonl", [claude_line(6, "six")], mode="a")
    assert shop.bring(dry=True).new == 1
    assert shop.files() == before


def test_a_file_that_grew_brings_what_is_new(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    shop.bring()
    for number in (2, 3):
        write_lines(path, [claude_line(number, str(number))], mode="a")
        report = shop.bring()
        assert [(each.new, each.known, each.fresh) for each in report.sessions] == [(1, 0, False)]
    assert shop.texts() == [["one", "2", "3"]]


def test_a_file_that_moved_and_grew_goes_on_with_its_session(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    shop.bring()
    moved = path.rename(shop.inbox / "b.jsonl")
    assert shop.bring().states() == {"unchanged": 1}
    write_lines(moved, [claude_line(2, "two")], mode="a")
    shop.bring()
    write_lines(moved, [claude_line(3, "three" * 500)], mode="a")
    shop.bring()
    again = moved.rename(shop.inbox / "c.jsonl")
    write_lines(again, [claude_line(4, "four")], mode="a")
    shop.bring()
    assert shop.texts() == [["one", "two", "three" * 500, "four"]]


def test_a_newer_export_brings_what_is_new(shop: Shop) -> None:
    for count, extra in ((2, []), (3, [chatgpt("d", "other")])):
        exported = [chatgpt("c", *map(str, range(count))), *extra]
        path = shop.inbox / f"export-{count}.json"
        path.write_text(json.dumps(exported), "utf-8")
        report = shop.bring(path)
    assert sorted(shop.texts()) == [["0", "1", "2"], ["other"]]
    assert {each.title: (each.new, each.known) for each in report.sessions} == {
        "c": (1, 2),
        "d": (1, 0),
    }


def test_equal_ids_in_two_files_are_two_conversations(shop: Shop) -> None:
    for name in "ab":
        write_lines(
            shop.inbox / f"{name}.jsonl",
            [claude_line(1, f"{name} one"), claude_line(2, f"{name} two")],
        )
    shop.bring()
    assert sorted(shop.texts()) == [["a one", "a two"], ["b one", "b two"]]
    files = shop.files()
    shop.bring()
    assert shop.files() == files


def test_a_file_that_was_written_anew_brings_what_is_new(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(n, str(n)) for n in (1, 2, 3)])
    shop.bring()
    write_lines(path, [claude_line(1, "1"), claude_line(3, "3"), claude_line(4, "4")])
    report = shop.bring()
    assert [(each.new, each.known) for each in report.sessions] == [(1, 2)]
    assert shop.texts() == [["1", "2", "3", "4"]]


def test_a_line_that_stands_twice_is_taken_once_and_equal_words_are_not_equal(shop: Shop) -> None:
    write_lines(
        shop.inbox / "a.jsonl",
        [claude_line(1, "x"), claude_line(1, "x"), claude_line(1, "x", uuid="other")],
    )
    write_lines(shop.inbox / "b.jsonl", [{"role": "user", "content": "ok"}] * 3)
    shop.bring()
    assert sorted(shop.texts()) == [["ok", "ok", "ok"], ["x", "x"]]


@pytest.mark.slow
def test_ten_thousand_lines_of_one_moment_all_come(shop: Shop) -> None:
    lines = [claude_line(n, f"text {n}", ts="2026-02-27T10:00:00Z") for n in range(10_000)]
    path = write_lines(shop.inbox / "a.jsonl", lines)
    assert shop.bring().new == 10_000
    (shop.folder / "imports" / "ledger.jsonl").unlink()
    assert [(each.new, each.known) for each in shop.bring(path).sessions] == [(0, 10_000)]


def test_damaged_lines_are_counted_and_the_rest_comes(shop: Shop) -> None:
    lines = [json.dumps(claude_line(1, "one")).encode(), b"nonsense", b"\xff\xfe", b"", b"[1]"]
    lines += [json.dumps(claude_line(2, "two\u2028\u0085\ufeff")).encode() + b"\r", b'{"type": "us']
    (shop.inbox / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    (report,) = shop.bring().files
    assert shop.texts() == [["one", "two\u2028\u0085\ufeff"]]
    assert {name: (why.count, why.lines, why.damaged) for name, why in report.skipped.items()} == {
        "is not JSON": (2, [2, 3], True),
        "is not a record of Claude Code": (1, [5], True),
    }
    assert report.unfinished
    before = shop.files()
    (report,) = shop.bring().files
    assert (report.state, report.unfinished) == ("unchanged", True)
    assert shop.files() == before
    with (shop.inbox / "a.jsonl").open("ab") as file:
        rest = json.dumps(claude_line(3, "three"))[len('{"type": "us') :]
        file.write(rest.encode())
    shop.bring()
    assert shop.texts() == [["one", "two\u2028\u0085\ufeff", "three"]]


@pytest.mark.slow
def test_a_line_has_no_limit(shop: Shop) -> None:
    words = "word " * 4_000_000
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, words), claude_line(2, "next")])
    shop.bring()
    assert shop.texts() == [[words, "next"]]


@pytest.mark.parametrize("ts", ["0001-01-01T00:00:00Z", "", "?", None, 0, -5, 10**30, []])
def test_a_time_that_is_none_is_that_of_the_line_before(shop: Shop, ts: object) -> None:
    bad = claude_line(2, "two") | {"timestamp": ts}
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one"), bad])
    shop.bring()
    write_lines(path, [bad | {"uuid": "u3"}], mode="a")
    shop.bring()
    ((_, episodes),) = shop.sessions().items()
    assert {episode.ts for episode in episodes} == {"2026-02-27T10:00:01.123000Z"}


def test_where_no_time_is_known_it_is_that_of_the_file(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [{"role": "user", "content": "x"}] * 2)
    os.utime(path, (1_772_187_300, 1_772_187_300))
    shop.bring()
    ((name, episodes),) = shop.sessions().items()
    assert {episode.ts for episode in episodes} == {"2026-02-27T10:15:00.000000Z"}
    # Interrupted, then touched: it is still the same session, with the same ids.
    (shop.folder / "imports" / "ledger.jsonl").unlink()
    os.utime(path, (1_800_000_000, 1_800_000_000))
    assert [(each.session, each.new) for each in shop.bring().sessions] == [(name, 0)]


def test_whole_texts_are_kept_and_secrets_are_hidden(shop: Shop) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = [{"type": "tool_result", "tool_use_id": "t", "content": f"{token} " + "x" * 5_000}]
    spoken = claude_line(1, f"my token is {token}")
    write_lines(
        shop.inbox / "a.jsonl", [spoken, claude_line(2, "") | {"message": {"content": result}}]
    )
    shop.bring()
    ((_, (_, said, found, _)),) = shop.sessions().items()
    assert said.text == "my token is [redacted: GitHub token]"
    assert found.cut == 5_000 + len("[redacted: GitHub token] ")
    assert len(found.text) == 2_000
    assert all(token.encode() not in data for name, data in shop.files().items() if "payl" in name)
    assert EpisodicMemory(shop.folder.parent).whole(found).startswith("[redacted: GitHub token] x")


def test_the_settings_say_what_is_kept_and_hidden(shop: Shop) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 50}]
    write_lines(
        shop.inbox / "a.jsonl",
        [claude_line(1, token), claude_line(2, "") | {"message": {"content": result}}],
    )
    shop.bring(redact="tools", payloads="drop", output_limit=10, durability="full")
    ((_, (_, said, found, _)),) = shop.sessions().items()
    assert said.text == token
    assert (found.text, found.cut, found.payload) == ("x" * 10, 50, "")
    assert not (shop.folder / "payloads").exists()


def test_sub_agents_point_to_the_session_that_started_them(shop: Shop) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a7"}
    main = write_lines(
        shop.inbox / "s1.jsonl", [claude_line(1, "main"), claude_line(2, "in", **side)]
    )
    write_lines(
        shop.inbox / "s1" / "subagents" / "agent-a9.jsonl",
        [claude_line(3, "apart", isSidechain=True, agentId="a9")],
    )
    shop.bring(main)
    shop.bring()
    starts = {episodes[1].text: episodes[0] for episodes in shop.sessions().values()}
    above = starts["main"].more["session"]
    assert [starts[text].more.get("parent") for text in ("main", "in", "apart")] == [
        None,
        above,
        above,
    ]


def test_a_zip_is_read_without_being_unpacked(shop: Shop) -> None:
    path = shop.inbox / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([chatgpt("c", "zipped")], indent=1))
        archive.writestr("user.json", '{"id": "me"}')
        archive.writestr("chat.html", "<html>")
    report = shop.bring(path)
    assert shop.texts() == [["zipped"]]
    assert [(file.path, file.state) for file in report.files] == [
        (f"{path}/conversations.json", "read"),
        (f"{path}/user.json", "unknown"),
    ]
    before = shop.files()
    assert shop.bring(path).states() == {"unchanged": 1, "unknown": 1}
    assert shop.files() == before


def test_an_archive_that_is_damaged_fails_and_the_rest_comes(shop: Shop) -> None:
    path = shop.inbox / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.jsonl", json.dumps(claude_line(1, "q" * 5_000)) + "\n")
        archive.writestr("b.jsonl", json.dumps(claude_line(2, "whole")) + "\n")
    data = bytearray(path.read_bytes())
    data[data.index(b"qqqq") + 2_000] ^= 1
    path.write_bytes(data)
    report = shop.bring(path)
    assert [file.state for file in report.files] == ["failed", "read"]
    assert "cannot be read: Bad CRC-32" in report.files[0].error
    assert shop.texts()[-1] == ["whole"]
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(StoreError, match="cannot be read"):
        shop.bring(path)


def test_what_is_no_transcript_is_said(shop: Shop) -> None:
    (shop.inbox / "empty.jsonl").touch()
    (shop.inbox / "list.json").write_text("[1, 2]", "utf-8")
    (shop.inbox / "notes.txt").write_text(json.dumps(claude_line(1, "x")), "utf-8")
    write_lines(shop.inbox / "x.deleted.1.jsonl", [claude_line(1, "x")])
    os.mkfifo(shop.inbox / "pipe.jsonl")
    report = shop.bring()
    assert report.states() == {"unknown": 2}
    assert shop.texts() == []
    with pytest.raises(StoreError, match="neither a file nor a folder"):
        shop.bring(shop.inbox / "pipe.jsonl")
    assert shop.bring(shop.inbox / "notes.txt").new == 1


def test_what_says_nothing_is_left_out(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "\n\n"), claude_line(2, " x\n")])
    report = shop.bring()
    assert shop.texts() == [[" x\n"]]
    assert report.skipped(damaged=False) == {"empty message": 1}


def test_copies_that_a_program_makes_to_compact_are_not_read(shop: Shop) -> None:
    write_lines(shop.inbox / "s1" / "subagents" / "agent-acompact-1.jsonl", [claude_line(1, "x")])
    assert shop.bring().files == []


def test_a_source_can_be_said(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [{"x": 1}, {"role": "user", "content": "x"}])
    assert shop.bring(path).new == 1
    report = shop.bring(path, source="anton")
    assert report.skipped(damaged=True) == {"is not an episode of Anton": 2}


def test_a_list_that_is_cut_off_brings_what_is_there(shop: Shop) -> None:
    data = json.dumps([chatgpt("c", "one"), chatgpt("d", "two")])
    (shop.inbox / "conversations.json").write_text(data[:-40], "utf-8")
    report = shop.bring()
    assert shop.texts() == [["one"]]
    assert report.skipped(damaged=True) == {"the rest of the file is not JSON": 1}


def test_a_value_laid_out_for_a_person_is_one_conversation(shop: Shop) -> None:
    (shop.inbox / "c.json").write_text(json.dumps(chatgpt("c", "one"), indent=2), "utf-8")
    (shop.inbox / "broken.json").write_text("{\n" + json.dumps(claude_line(1, "x")), "utf-8")
    shop.bring()
    assert sorted(shop.texts()) == [["one"], ["x"]]


def test_long_files_are_noted_part_by_part(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramdown.importers.importer._MOST_BYTES", 2_000)
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(n, "x" * 500) for n in range(40)])
    seen: list[int] = []
    importer = Importer(shop.folder, EpisodeSettings())
    from engramdown.importers.inputs import find_inputs

    importer.run(find_inputs([path]), None, seen.append)
    ledger = (shop.folder / "imports" / "ledger.jsonl").read_text("utf-8").strip().split("\n")
    assert len(ledger) > 5
    assert sum(seen) == path.stat().st_size
    assert [len(texts) for texts in shop.texts()] == [40]
    # The ledger is cut off somewhere: no more than the part behind that is looked at again.
    (shop.folder / "imports" / "ledger.jsonl").write_text(
        "\n".join([*ledger[:3], ledger[3][:50]]), "utf-8"
    )
    (brought,) = shop.bring().sessions
    assert brought.new == 0
    assert 0 < brought.known < 40
    assert shop.bring().states() == {"unchanged": 1}


def test_many_conversations_are_not_held_in_memory(shop: Shop) -> None:
    lines = [{"messages": [{"role": "user", "content": f"row {n}"}]} for n in range(300)]
    write_lines(shop.inbox / "a.jsonl", lines + lines[:1])
    assert shop.bring().new == 300
    assert len(shop.sessions()) == 300
    before = shop.files()
    write_lines(shop.inbox / "b.jsonl", lines)
    report = shop.bring()
    assert (report.new, report.known) == (0, 300)
    changed = {name for name, data in shop.files().items() if data != before.get(name)}
    assert changed == {"imports/ledger.jsonl"}


def test_two_imports_at_once_wait_for_each_other(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "x")])
    importer = Importer(shop.folder, EpisodeSettings(), patience=0.01)
    with alone(shop.folder, Disk()), pytest.raises(LockTimeoutError):
        importer.run(find_inputs([shop.inbox]))
    assert shop.bring().new == 1


def test_what_goes_on_is_imported_without_an_end(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "x")])
    importer = Importer(shop.folder, EpisodeSettings(), ends=False)
    assert importer.run(find_inputs([shop.inbox])).new == 1
    [info] = EpisodicMemory(shop.folder.parent).sessions()
    assert (info.lines, info.ended) == (1, "")


def test_what_is_made_is_for_the_user_alone(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "x")])
    shop.bring()
    for path in [shop.folder, *shop.folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_session_goes_on_behind_what_was_said_here(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    (brought,) = shop.bring().sessions
    memory = EpisodicMemory(shop.folder.parent)
    memory.log(brought.session, "user", "said here")
    memory.close()
    write_lines(path, [claude_line(2, "two")], mode="a")
    shop.bring()
    assert shop.texts() == [["one", "said here", "two"]]
    assert [episode.seq for episode in next(iter(shop.sessions().values()))] == list(range(6))


@pytest.mark.slow
@pytest.mark.parametrize("char", ["{", "[", '"', "\\", "a", " ", "0", "\n", "}", ","])
def test_a_megabyte_of_anything_is_no_problem(shop: Shop, char: str) -> None:
    (shop.inbox / "a.jsonl").write_text(char * 1_000_000, "utf-8")
    (shop.inbox / "b.json").write_text("[" + char * 1_000_000, "utf-8")
    write_lines(shop.inbox / "c.jsonl", [claude_line(1, char * 1_000_000)])
    for source in ("", "chatgpt", "openai"):
        shop.bring(source=source, dry=True)
    shop.bring()
    assert shop.texts() == ([[char * 1_000_000]] if char.strip() else [])


def test_any_growth_gives_what_one_import_gives(tmp_path: Path) -> None:
    dice = random.Random(7)
    for turn in range(20):
        shop = Shop(tmp_path / str(turn))
        whole = b"".join(
            json.dumps(claude_line(n, dice.choice(["a", "b\u2028", "c" * 90]))).encode() + b"\n"
            for n in range(12)
        )
        path = shop.inbox / "a.jsonl"
        for end in [*sorted(dice.sample(range(len(whole)), 4)), len(whole)]:
            path.write_bytes(whole[:end])
            shop.bring()
        said = [json.loads(line)["message"]["content"] for line in whole.strip().split(b"\n")]
        assert shop.texts() == [said]


def test_a_folder_that_cannot_be_listed_is_told(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(PermissionError, match="inbox"):
            shop.bring()
    assert shop.bring().new == 1
