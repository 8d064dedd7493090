"""Kills a store at every point of one operation, in child processes: ``python -m`` this, NAME.

Promises: a child ends without any clean-up, as by SIGKILL, at the first, second, third … point of
the operation; what it left is checked; the output is one line per point, ``ok`` or what is wrong.
With a second argument N, what every Nth of them left is opened by a store that is killed as well,
at every point.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from engramdown.hippocampus.changeset import Act
from engramdown.hippocampus.store import Hippocampus
from tests.crash.scopes import Case, opened
from tests.hippocampus.disks import CHANGING, Point, WatchedDisk

_KILLED: Final = 42
_FINISHED: Final = 43


def main() -> None:
    """Run the operation that the command line names."""
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        case = Case(Path(folder), sys.argv[1])
        root = Path(folder) / "now"
        for number in count(1):
            with _copy(case.copy, root):
                ended = _run(case.operation.act, root, number)
                if ended == _FINISHED:
                    return
                if every and number % every == 0:
                    _kill_again(case, root, str(number))
                sys.stdout.write(f"{number}: {_judge(case, root, ended)}\n")


def _kill_again(case: Case, root: Path, name: str) -> None:
    """Kill the store that opens what a killed one left, at every point."""
    again = root.with_name("again")
    for number in count(1):
        with _copy(lambda place: shutil.copytree(root, place), again):
            ended = _run(_do_nothing, again, number)
            if ended == _FINISHED:
                return
            sys.stdout.write(f"{name}+{number}: {_judge(case, again, ended)}\n")


def _do_nothing(store: Hippocampus) -> object:
    """Take the lock, so that the scope is brought in order, and change nothing."""
    return store.files.change(Act("nothing", "user"), lambda _: None)


@contextmanager
def _copy(make: Callable[[Path], object], root: Path) -> Iterator[None]:
    make(root)
    try:
        yield
    finally:
        shutil.rmtree(root)


def _judge(case: Case, root: Path, ended: int) -> str:
    if ended != _KILLED:
        return f"the child ended with {ended}"
    try:
        case.verify(root, done=False)
    except AssertionError as error:
        return str(error)
    return "ok"


def _run(act: Callable[[Hippocampus], object], root: Path, number: int) -> int:
    """Run ``act`` in a child that ends at point ``number``; return how the child ended."""
    child = os.fork()
    if not child:
        act(opened(root, WatchedDisk(_Killer(number))))
        os._exit(_FINISHED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class _Killer:
    """Ends the process at a point of a call that changes something."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, point: Point) -> None:
        self._left -= point.call in CHANGING
        if not self._left:
            os._exit(_KILLED)


if __name__ == "__main__":
    main()
