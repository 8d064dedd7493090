"""What is done again and again is noticed, and so is a user who asks for it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.actions import Cell, cells_of
from engramdown.consolidation.procedures import (
    Step,
    alike,
    asked_for,
    repeated,
    steps_of,
)
from engramdown.transcripts.episode import Episode
from tests.cortex.entries import any_text
from tests.tables import every

RELEASE = ("uv run pytest -q", "git tag v1.2", "uv build", "uv publish --token-from env")


def cell(given: str, name: str = "bash", status: str = "ok", at: int = 1) -> Cell:
    return Cell(f"s1#{at}", "tool", name, status=status, given=given)  # type: ignore[arg-type]


def command(said: str, at: int = 1) -> Cell:
    return cell(json.dumps({"command": said}), at=at)


def run(*commands: str, session: str = "s1") -> list[Step]:
    found = steps_of(command(said, at) for at, said in enumerate(commands, 1))
    return [step._replace(pointer=step.pointer.replace("s1", session)) for step in found]


@every(
    "said, keys",
    [
        ("git tag v1", ["git tag"]),
        ("cd /tmp && git add -A; git tag v1\nuv build", ["git add", "git tag", "uv build"]),
        ('git commit -m "a && b; c"', ["git commit"]),
        ("FORCE=1 CI= sudo /usr/bin/make release", ["make release"]),
        ("uv run pytest -q && python -m build --wheel", ["pytest", "build"]),
        ("pytest tests/a.py", ["pytest"]),
        ("ls -la; cat x; git status; git diff", []),
        ("", []),
        ("sudo", []),
        ("'quoted program' x", []),
        ("x" * 400, []),
        ("make \x1b[2J", []),
    ],
)
def test_a_command_is_known_by_what_it_does(said: str, keys: list[str]) -> None:
    assert [step.key for step in steps_of([command(said)])] == keys


def test_what_failed_or_was_done_again_at_once_is_no_step() -> None:
    cells = [
        cell("make one", status="error"),
        cell("make two"),
        cell("make two", at=2),
        cell('{"file": "x"}', "Deploy", at=3),
        cell("what it is", "Ask", at=4),
        cell("", "", at=5),
        Cell("s1#6", "scratchpad", "python", given="make three"),
    ]
    assert steps_of(cells) == [
        ("make two", "make two", "s1#1"),
        ("Deploy", "Deploy", "s1#3"),
        ("Ask", "Ask", "s1#4"),
    ]


def test_the_same_steps_in_three_sessions_are_a_procedure() -> None:
    sessions = {
        f"s{number}": run(
            f"make number-{number}", *(each.replace("1.2", f"1.{number}") for each in RELEASE),
            session=f"s{number}",
        )
        for number in range(3)
    }  # fmt: skip
    (found,) = repeated(sessions)
    assert found.keys == ("pytest", "git tag", "uv build", "uv publish")
    assert (found.name, found.sessions, found.asked) == ("uv publish steps", 3, "")
    assert found.pointers == ("s0#2", "s1#2", "s2#2")
    assert found.told()[:2] == [("uv run pytest -q", ""), ("git tag v1.2", "git tag v1.1")]
    assert found.body == (
        "# Uv publish steps\n\n1. `uv run pytest -q`\n2. `git tag v1.2` (before: `git tag v1.1`)\n"
        "3. `uv build`\n4. `uv publish --token-from env`\n"
    )
    assert found.description == (
        "Steps done in 3 sessions: pytest, git tag, uv build, uv publish. "
        "Use when … (say when it is due)."
    )
    assert repeated({key: sessions[key] for key in ("s0", "s1")}) == []
    # The same procedure has the same digest, whatever it was done to.
    sessions["s0"] = run(*RELEASE)
    assert repeated(sessions)[0].digest == found.digest


def test_what_is_done_in_any_work_is_no_procedure() -> None:
    common = run("git add -A", "git commit -m x", "make lint", "git push")
    assert repeated({str(number): common for number in range(5)}) == []
    once = run("make a", "make b")
    assert repeated({str(number): once for number in range(5)}) == []
    # An edit, a test, an edit, a test: that is work.
    again = run("make a", "make b", "make a", "make b", "make a")
    assert repeated({str(number): again for number in range(5)}) == []


def test_two_that_are_mostly_the_same_are_one() -> None:
    sessions = {}
    for number in range(3):
        sessions[f"a{number}"] = run("make a", "make b", "make c", "make d")
        sessions[f"b{number}"] = run("make a", "make b", "make c", "make e")
        sessions[f"c{number}"] = run("make x", "make y", "make z")
    assert [each.keys[-1] for each in repeated(sessions)] == ["make d", "make z"]
    assert not alike((), ())


def lines(*said: tuple[str, str]) -> list[Episode]:
    found: list[Episode] = []
    for role, text in said:
        seq, at = len(found) + 1, "2026-03-01T10:15:00Z"
        given = json.dumps({"command": text}) if role == "tool_call" else text
        found.append(Episode(seq, at, "", role, given, name="bash", call=str(seq)))
        if role == "tool_call":
            found.append(Episode(seq + 1, at, "", "tool_result", "", name="bash", call=str(seq)))
    return found


@every(
    "said, name",
    [
        ("Great. Remember how to release the app!", "release the app"),
        ("don't forget how we clear the cache, please", "clear the cache, please"),
        ("make a skill of this", "uv publish steps"),
        ("Please save that as a skill called 'ship it'.", "ship it"),
        ("turn these steps into a new skill for shipping the app", "shipping the app"),
        ("Merk dir, wie man die App veröffentlicht.", "die App veröffentlicht"),
        ("Mach daraus bitte einen Skill", "uv publish steps"),
        ("Speichere das als Fähigkeit namens: Versand", "Versand"),
        ("Super ! Retiens comment publier l'application", "publier l'application"),
        ("Fais-en une compétence", "uv publish steps"),
        ("transforme ça en skill pour publier l'app", "publier l'app"),
        ("Recuerda cómo se publica la app", "publica la app"),
        ("Haz una habilidad de esto", "uv publish steps"),
    ],
)
def test_what_a_user_asks_for_has_the_steps_before_it(said: str, name: str) -> None:
    told = lines(*(("tool_call", each) for each in RELEASE), ("user", said))
    (found,) = asked_for("s1", told, cells_of("s1", told))
    assert (found.name, found.asked, found.pointers[0]) == (name, said, "s1#9")
    assert found.keys == ("pytest", "git tag", "uv build", "uv publish")
    assert found.description.endswith("Steps: pytest, git tag, uv build, uv publish.")
    assert found.body.count("\n") == 6


@every(
    "said",
    [
        "Do you remember how to release the app?",
        "I don't remember how to release the app",
        "Please do not make a skill of this",
        "Mach keinen Skill daraus",
        "Hast du dir gemerkt, wie das geht?",
        "Comment publier l'application ?",
        "¿Recuerdas cómo publicar la app?",
    ],
)
def test_who_does_not_ask_gets_nothing(said: str) -> None:
    told = lines(*(("tool_call", each) for each in RELEASE), ("user", said))
    assert asked_for("s1", told, cells_of("s1", told)) == []


def test_who_asks_before_anything_was_done_gets_nothing() -> None:
    said = ("user", "remember how to ship")
    told = lines(said, ("tool_call", "make a"), said, ("tool_call", "make b"), ("user", "thanks"))
    assert asked_for("s1", told, cells_of("s1", told)) == []
    assert asked_for("s1", told, [Cell("?", "tool", "a"), Cell("?", "tool", "b")]) == []


@given(st.lists(st.tuples(st.sampled_from(["user", "tool_call", "assistant"]), any_text)))
def test_any_lines_can_be_looked_at(said: list[tuple[str, str]]) -> None:
    told = lines(*said, ("user", "remember how to ship"))
    cells = cells_of("s1", told)
    often = repeated(dict.fromkeys("abc", steps_of(cells)))
    for procedure in (*asked_for("s1", told, cells), *often):
        assert "\n" not in procedure.description
        assert len(procedure.body) < 10_000
        assert procedure.digest.replace("-", "").isalnum()
