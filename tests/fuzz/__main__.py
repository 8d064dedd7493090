"""Fuzzes targets, from the command line: ``python -m tests.fuzz document merge --seconds 60``.

Promises: with atheris, where it is installed (``pip install "engramdown[fuzz]"``), the inputs are
guided by what they reach in the code; else, or with ``--plain``, by dice alone; which of the two is
said first. What breaks a law is written to ``tests/fuzz/found/TARGET/``, to be given a name that
says what it is; ends with 1 then.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

__all__ = ["main"]

_FOUND: Final = Path(__file__).parent / "found"
_LONGEST: Final = 4_096
_CHUNK: Final = 64


def main(arguments: list[str] | None = None) -> int:
    """Fuzz and return the exit code."""
    said = _parser().parse_args(arguments)
    guided = not said.plain and find_spec("atheris") is not None
    if said.guided:
        return _guided(said)
    _say("guided by coverage (atheris)" if guided else "by dice alone")
    # The names are those of a table that imports the package, which atheris wants to do itself.
    from tests.fuzz.targets import TARGETS

    names = said.names or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        _say(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
        return 2
    broken = [name for name in names if not (_child if guided else _plain)(name, said)]
    _say(f"broken: {', '.join(broken)}" if broken else "nothing broke")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TARGET", help="all, if none is named")
    parser.add_argument("--seconds", type=int, default=10, help="for each target (10)")
    parser.add_argument("--runs", type=int, default=-1, help="so many inputs of each at most")
    parser.add_argument("--seed", type=int, default=0, help="of the dice (0)")
    parser.add_argument("--plain", action="store_true", help="by dice, though atheris is there")
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    return parser


def _plain(name: str, said: argparse.Namespace) -> bool:
    """Fuzz a target by dice; whether nothing broke."""
    from tests.fuzz.mutating import mutants
    from tests.fuzz.targets import TARGETS, inputs

    begun, count = time.monotonic(), 0
    for count, data in enumerate(mutants([*inputs(name).values()], random.Random(said.seed)), 1):
        try:
            TARGETS[name](data)
        except Exception:  # noqa: BLE001 - whatever it is, it is what was looked for
            _say(f"{name}: {_keep(name, data)}\n{traceback.format_exc()}")
            return False
        if count == said.runs or time.monotonic() - begun > said.seconds:
            break
    _say(f"{name:<12}{count:>12,} inputs {time.monotonic() - begun:>9.1f} s")
    return True


def _keep(name: str, data: bytes) -> Path:
    path = _FOUND / name / f"crash-{hashlib.sha256(data).hexdigest()[:12]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _child(name: str, said: argparse.Namespace) -> bool:
    """Fuzz a target with atheris, which ends the process that it runs in."""
    told = [f"--seconds={said.seconds}", f"--runs={said.runs}", f"--seed={said.seed}"]
    command = [sys.executable, "-m", "tests.fuzz", "--guided", name, *told]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    lines = done.stderr.strip().split("\n")
    if done.returncode:
        _say(f"{name}: broke\n{done.stdout[-2_000:]}\n" + "\n".join(lines[-30:]))
        return False
    counted = [line for line in lines if line.startswith("stat::number_of_executed_units:")]
    covered = [line for line in lines if " cov: " in line]
    count = int(counted[-1].split()[-1]) if counted else 0
    reached = covered[-1].split(" cov: ")[1].split()[0] if covered else "?"
    _say(f"{name:<12}{count:>12,} inputs, {reached} places reached")
    return True


def _guided(said: argparse.Namespace) -> int:
    from tests.fuzz.mutating import changed

    # By its name: it is for few Pythons, and no types are written for it.
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["engramdown"]):
        from tests.fuzz.targets import TARGETS, inputs

    (name,) = said.names
    (_FOUND / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as folder:
        for number, data in enumerate(inputs(name).values()):
            Path(folder, str(number)).write_bytes(data)
        told = {
            "max_total_time": said.seconds,
            "runs": said.runs,
            "seed": said.seed + 1,  # 0 is a clock
            "max_len": _LONGEST,
            "timeout": 60,
            "print_final_stats": 1,
            "artifact_prefix": f"{_FOUND / name}/",
        }
        options = [f"-{key}={value}" for key, value in told.items()]

        def mutator(data: bytes, longest: int, seed: int) -> bytes:
            # Half of the changes know what some targets read: JSON, markdown, the words for dates.
            dice = random.Random(seed)
            return changed(data, dice)[:longest] if seed % 2 else atheris.Mutate(data, longest)

        command = [sys.argv[0], *options, folder]
        atheris.Setup(command, TARGETS[name], custom_mutator=mutator)
        atheris.Fuzz()
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
