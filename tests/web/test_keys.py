"""Keys of pages: a code counts once and for a minute, a key until it is revoked."""

from __future__ import annotations

import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time
from starlette.testclient import TestClient

from engramdown.errors import StoreError
from engramdown.hippocampus.files import is_for_git
from engramdown.web import CODE_SECONDS, Keys
from engramdown.web.keys import KEYS_FILE
from tests.tables import every


def test_a_code_counts_once_on_whichever_server(tmp_path: Path) -> None:
    here, there = Keys(tmp_path), Keys(tmp_path)
    code = here.new_code()
    key = there.trade(f" {code.upper()} ")
    assert key is not None
    assert here.trade(code) is None
    assert there.trade(code) is None
    assert here.kind_of(key.secret) == "person"
    assert Keys(tmp_path).kind_of(key.secret) == "person"


def test_of_many_who_trade_a_code_at_once_one_gets_a_key(tmp_path: Path) -> None:
    code = Keys(tmp_path).new_code()
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(Keys(tmp_path).trade(code))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([key for key in found if key]) == 1


def test_a_code_counts_for_a_minute(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    with freeze_time("2026-02-27 10:00:00") as now:
        late, early = keys.new_code(), keys.new_code()
        now.tick(timedelta(seconds=CODE_SECONDS - 1))
        assert keys.trade(early)
        now.tick(timedelta(seconds=2))
        assert keys.trade(late) is None


def test_only_digests_are_kept_and_only_the_user_reads_them(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    code = keys.new_code()
    key = keys.trade(keys.new_code())
    assert key is not None
    path = tmp_path / KEYS_FILE
    text = path.read_text(encoding="utf-8")
    assert code not in text
    assert key.secret not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not is_for_git(KEYS_FILE)


def test_a_key_is_revoked_by_its_id_or_with_all_others(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    first, second, third = (keys.trade(keys.new_code()) for _ in range(3))
    assert first
    assert second
    assert third
    other = Keys(tmp_path)
    assert other.kind_of(first.secret) == "person"
    assert [each["id"] for each in keys.listed()] == [first.id, second.id, third.id]
    assert keys.revoke(first.id) == 1
    assert other.kind_of(first.secret) is None
    assert other.kind_of(second.secret) == "person"
    waiting = keys.new_code()
    assert keys.revoke() == 2
    assert other.kind_of(third.secret) is None
    assert keys.trade(waiting) is None
    assert keys.kind_of(keys.token) == "program"


def test_the_oldest_of_many_keys_goes(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    given = [keys.trade(keys.new_code()) for _ in range(66)]
    counts = [keys.kind_of(key.secret) for key in given if key]
    assert counts == [None, None, *["person"] * 64]


def test_a_file_that_is_deleted_signs_every_page_out(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    key = keys.trade(keys.new_code())
    assert key is not None
    (tmp_path / KEYS_FILE).unlink()
    assert keys.kind_of(key.secret) is None
    assert keys.trade(keys.new_code())


@every("text", ["", "no JSON", "[]", "{}", '{"codes": [], "keys": {}}', '{"codes": {"a": "b"}}'])
def test_a_file_that_holds_something_else_is_refused(text: str) -> None:
    folder = Path("home")
    keys = Keys(folder)
    (folder / KEYS_FILE).write_text(text, encoding="utf-8")
    (folder / KEYS_FILE).chmod(0o600)
    for use in (lambda: Keys(folder), keys.new_code, lambda: keys.kind_of("x" * 43)):
        with pytest.raises(StoreError, match="holds no keys; delete it"):
            use()
    (folder / KEYS_FILE).unlink()


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    Keys(tmp_path).new_code()
    (tmp_path / KEYS_FILE).chmod(0o640)
    with pytest.raises(StoreError, match="others can read it"):
        Keys(tmp_path)


# ---- over HTTP ----


def test_a_page_trades_a_code_and_may_revoke_itself(nobody: TestClient, keys: Keys) -> None:
    given = nobody.post("/v1/keys", json={"code": keys.new_code()})
    assert given.status_code == 201
    key = given.json()
    page = {"Authorization": f"Bearer {key['key']}"}
    (listed,) = nobody.get("/v1/keys", headers=page).json()
    assert listed["id"] == key["id"]
    assert key["key"] not in str(listed)
    for unknown in ("unknown", "%C3%A9", "%00"):
        assert nobody.delete(f"/v1/keys/{unknown}", headers=page).status_code == 404
    assert nobody.delete(f"/v1/keys/{key['id']}", headers=page).status_code == 204
    assert nobody.get("/v1/keys", headers=page).status_code == 401


@every(
    "body, status, field",
    [
        ({"code": "aaaaa-aaaaa-aaaaa-aaaaa"}, 401, "code"),
        ({"code": ""}, 401, "code"),
        ({"code": "x" * 101}, 422, "code"),
        ({"code": 5}, 422, "code"),
        ({}, 422, "code"),
        ({"code": "a", "more": 1}, 422, "more"),
    ],
)
def test_what_is_no_code_gets_no_key(
    nobody: TestClient, body: object, status: int, field: str
) -> None:
    answer = nobody.post("/v1/keys", json=body)
    assert (answer.status_code, answer.json()["field"]) == (status, field)


@every(
    "sent, media, status, kind",
    [
        (b"code=x", "application/x-www-form-urlencoded", 415, "not-json"),
        (b'{"code": "x"}', "text/plain", 415, "not-json"),
        (b"{", "application/json", 400, "malformed"),
        (b"[" * 100_000, "application/json", 400, "malformed"),
        (b"\xff", "application/json", 400, "malformed"),
        (b'"\\ud800"', "application/json", 400, "malformed"),
        (b"[]", "application/json", 422, "invalid"),
        (b"null", "application/json; charset=utf-8", 422, "invalid"),
        (b"", "application/json", 422, "invalid"),
        (b'{"code": "' + b"x" * 2_000_000 + b'"}', "application/json", 413, "too-large"),
    ],
)
def test_what_is_no_json_is_a_problem(
    nobody: TestClient, sent: bytes, media: str, status: int, kind: str
) -> None:
    answer = nobody.post("/v1/keys", content=sent, headers={"Content-Type": media})
    assert answer.status_code == status
    assert answer.json()["type"] == f"urn:engramdown:problem:{kind}"


def test_a_server_whose_keys_cannot_be_read_says_so(person: TestClient, keys: Keys) -> None:
    (keys.home / KEYS_FILE).write_text("broken", encoding="utf-8")
    answer = person.get("/v1/keys")
    assert (answer.status_code, answer.json()["title"]) == (
        503,
        "Memory could not be read or written",
    )
    assert "delete it, and every page asks for a code again" in answer.json()["detail"]
