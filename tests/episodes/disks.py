"""A disk for transcripts that fails where it is told to.

Promises: what is to fail is named by the method of :class:`Disk` and, if need be, by a part
of the name of the file; a fault that landed is counted, so that a test can see that it did.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from engramdown.storage.disk import Disk


@dataclass(slots=True)
class Fault:
    """What fails.

    Attributes:
        call: The name of a method.
        code: The error of the system.
        name: A part of the file's name, or ``""`` for all.
        times: How often; ``-1`` for always.
        after: For ``write``: how many bytes are written before it fails.
        spared: How often it works before.
    """

    call: str
    code: int = errno.EIO
    name: str = ""
    times: int = -1
    after: int = 0
    spared: int = 0


class FaultyDisk(Disk):
    """A disk with faults.

    Attributes:
        faults: What fails from now on.
        landed: How many faults were met.
        writes: How many calls of ``write`` there were.
    """

    def __init__(self, *faults: Fault) -> None:
        """Fail at each of ``faults``."""
        super().__init__()
        self.faults = list(faults)
        self.landed = 0
        self.writes = 0
        self._names: dict[int, str] = {}

    def _meet(self, call: str, name: str) -> Fault | None:
        for fault in self.faults:
            if fault.call == call and fault.name in name and fault.times:
                if fault.spared:
                    fault.spared -= 1
                    continue
                fault.times -= 1
                self.landed += 1
                return fault
        return None

    def _fail(self, call: str, name: str) -> None:
        fault = self._meet(call, name)
        if fault is not None:
            raise OSError(fault.code, os.strerror(fault.code), name)

    def open(self, path: Path | str, *, write: bool = False, new: bool = False) -> int:
        name = Path(path).name
        self._fail("open", name)
        descriptor = super().open(path, write=write, new=new)
        self._names[descriptor] = name
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self.writes += 1
        fault = self._meet("write", self._names.get(descriptor, ""))
        if fault is None:
            return super().write(descriptor, data)
        if fault.after:
            done = super().write(descriptor, data[: fault.after])
            fault.after = 0
            fault.times += 1
            return done
        raise OSError(fault.code, os.strerror(fault.code))

    def truncate_open(self, descriptor: int, size: int) -> None:
        self._fail("truncate", self._names.get(descriptor, ""))
        super().truncate_open(descriptor, size)

    def sync_open(self, descriptor: int) -> None:
        self._fail("sync", self._names.get(descriptor, ""))
        super().sync_open(descriptor)

    def lock(self, descriptor: int) -> bool:
        fault = self._meet("lock", self._names.get(descriptor, ""))
        if fault is not None and fault.code == errno.ENOLCK:
            raise OSError(fault.code, os.strerror(fault.code))
        if fault is not None:
            return False
        return super().lock(descriptor)

    def keep(self, descriptor: int) -> None:
        self._fail("keep", self._names.get(descriptor, ""))
        super().keep(descriptor)

    def save(
        self,
        path: Path,
        data: bytes,
        *,
        durable: bool,
        replace: bool = False,
        unfinished: Path | None = None,
    ) -> bool:
        self._fail("publish", path.name)
        return super().save(path, data, durable=durable, replace=replace, unfinished=unfinished)

    def unlink(self, path: Path) -> None:
        self._fail("remove", path.name)
        super().unlink(path)

    def sync_folder(self, path: Path) -> None:
        self._fail("sync_folder", path.name)
        super().sync_folder(path)

    def make_plain_folder(self, path: Path, *, durable: bool) -> bool:
        self._fail("make_folder", path.name)
        return super().make_plain_folder(path, durable=durable)
