"""The fault campaign: its table, its shares, and a few cases of each experiment."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash import __main__ as command
from tests.crash import campaign
from tests.crash.campaign import EXPERIMENTS, Listed, MissingError, Trial, carry_out

FEW = 3


def two_good_one_bad(folder: Path, dice: random.Random) -> Iterator[Trial]:
    (folder / "left").write_text("behind", encoding="utf-8")
    yield Trial("first", count=dice.randint(1, 1))
    yield Trial("second")
    yield Trial("third", "torn")


def breaks(folder: Path, dice: random.Random) -> Iterator[Trial]:
    yield Trial(f"{folder.name} {dice.random()}")
    raise RuntimeError("out of paper")


def needs(folder: Path, dice: random.Random) -> Iterator[Trial]:
    if not folder.joinpath("oracle").exists():
        raise MissingError("there is no oracle here")
    yield Trial(f"{dice.random()}")


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {
        "bad": Listed(f"{__name__}:two_good_one_bad", 2),
        "broken": Listed(f"{__name__}:breaks", 3),
    }
    monkeypatch.setattr(campaign, "EXPERIMENTS", here)
    monkeypatch.setattr(command, "EXPERIMENTS", here)


@pytest.mark.usefixtures("two")
def test_what_is_wrong_is_counted_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    outcome = carry_out("bad", tmp_path / "bad", 7, seconds=60.0, tell=told.append)
    assert (outcome.cases, outcome.wrong, outcome.finished) == (3, ["third: torn"], True)
    assert told == outcome.wrong
    assert not (tmp_path / "bad").exists()


@pytest.mark.usefixtures("two")
def test_an_experiment_that_breaks_is_a_violation(tmp_path: Path) -> None:
    outcome = carry_out("broken", tmp_path / "broken", 7, seconds=60.0)
    assert "out of paper" in outcome.wrong[0]
    assert not outcome.finished


def test_what_an_experiment_lacks_is_told_and_nothing_is_green(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign, "EXPERIMENTS", {"needs": Listed(f"{__name__}:needs", 2)})
    monkeypatch.setattr(command, "EXPERIMENTS", campaign.EXPERIMENTS)
    assert command.main(["--seconds", "5"]) == 0
    row = capsys.readouterr().out.split("\n")[2]
    assert row.split()[:4] == ["needs", "2", "0", "0"]
    assert row.endswith("nothing was tried: there is no oracle here")


@pytest.mark.usefixtures("two")
def test_no_case_is_begun_after_the_time(tmp_path: Path) -> None:
    assert carry_out("bad", tmp_path / "bad", 7, seconds=-1.0).cases == 1
    assert carry_out("bad", tmp_path / "bad", 7, seconds=60.0, cases=2).cases == 2


@pytest.mark.usefixtures("two")
def test_the_command_says_how_to_see_a_violation_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--seconds", "5", "--seed", "11"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("seed 11, 5 s for 2 experiments\n")
    assert out.endswith("python -m tests.crash --seed 11 --seconds 5 --only bad broken\n")
    assert "VIOLATED third: torn" in err
    assert "out of paper" in err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_few_cases_of_each_experiment_violate_nothing(name: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    outcome = carry_out(name, tmp_path / name, seed, seconds=2.0, cases=FEW)
    if outcome.missing:
        pytest.skip(outcome.missing)
    assert outcome.wrong == [], f"seed {seed}"
    assert outcome.cases
