"""Whole projects of hard files: each statement comes once, by itself, as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.migration import score

PROJECTS: Final = Path(__file__).parents[1] / "corpora" / "migration"


def unpack(page: Path, folder: Path) -> None:
    """Write the files of a project, with the ends of lines that its first line names."""
    about, *parts = page.read_text(encoding="utf-8").split("\n== ")
    for name, _, text in (part.partition("\n") for part in parts):
        path = folder / (name if name != "gold" else "gold.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(gold(text)) if name == "gold" else f"{text.rstrip()}\n"
        if "Windows" in about and name != "gold":
            data = "\ufeff" + data.replace("\n", "\r\n")
        path.write_text(data, encoding="utf-8", newline="")


def gold(text: str) -> dict[str, Any]:
    """Read lines like ``always lesson | must; must ! must not``, ``junk | …``, ``secret | …``."""
    found: dict[str, Any] = {"expect": [], "secrets": [], "junk": [], "duplicates": []}
    for line in text.strip().split("\n"):
        kinds, _, words = line.partition(" | ")
        must, _, must_not = words.partition(" ! ")
        if kinds == "duplicate":
            found["duplicates"].append(words.split("|"))
        elif kinds in ("junk", "secret"):
            found["junk" if kinds == "junk" else "secrets"].append(words)
        else:
            wanted = {
                "must": must.split("; "),
                "must_not": must_not.split("; ") if must_not else [],
            }
            found["expect"].append({"kinds": kinds.split(), **wanted})
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(each.stem for each in PROJECTS.glob("*.txt")))
def test_a_project_is_read_as_a_person_reads_it(name: str, tmp_path: Path) -> None:
    unpack(PROJECTS / f"{name}.txt", tmp_path / name)
    assert score(tmp_path / name).misses == ()
