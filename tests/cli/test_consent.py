"""`engramdown.cli.output`: nothing goes on without a yes."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from engramdown.cli import output


@click.command()
@click.option("--yes", is_flag=True)
@click.option("--dry-run", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
def act(**_: object) -> None:
    """Ask, and say that it is done."""
    output.check("say --yes")
    if not click.get_current_context().params["dry_run"]:
        output.ask("Really?")
    click.echo("done")


def run(*arguments: str, answer: str = "") -> tuple[int, str]:
    """Return the exit code of the command, and what it said."""
    done = CliRunner().invoke(act, arguments, input=answer)
    return done.exit_code, done.output


@pytest.mark.parametrize("said", ["--yes", "--dry-run"])
def test_who_says_yes_or_only_looks_is_not_asked(said: str) -> None:
    assert run(said) == run(said, "--json") == (0, "done\n")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_where_nobody_can_be_asked_nothing_is_done(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, answer="y\n") == (1, "Error: say --yes\n")


def test_a_person_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramdown.cli.output.is_person", lambda: True)
    assert run(answer="y\n") == (0, "Really? [y/N]: y\ndone\n")
    assert run(answer="n\n") == (1, "Really? [y/N]: n\nnote: nothing was done\n")
    assert run(answer="\n")[0] == 1
    assert run("--json", answer="y\n") == (1, "Error: say --yes\n")
