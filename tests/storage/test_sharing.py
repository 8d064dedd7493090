"""Patience with a file that another program has open."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.errors import StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.safe_open import is_in_use, open_regular, patiently

OTHERS: Final = [1, 2, 3, 17, 80, 145, 1224]


class DeniedError(PermissionError):
    """What Windows raises: an error with its own number."""

    winerror: int | None


def denied(number: int | None, path: object = None) -> DeniedError:
    error = DeniedError(errno.EACCES, "Access is denied", path)
    error.winerror = number
    return error


class Refusing:
    """A call that is refused some times before it is made."""

    def __init__(self, times: int, error: OSError) -> None:
        """Raise ``error`` so many times."""
        self.left = times
        self.calls = 0
        self._error = error

    def __call__(self, *_: object) -> str:
        """Refuse, or answer."""
        self.calls += 1
        self.left -= 1
        if self.left >= 0:
            raise self._error
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return how long was waited, which takes no time."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.mark.parametrize("number", [5, 32, 33, None])
def test_a_file_in_use_is_tried_again(pauses: list[float], number: int | None) -> None:
    assert patiently(Refusing(3, denied(number))) == "done"
    assert pauses == [0.01, 0.02, 0.04]


@pytest.mark.parametrize("number", OTHERS)
def test_any_other_error_of_windows_is_raised_at_once(pauses: list[float], number: int) -> None:
    call = Refusing(1, denied(number))
    with pytest.raises(PermissionError):
        patiently(call)
    assert call.calls == 1
    assert pauses == []


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(PermissionError(errno.EACCES, "denied"), id="another-system"),
        pytest.param(FileNotFoundError(errno.ENOENT, "gone"), id="gone"),
        pytest.param(FileExistsError(errno.EEXIST, "there"), id="there"),
        pytest.param(OSError(errno.ENOSPC, "full"), id="full"),
    ],
)
def test_an_error_of_another_kind_is_raised_at_once(pauses: list[float], error: OSError) -> None:
    assert not is_in_use(error)
    with pytest.raises(type(error)):
        patiently(Refusing(1, error))
    assert pauses == []


def test_a_file_that_is_in_use_all_the_time_is_named_after_some_two_seconds(
    pauses: list[float],
) -> None:
    call = Refusing(99, denied(32, "rules.md"))
    with pytest.raises(PermissionError, match=r"another program has it open.*rules\.md"):
        patiently(call)
    assert call.calls == 9
    assert 2 < sum(pauses) < 2.5
    assert max(pauses) == 1.0


# ---- the calls of the disks ----

CALLS: Final = ["replace", "unlink", "link", "open"]


@pytest.mark.parametrize("number", [5, 32, 33])
@pytest.mark.parametrize("name", CALLS)
def test_a_step_gets_through_whichever_call_is_refused_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float], name: str, number: int
) -> None:
    """As on a system that exchanges no names, with a scanner that opens every new file."""
    monkeypatch.setattr("engramdown.storage.disk._exchange", lambda _new, _path: False)
    store = Hippocampus(tmp_path, disk=Disk(durable=False))
    first = store.encode_rule("Use uv", kind="always")
    with (tmp_path / "history.jsonl").open("ab") as file:
        file.write(b'{"torn')  # is cut off
    refused = refuse_first(monkeypatch, name, number)
    store.encode_rule("Pin the image", kind="always")
    store.forget(first.id)
    assert refused
    assert pauses or name == "open"  # which is tried again at once
    assert [str(entry) for entry in Hippocampus(tmp_path).recall_rules()] == ["Pin the image"]
    assert [path.name for path in store.memory.iterdir() if path.suffix in {".tmp", ".part"}] == []


def refuse_first(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> list[object]:
    """Let a call of the system be refused the first time for each file; return which were."""
    call: Callable[..., object] = getattr(os, name)
    refused: list[object] = []

    def first(path: os.PathLike[str] | str, *rest: object, **how: object) -> object:
        if str(path) not in refused and os.path.lexists(path):
            refused.append(str(path))
            raise denied(number, str(path))
        return call(path, *rest, **how)

    monkeypatch.setattr(os, name, first)
    return refused


def test_a_file_that_stays_open_elsewhere_leaves_memory_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.setattr("engramdown.storage.disk._exchange", lambda _new, _path: False)
    store = Hippocampus(tmp_path, disk=Disk(durable=False))
    store.encode_rule("Use uv", kind="always")
    before = (store.memory / "rules.md").read_bytes()
    replace = os.replace

    def kept_open(path: Path, target: Path) -> None:
        if target.name == "rules.md":
            raise denied(32, str(target))
        replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", kept_open)
        with pytest.raises(StoreError, match=r"rules\.md: could not be written: another program"):
            store.encode_rule("Pin the image", kind="always")
    assert pauses
    assert (store.memory / "rules.md").read_bytes() == before
    again = Hippocampus(tmp_path)
    again.encode_rule("Log in UTC", kind="always")
    assert [str(entry) for entry in again.recall_rules()] == ["Use uv", "Log in UTC"]
    assert {path.name for path in store.memory.iterdir()} == {"rules.md", ".lock"}


def test_a_folder_in_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    """Windows says of a folder what it says of a file that is in use."""

    def refuse(path: Path, *_: object) -> int:
        raise denied(None, str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match="is a folder where a file should be"):
        open_regular(tmp_path, os.O_RDONLY)
    assert pauses == []
