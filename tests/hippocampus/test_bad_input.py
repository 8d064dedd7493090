"""Bad input gets a clear error, and nothing is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.storage.disk import Disk

HOLD: Final = """
import sys, time
from pathlib import Path
from engramdown.storage.locks import ScopeLock
with ScopeLock(Path(sys.argv[1]), 5).hold():
    print("held", flush=True)
    sys.stdin.read()
"""

ENCODE: Final = """
import sys
from engramdown import Hippocampus
from engramdown.errors import StoreError
try:
    Hippocampus(sys.argv[1]).encode_rule("Always fit", kind="always")
except StoreError as error:
    print(error)
    sys.exit(3)
"""


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return a store that holds one rule."""
    store = Hippocampus(tmp_path / "scope", lock_timeout=0.2)
    store.encode_rule("Use uv", kind="always")
    return store


def rules(store: Hippocampus) -> Path:
    return store.memory / "rules.md"


def refused(store: Hippocampus, words: str) -> None:
    """Check that a write is refused with ``words`` and changes no byte."""
    before = {path: path.read_bytes() for path in store.root.rglob("*.md") if path.is_file()}
    with pytest.raises(StoreError, match=words):
        store.encode_rule("Another", kind="always")
    after = {path: path.read_bytes() for path in store.root.rglob("*.md") if path.is_file()}
    assert after == before
    assert not list(store.root.rglob("*.tmp"))


def test_a_read_only_file_is_refused(store: Hippocampus) -> None:
    rules(store).chmod(0o444)
    refused(store, r"rules\.md: is read-only; nothing was written")
    rules(store).chmod(0o644)
    store.encode_rule("Another", kind="always")


def test_a_read_only_folder_is_refused(store: Hippocampus) -> None:
    store.memory.chmod(0o555)
    refused(store, "memory: is read-only")
    store.memory.chmod(0o755)


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path / "a" / "b" / ".engramdown")
    assert store.entries() == []
    assert not store.root.exists()
    store.encode_rule("Use uv", kind="always")
    assert rules(store).exists()


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scope").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="scope"):
        Hippocampus(tmp_path / "scope").encode_rule("Use uv", kind="always")
    assert (tmp_path / "scope").read_text(encoding="utf-8") == "mine"


def test_a_folder_where_a_file_should_be_is_refused(store: Hippocampus) -> None:
    rules(store).unlink()
    rules(store).mkdir()
    with pytest.raises(StoreError, match=r"rules\.md: is a folder where a file should be"):
        store.recall_rules()
    refused(store, "is a folder where a file should be")


def test_a_pipe_is_refused_at_once(store: Hippocampus) -> None:
    rules(store).unlink()
    os.mkfifo(rules(store))
    with pytest.raises(StoreError, match="is a pipe or a device where a file should be"):
        store.recall_rules()


@pytest.mark.parametrize("what", ["rules.md", "."], ids=["file", "folder"])
def test_a_link_out_of_the_scope_is_refused(store: Hippocampus, tmp_path: Path, what: str) -> None:
    outside = tmp_path / "outside"
    (store.memory / what).rename(outside)
    (store.memory / what).symlink_to(outside)
    with pytest.raises(StoreError, match="is a link that leaves"):
        store.recall_rules()
    with pytest.raises(StoreError, match="is a link that leaves"):
        store.encode_rule("Another", kind="always")


def test_a_link_inside_the_scope_is_followed(store: Hippocampus) -> None:
    real = store.memory / "real.txt"
    rules(store).rename(real)
    rules(store).symlink_to("real.txt")
    store.encode_rule("Another", kind="always")
    assert rules(store).is_symlink()
    assert "Another" in real.read_text(encoding="utf-8")


def test_a_file_of_50_megabytes_is_refused(store: Hippocampus) -> None:
    with rules(store).open("r+b") as file:
        file.truncate(50_000_000)
    with pytest.raises(StoreError, match=r"has 47\.7 MB, more than the limit of 16 MB"):
        store.recall_rules()
    with pytest.raises(StoreError, match="raise max_file_mb"):
        store.encode_rule("Another", kind="always")
    assert rules(store).stat().st_size == 50_000_000


def test_a_full_disk_leaves_memory_as_it_was(tmp_path: Path, child_env: dict[str, str]) -> None:
    """The size of a file is limited, which a process sees as a disk without space."""
    store = Hippocampus(tmp_path)
    for number in range(40):
        store.encode_rule(f"Rule {number} of many", kind="always")
    before = (tmp_path / "memory" / "rules.md").read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, len(before) + 10))

    done = subprocess.run(
        [sys.executable, "-c", ENCODE, str(tmp_path)],
        check=False,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=limit,
        env=child_env,
    )
    assert done.returncode == 3, done
    assert "could not be written: File too large. Memory is as it was before" in done.stdout
    assert (tmp_path / "memory" / "rules.md").read_bytes() == before
    assert not list(tmp_path.rglob("*.tmp"))
    assert len(store.recall_rules()) == 40
    assert store.encode_rule("Always fit", kind="always").text == "Always fit"


def test_a_lock_that_is_held_too_long_names_who_holds_it(
    store: Hippocampus, child_env: dict[str, str]
) -> None:
    lock = str(store.memory / ".lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_env,
        encoding="utf-8",
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTimeoutError, match=f"process {holder.pid}") as caught:
            store.encode_rule("Another", kind="always")
        assert caught.value.seconds == 0.2
        assert [str(entry) for entry in store.recall_rules()] == ["Use uv"]
        holder.communicate()
    store.encode_rule("Another", kind="always")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.unlink(), id="deleted"),
        pytest.param(lambda path: path.write_bytes(b"\x00\xffgarbage\n{}\n[1]\n"), id="garbage"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-20]), id="torn"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
    ],
)
@pytest.mark.parametrize("name", ["history.jsonl", "memory/.lock"], ids=["journal", "lock"])
def test_a_damaged_journal_or_lock_costs_no_memory(
    store: Hippocampus, name: str, damage: object
) -> None:
    assert callable(damage)
    damage(store.root / name)
    for again in (store, Hippocampus(store.root)):
        again.notice()
        assert "Use uv" in [str(entry) for entry in again.recall_rules()]
    store.encode_rule("Another", kind="always")
    assert [str(entry) for entry in store.recall_rules()] == ["Use uv", "Another"]


def test_bytes_that_are_no_text_stay_as_they_are(store: Hippocampus) -> None:
    with rules(store).open("ab") as file:
        file.write(b"- caf\xe9 \xff\xfe\n")
    store.encode_rule("Another", kind="always")
    assert b"- caf\xe9 \xff\xfe\n" in rules(store).read_bytes()
    assert len(store.recall_rules()) == 3


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Hippocampus(tmp_path / "scope", disk=Disk(durable=False))
        store.encode_lesson("CI is slow", "ci")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "scope").rglob("*.md")}
    modes |= {path.stat().st_mode & 0o077 for path in (tmp_path / "scope").rglob("*/")}
    assert modes == {0}
