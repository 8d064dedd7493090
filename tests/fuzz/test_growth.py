"""The search for what grows too fast sees it, and finds every pattern of the package."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.importers.inputs import elements, parse
from engramdown.markdown.blocks import scan
from engramdown.recall.lines import read_lines
from tests.fuzz.growth import FLOOR, Hostile, complaint, of_patterns, repetitions, trials
from tests.fuzz.pumps import WAYS, Pump, pumps_of
from tests.tables import every

FIFTY_MEGABYTES = 50 * 1024 * 1024


@pytest.mark.parametrize(
    "power, judged",
    [
        pytest.param(1, True, id="linear"),
        pytest.param(1.5, True, id="a-little-more"),
        pytest.param(2, False, id="square"),
    ],
)
def test_a_square_is_seen(power: float, judged: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - pytest passes it by name
    spent = 0.0

    def reader(text: str) -> None:
        nonlocal spent
        spent += FLOOR * (len(text) / 1_000) ** power

    monkeypatch.setattr(time, "thread_time", lambda: spent)
    text = Hostile("a", lambda length: "a" * length)
    assert (complaint(reader, text, 1_000) == "") is judged


def test_what_is_over_in_a_moment_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter(range(1_000))
    monkeypatch.setattr(time, "thread_time", lambda: next(spent) * FLOOR / 2)
    assert not complaint(len, Hostile("a", lambda length: "a" * length), 1_000)


@every(
    "pattern, found",
    [
        ("a*", [Pump("", "a", "")]),
        ("x(?:a+b)*+c", [Pump("x", "ab", "c"), Pump("x", "a", "bc")]),
        (r"(?:no|\s{3,})y", [Pump("", " ", "y")]),
        (r"x{2}(?=[^a]+)", [Pump("xx", "b", "")]),
        (r"(?>[b-d]+?)", [Pump("", "b", "")]),
        ("a{2,16}", []),
        ("plain", []),
    ],
)
def test_what_repeats_in_a_pattern_is_found(pattern: str, found: list[Pump]) -> None:
    assert list(pumps_of(pattern)) == found


def test_a_pump_makes_texts_that_nearly_fit() -> None:
    pump = Pump("<", "ab", ">")
    texts = pump.texts(40)
    assert len(texts) == WAYS
    assert all(30 <= len(text) <= 50 for text in texts)
    assert re.match("<(?:ab)*$", texts[0].rstrip("\0"))
    assert not re.match("<(?:ab)*>", texts[0])
    assert re.fullmatch("(?:<(?:ab)*>)*", texts[3])


@every("text", repetitions(), ids=lambda text: text.what)
def test_a_repetition_is_as_long_as_asked(text: Hostile) -> None:
    assert len(text.made(4_000)) > 1_000
    assert len(text.made(16_000)) > 3 * len(text.made(4_000))


READERS_OF_BYTES: dict[str, Callable[[bytes], object]] = {
    "parse": lambda data: parse(data, 1, 0),
    "elements": lambda data: list(elements([data])),
    "read_lines": lambda data: list(read_lines(data + b"\n")),
    "scan": lambda data: scan(data.decode()),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS_OF_BYTES)
def test_a_line_of_fifty_megabytes_is_read(name: str) -> None:
    READERS_OF_BYTES[name](b'{"text":"' + b"- a[\\" * (FIFTY_MEGABYTES // 5))


@pytest.mark.soak
def test_nothing_grows_faster_than_its_text(tmp_path: Path, soak_seconds: float) -> None:
    until = time.monotonic() + soak_seconds
    for trial in trials(tmp_path, random.Random()):
        assert not trial.wrong, trial
        if time.monotonic() > until:
            break


@pytest.mark.soak
def test_the_patterns_of_every_kind_of_module_are_found() -> None:
    whats = "\n".join(text.what for text in of_patterns())
    # Compiled at once, asked for later, and as a literal in a call.
    for known in ("before='://'", "before='password changed to", "before='{A', piece='_'"):
        assert known in whats, known
