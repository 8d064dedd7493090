"""Somebody saves a SKILL.md while it is written, or a program dies: no word of anybody is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.errors import SkillExistsError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.skills.store import SkillStore
from engramdown.storage import exchange
from engramdown.storage.disk import Disk
from tests.hippocampus.disks import Point, Watch, WatchedDisk
from tests.hippocampus.editors import STYLES, save
from tests.storage.test_sharing import refuse_first

PAGE = parse_front_matter("---\nname: charts\ndescription: Make charts\n---\nWith care.\n")
HAND = PAGE.render().replace("care", "my own hands")


class _Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a skill that stands in a scope."""
    return opened(tmp_path).create("charts", PAGE).path


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_SETTLE_OPEN", 0.05)
    monkeypatch.setattr(exchange, "_SETTLE_GONE", 0.05)


def opened(root: Path, disk: Disk | None = None) -> SkillStore:
    return SkillStore(root, disk=disk or Disk(durable=False), lock_timeout=5.0)


def learn(page: FrontMatter) -> FrontMatter:
    """Add a line at the end."""
    return page.with_body(page.body + "And fast.\n")


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


class _Once:
    """Does something at one of the points of a disk, once."""

    def __init__(self, call: str, moment: str, act: Callable[[], object]) -> None:
        self._at = call, moment
        self._act: Callable[[], object] | None = act

    def __call__(self, point: Point) -> None:
        if self._act is not None and (point.call, point.moment) == self._at:
            act, self._act = self._act, None
            act()

    @property
    def done(self) -> bool:
        return self._act is None


