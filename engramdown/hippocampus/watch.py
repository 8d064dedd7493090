"""That somebody may have changed a file in some folders, said as it happens.

Promises: nothing is read but names and times, and nothing is written; a change is told soon after
the last of a burst, and in a burst that does not end after :data:`LONGEST` seconds all the same;
folders that come, go, and come back are seen. Where the system cannot tell of changes, the folders
are looked at again and again, and it is said why.

What is told is *that* something may have changed, never what: whoever is told looks for
themselves. So no event is waited for behind others, and none that is lost does harm: the files are
also looked at now and then, for what no system tells (a link, a file that is mapped into memory).
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from engramdown.forks import Event

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver, ObservedWatch

LONGEST: Final = 0.4
"""For how many seconds a burst is folded together."""
_QUIET: Final = 0.1
"""How long nothing must happen for a burst to be over, in seconds."""
_POLL: Final = 0.5
"""Seconds between two looks where the system tells nothing."""
_SELDOM: Final = 5.0
"""Seconds between two looks where it does, at least; they take a thousandth of the time."""
_SHARE: Final = 1_000
# What the system says when it has no room for one who watches.
_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ENOSYS})

_MOUNTS: Final = Path("/proc/self/mountinfo")

_Look = frozenset[tuple[str, int, int, int]]


class _Watched(NamedTuple):
    """A folder that is watched.

    Attributes:
        identity: Its device and inode.
        watch: What the observer knows it by.
    """

    identity: tuple[int, int]
    watch: ObservedWatch


class Watch:
    """Watches folders, which need not exist; use it as a context manager.

    Attributes:
        remarks: Why the folders are looked at again and again, if they are.
    """

    def __init__(self, folders: Sequence[Path], *, poll: bool = False) -> None:
        """Watch the markdown files right in ``folders``.

        Args:
            folders: The folders; none of those in them are looked into.
            poll: Look again and again, even where the system would tell.
        """
        self.remarks: list[str] = []
        self._folders = folders
        self._polls = poll
        self._marked = Event()
        self._handler = _handler(self._marked)
        self._watched: dict[Path, _Watched] = {}
        self._look: _Look = frozenset()
        self._next = 0.0

    def __enter__(self) -> Self:
        """Begin to watch."""
        # What it complains of is made good by the look that comes now and then.
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        self._observer = self._start()
        self._keep_up()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching."""
        _stop(self._observer)

    def wait(self, seconds: float) -> bool:
        """Wait until something may have changed, ``seconds`` at most; return whether it may."""
        self._keep_up()
        self._look_again()
        if not self._marked.wait(seconds):
            return False
        end = time.monotonic() + LONGEST
        while (left := end - time.monotonic()) > 0:
            self._marked.clear()
            if not self._marked.wait(min(_QUIET, left)):
                break
        return True

    def wake(self) -> None:
        """End the waiting, as if something had changed."""
        self._marked.set()

    def _start(self) -> BaseObserver:
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        if not self._polls:
            try:
                observer = Observer()
                observer.start()
            except OSError as error:
                self._give_way(_no_room(error))
            else:
                return observer
        observer = PollingObserver(timeout=_POLL)
        observer.start()
        return observer

    def _keep_up(self) -> None:
        """Watch the folders that are there now."""
        for folder in self._folders:
            now, known = _identity(folder), self._watched.get(folder)
            if known is not None and (known.identity != now or not self._is_watched(known)):
                del self._watched[folder]
                self._observer.unschedule(known.watch)
                self._marked.set()
                known = None
            if now is not None and known is None:
                self._add(folder, now)

    def _is_watched(self, known: _Watched) -> bool:
        """Whether a folder has not been removed; another one can have its name and its inode."""
        emitters = self._observer.emitters
        return any(each.watch == known.watch and each.is_alive() for each in list(emitters))

    def _add(self, folder: Path, identity: tuple[int, int]) -> None:
        place = os.path.realpath(folder)
        if not self._polls and (kind := _remote_kind(place)):
            self._poll(f"{folder}: is on a network file system ({kind}), which tells of no changes")
        try:
            watch = self._observer.schedule(self._handler, place, event_filter=_wanted())
        except OSError as error:
            if error.errno in _NO_ROOM and not self._polls:
                self._poll(_no_room(error))
            # It went again, or may not be read; it is tried again soon.
            return
        self._watched[folder] = _Watched(identity, watch)
        # What came before we were there.
        self._marked.set()

    def _poll(self, reason: str) -> None:
        """Look again and again from now on."""
        _stop(self._observer)
        self._watched.clear()
        self._give_way(reason)
        self._observer = self._start()

    def _give_way(self, reason: str) -> None:
        self._polls = True
        self.remarks.append(f"{reason}; looking for changes every {_POLL} seconds instead")

    def _look_again(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        look = frozenset(_files(self._folders))
        if look != self._look:
            self._look = look
            self._marked.set()
        took = time.monotonic() - now
        self._next = now + max(_SELDOM, took * _SHARE)


def _handler(marked: Event) -> FileSystemEventHandler:
    """Return what marks that something may have changed, and does nothing else."""
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def dispatch(self, event: FileSystemEvent) -> None:
            if event.is_directory or _is_ours(event.src_path) or _is_ours(event.dest_path):
                marked.set()

    return Handler()


def _wanted() -> list[type[FileSystemEvent]]:
    """Return the events that are asked for: that somebody reads a file is none."""
    from watchdog import events

    files = (events.FileCreatedEvent, events.FileModifiedEvent, events.FileMovedEvent)
    return [*files, events.FileDeletedEvent, events.DirDeletedEvent]


def _is_ours(path: str | bytes) -> bool:
    """Whether a name may be that of a memory file, and of no swap, backup or temporary file."""
    name = os.fsdecode(path).rpartition(os.sep)[2]
    return name.lower().endswith(".md") and not name.startswith(".")


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, int, int, int]]:
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as found:
            for item in found:
                if _is_ours(item.name):
                    with contextlib.suppress(OSError):
                        what = item.stat()
                        yield item.path, what.st_ino, what.st_size, what.st_mtime_ns


