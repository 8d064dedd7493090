"""What was taken back of an imported session does not come back with the next import."""

from __future__ import annotations

import json

from engramdown.episodes.forget import Forgetting
from engramdown.episodes.memory import EpisodicMemory
from tests.importers.shop import Shop, claude_line, write_lines
from tests.importers.test_importing import chatgpt


def forgetting(shop: Shop) -> Forgetting:
    return EpisodicMemory(shop.folder.parent).forgetting()


def export(shop: Shop, *conversations: dict[str, object]) -> None:
    path = shop.inbox / "conversations.json"
    path.write_text(json.dumps(conversations), encoding="utf-8")


def test_a_redacted_line_stays_redacted_when_the_file_grows(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one"), claude_line(2, "two")])
    shop.bring()
    forgetting(shop).redact(next(iter(shop.sessions())), [1])
    write_lines(path, [claude_line(3, "three")], mode="a")
    assert shop.bring().new == 1
    assert shop.texts() == [["", "two", "three"]]


def test_a_redacted_line_stays_redacted_when_all_is_exported_again(shop: Shop) -> None:
    export(shop, chatgpt("c", "one", "two"))
    shop.bring()
    forgetting(shop).redact(next(iter(shop.sessions())), [1])
    export(shop, chatgpt("c", "one", "two", "three"))
    assert shop.bring().new == 1
    assert shop.texts() == [["", "two", "three"]]


def test_a_session_that_did_not_grow_is_left_as_it_is(shop: Shop) -> None:
    export(shop, chatgpt("c", "one"))
    shop.bring()
    ((name, _),) = shop.sessions().items()
    forgetting(shop).exclude(name)
    before = shop.sessions()
    export(shop, chatgpt("c", "one"), chatgpt("d", "other"))
    shop.bring()
    assert shop.sessions()[name] == before[name]


def test_a_purged_session_does_not_come_back_with_the_next_export(shop: Shop) -> None:
    export(shop, chatgpt("c", "one"), chatgpt("d", "other"))
    shop.bring()
    gone = next(name for name, lines in shop.sessions().items() if lines[1].text == "one")
    forgetting(shop).purge(gone)
    for _ in range(2):
        export(shop, chatgpt("c", "one", "more"), chatgpt("d", "other"), chatgpt("e", "new"))
        report = shop.bring()
        assert shop.texts() == [["other"], ["new"]] or shop.texts() == [["new"], ["other"]]
    export(shop, chatgpt("c", "one", "more", "and more"))
    report = shop.bring()
    assert report.skipped(damaged=False)["of a session that was purged"] == 3
    assert report.sessions == []


def test_a_purged_session_does_not_come_back_when_its_file_grows(shop: Shop) -> None:
    path = write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    shop.bring()
    forgetting(shop).purge(next(iter(shop.sessions())))
    for number in (2, 3):
        write_lines(path, [claude_line(number, "more")], mode="a")
        assert shop.bring().new == 0
    assert shop.sessions() == {}
    assert shop.bring().states() == {"unchanged": 1}


def test_what_was_imported_again_on_purpose_comes_back(shop: Shop) -> None:
    write_lines(shop.inbox / "a.jsonl", [claude_line(1, "one")])
    shop.bring()
    forgetting(shop).purge(next(iter(shop.sessions())))
    (shop.folder / "imports" / "ledger.jsonl").unlink()
    assert shop.bring().new == 1