class _Watched(WatchedDisk):
    """A disk on which somebody is seen to write when it is asked the second time."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch)
        self._answers = iter([False, True])

    def is_being_written(self, path: Path) -> bool:
        return path.exists() and next(self._answers, False)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "at",
    [("create", "before"), ("create", "after"), ("exchange", "before"), ("exchange", "after")],
    ids="-".join,
)
def test_a_save_in_between_is_kept_and_the_change_is_made_to_it(
    tmp_path: Path, path: Path, style: str, at: tuple[str, str]
) -> None:
    once = _Once(*at, lambda: save(style, path, HAND))
    store = opened(tmp_path, WatchedDisk(once))
    store.edit("charts", learn)
    assert once.done
    text = path.read_text(encoding="utf-8")
    # A save behind the exchange is of a file that the editor never read, and stays as it is.
    assert text in (HAND + "And fast.\n", HAND)
    assert at == ("exchange", "after") or text == HAND + "And fast.\n"
    assert [name for name in names(path) if name.startswith(".")] == []


def test_a_program_that_writes_into_what_was_displaced_is_waited_for(
    tmp_path: Path, path: Path
) -> None:
    """It had the file open before, and writes behind the exchange."""
    with path.open("r+", encoding="utf-8", newline="") as editor:

        def write() -> None:
            editor.write(HAND)
            editor.flush()

        opened(tmp_path, _Watched(_Once("exchange", "before", write))).edit("charts", learn)
    assert path.read_text(encoding="utf-8") == HAND + "And fast.\n"
    assert names(path) == ["SKILL.md"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells who writes")
def test_a_file_that_stays_open_is_not_touched(tmp_path: Path, path: Path) -> None:
    with (
        path.open("r+", encoding="utf-8"),
        pytest.raises(StoreError, match="another program has it open"),
    ):
        opened(tmp_path).edit("charts", learn)
    assert path.read_text(encoding="utf-8") == PAGE.render()
    opened(tmp_path).edit("charts", learn)


def test_a_file_that_comes_back_in_a_moment_is_waited_for(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = path.with_name("SKILL.md~")
    path.rename(away)
    monkeypatch.setattr("time.sleep", lambda _: away.exists() and away.rename(path))
    opened(tmp_path).edit("charts", learn)
    assert path.read_text(encoding="utf-8") == PAGE.render() + "And fast.\n"


def test_who_saves_again_and_again_is_not_fought(tmp_path: Path, path: Path) -> None:
    saves: list[str] = []

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("exchange", "before"):
            saves.append(f"{HAND}{len(saves)}\n")
            path.write_text(saves[-1], encoding="utf-8")

    with pytest.raises(StoreError, match="somebody else keeps saving it"):
        opened(tmp_path, WatchedDisk(watch)).edit("charts", learn)
    kept = {each.read_text(encoding="utf-8") for each in path.parent.iterdir()}
    assert saves[-1] in kept
    assert [name for name in names(path) if name.startswith(".")] == []


def test_of_two_saves_at_once_the_older_one_is_kept_beside(tmp_path: Path, path: Path) -> None:
    last = HAND.replace("hands", "feet")
    saves = iter([HAND, last])

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("exchange", "before"):
            text = next(saves, "")
            if text:
                path.write_text(text, encoding="utf-8")

    opened(tmp_path, WatchedDisk(watch)).edit("charts", learn)
    beside = [name for name in names(path) if name != "SKILL.md"]
    assert path.read_text(encoding="utf-8") == last + "And fast.\n"
    assert [path.with_name(name).read_text(encoding="utf-8") for name in beside] == [HAND]
    (skill,) = opened(tmp_path).skills()
    assert [(each.code, each.file) for each in skill.findings] == [("kept", beside[0])]


def test_who_makes_the_same_skill_first_keeps_it(tmp_path: Path) -> None:
    home = tmp_path / "skills" / "charts"

    def make() -> None:
        (home / "SKILL.md").write_text(HAND, encoding="utf-8")

    once = _Once("publish", "before", make)
    with pytest.raises(SkillExistsError):
        opened(tmp_path, WatchedDisk(once)).create("charts", PAGE)
    assert (home / "SKILL.md").read_text(encoding="utf-8") == HAND
    assert names(home / "SKILL.md") == ["SKILL.md"]


def test_a_new_skill_that_was_changed_already_is_not_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "charts" / "SKILL.md"

    def fail(point: Point) -> None:
        if point.call == "sync_folder" and path.exists() and point.path == path.parent:
            path.write_text(HAND, encoding="utf-8")
            raise OSError(5, "Input/output error")

    with pytest.raises(StoreError, match="could not be written"):
        opened(tmp_path, WatchedDisk(fail)).create("charts", PAGE)
    assert path.read_text(encoding="utf-8") == HAND
    assert names(path) == ["SKILL.md"]


@pytest.mark.parametrize("saves_again", [False, True])
def test_a_save_that_a_dead_program_displaced_comes_back(
    tmp_path: Path, path: Path, *, saves_again: bool
) -> None:
    last = HAND.replace("hands", "feet")

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("exchange", "before"):
            path.write_text(HAND, encoding="utf-8")
        if (point.call, point.moment) == ("exchange", "after"):
            raise _Killed

    with pytest.raises(_Killed):
        _without_clean_up(opened(tmp_path, WatchedDisk(watch)), learn)
    assert len(names(path)) == 2
    if saves_again:
        path.write_text(last, encoding="utf-8")
    store = opened(tmp_path)
    store.tidy()
    assert path.read_text(encoding="utf-8") == (last if saves_again else HAND)
    texts = {each.read_text(encoding="utf-8") for each in path.parent.iterdir()}
    assert HAND in texts
    assert [name for name in names(path) if name.startswith(".")] == []


def _without_clean_up(store: SkillStore, change: Callable[[FrontMatter], FrontMatter]) -> None:
    """Let a store stop where it is killed, as no handler of it runs then."""
    store._swap._put_right = lambda *_: None  # type: ignore[method-assign] # as said above
    store.edit("charts", change)


@pytest.mark.parametrize("data", [b"whole", b""])
def test_files_of_somebody_else_are_no_leftovers(tmp_path: Path, path: Path, data: bytes) -> None:
    for name in (".SKILL.md.swp", ".SKILL.md.tmp", "SKILL.md~", "4913", ".SKILL.md.x.y.z.tmp"):
        path.with_name(name).write_bytes(data)
    before = names(path)
    opened(tmp_path).tidy()
    opened(tmp_path).edit("charts", learn)
    assert names(path) == before


def test_a_link_or_a_pipe_with_the_name_of_a_leftover_keeps_nobody_out(
    tmp_path: Path, path: Path
) -> None:
    zeros = "0" * 16
    path.with_name(f".SKILL.md.{zeros}.{zeros}.00000000.tmp").symlink_to("/etc/hostname")
    os.mkfifo(path.with_name(f".SKILL.md.{zeros}.{zeros}.00000001.tmp"))
    before = names(path)
    opened(tmp_path).edit("charts", learn)
    assert names(path) == before
    assert path.read_text(encoding="utf-8").endswith("And fast.\n")


def test_without_an_exchange_nothing_is_lost_either(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramdown.storage.disk._exchange", lambda _new, _path: False)
    once = _Once("exchange", "before", lambda: path.write_text(HAND, encoding="utf-8"))
    opened(tmp_path, WatchedDisk(once)).edit("charts", learn)
    assert once.done
    assert path.read_text(encoding="utf-8") == HAND + "And fast.\n"
    assert names(path) == ["SKILL.md"]
    os.link(path, path.with_name("2"))
    monkeypatch.setattr(os, "link", _no_links)
    opened(tmp_path).edit("charts", learn)
    assert path.read_text(encoding="utf-8") == HAND + "And fast.\n" * 2
    assert names(path) == ["2", "SKILL.md"]


@pytest.mark.parametrize("name", ["replace", "unlink", "link", "open"])
def test_a_file_that_another_program_has_open_on_windows_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As on a system that exchanges no names, with a scanner that opens every new file."""
    monkeypatch.setattr("engramdown.storage.disk._exchange", lambda _new, _path: False)
    monkeypatch.setattr("time.sleep", lambda _: None)
    path = opened(tmp_path).create("charts", PAGE).path
    refused = refuse_first(monkeypatch, name, 32)
    opened(tmp_path).create("maps", PAGE)
    opened(tmp_path).edit("charts", learn)
    assert refused
    assert path.read_text(encoding="utf-8") == PAGE.render() + "And fast.\n"
    assert names(path) == ["SKILL.md"]
    assert names(path.parents[1] / "maps" / "SKILL.md") == ["SKILL.md"]


def _no_links(*_: object) -> None:
    raise OSError(95, "Operation not supported")