def _remote_kind(path: str) -> str:
    """Return the type of a network file system, or ``""`` if ``path`` is on none that is known."""
    if sys.platform == "win32":
        return "UNC" if path.startswith("\\\\") else ""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""  # Not Linux.
    kind = file_system(mounts, path)
    return kind if is_remote(kind) else ""


def _no_room(error: OSError) -> str:
    """Say why the system does not tell of changes, and how to let it."""
    said = error.strerror or type(error).__name__
    limit = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}
    raised = limit.get(error.errno or 0)
    hint = f"; raise fs.inotify.{raised} (sysctl)" if raised and sys.platform == "linux" else ""
    return f"the system has no room to tell of changes ({said}){hint}"


def _stop(observer: BaseObserver) -> None:
    observer.stop()
    observer.join()


# What others do to these no system here is told of; of FUSE only what goes through this mount.
_REMOTE: Final = frozenset(
    {
        *("9p", "afs", "ceph", "cifs", "coda", "davfs", "glusterfs", "lustre", "ncpfs", "nfs"),
        *("nfs4", "ocfs2", "gfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    }
)
_POINT: Final = 4
"""The place of the mount point in a line."""
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def file_system(mounts: str, path: str) -> str:
    r"""Return the type of the file system that holds ``path``, or ``""``.

    Args:
        mounts: What stands in ``/proc/self/mountinfo``.
        path: An absolute path without links.

    >>> line = r"29 1 0:26 / /mnt/a\040b rw,relatime shared:1 - nfs4 host:/share rw"
    >>> file_system(line, "/mnt/a b/project")
    'nfs4'
    """
    best, found = -1, ""
    for line in mounts.split("\n"):
        place, _, kind = line.partition(" - ")
        fields, kinds = place.split(" "), kind.split(" ")
        if len(fields) > _POINT and kinds[0]:
            point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[_POINT]).rstrip("/")
            # Of two on one point it is the later one that is seen.
            if len(point) >= best and f"{path}/".startswith(f"{point}/"):
                best, found = len(point), kinds[0]
    return found


def is_remote(kind: str) -> bool:
    """Whether changes on such a file system may come from elsewhere, untold."""
    return kind in _REMOTE or kind.startswith("fuse.")
