"""One memory as it stands in a store."""

from __future__ import annotations

import pytest

from engramdown.engram import Basis, Engram, Source, fold
from engramdown.hippocampus.entry import Entry

ENGRAM = Engram(
    "Use  uv!",
    "lesson",
    "global",
    "low",
    "API: x",
    "consolidation",
    basis="observed",
    origin="s#1",
    expires="2027-01-01",
)


def test_an_entry_prints_as_its_text_and_folds_like_it() -> None:
    entry = Entry(id="_1234567", text="Use  uv!", kind="always", scope="project")
    assert str(entry) == "Use  uv!"
    assert entry.fold == fold("use uv")


@pytest.mark.parametrize(
    "source, basis, pin, expected",
    [
        ("llm", "inferred", False, False),
        ("consolidation", "observed", False, False),
        ("user", "told", False, True),
        ("llm", "verified", False, True),
        ("llm", "inferred", True, True),
    ],
)
def test_what_no_automatic_job_may_touch(
    source: Source, basis: Basis, *, pin: bool, expected: bool
) -> None:
    entry = Entry(
        id="a", text="a", kind="always", scope="project", source=source, basis=basis, pin=pin
    )
    assert entry.by_person is expected


def test_a_memory_becomes_an_entry_and_a_memory_again() -> None:
    entry = Entry.of(ENGRAM)
    assert (entry.id, entry.topic, entry.file, entry.line) == ("", "api-x", "", 0)
    again = entry.engram()
    assert again == Engram(
        ENGRAM.text,
        ENGRAM.kind,
        ENGRAM.scope,
        ENGRAM.confidence,
        "api-x",
        ENGRAM.source,
        basis=ENGRAM.basis,
        origin=ENGRAM.origin,
        expires=ENGRAM.expires,
    )
    assert not Entry.of(Engram("a", "always", "project")).topic
