"""``engramdown diff`` and ``show --at`` in a real repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from freezegun import freeze_time

from tests.cli.conftest import Runner
from tests.git.conftest import untold
from tests.git.desk import Desk

__all__ = ["untold"]


@pytest.fixture
def desk(memory: Path) -> Desk:
    """Keep the project in git; nothing is committed yet."""
    return Desk(memory.parent.parent)


def propose(run: Runner) -> str:
    """Let something wait, and return its id."""
    said = ("remember", "--source", "llm", "Deploys run on Fridays", "--json")
    found: str = run.ok("--mode", "copilot", *said).json["id"]
    return found


def test_what_was_learned_since_is_told_in_sentences(run: Runner, desk: Desk) -> None:
    rule = run.remember("Never push to main")
    desk.commit("Begin")
    run.ok("edit", rule, "Never push to production")
    lesson = run.remember("CI takes nine minutes")
    done = run.ok("diff")
    head, *_ = done.out.split("\n")
    assert head.startswith("From ")
    assert head.endswith(" by Ada to now")
    assert f"  Changed {rule}: Never push to [-main-]{{+production+}}\n" in done.out
    assert f"  Learned {lesson}: CI takes nine minutes\n" in done.out
    assert done.out.endswith("2 files changed: 1 learned, 1 changed\n")


def test_json_says_all_of_it(run: Runner, desk: Desk) -> None:
    rule = run.remember("Never push to main")
    first = desk.commit("Begin")
    run.ok("forget", rule, "--why", "old")
    data = run.ok("diff", "--json").json
    assert (data["scope"], data["from"]["id"], data["to"]) == ("project", first, None)
    assert data["counts"] == {"forgot": 1}
    (change,) = data["changes"]
    assert (change["verb"], change["id"], change["file"]) == ("forgot", rule, "rules.md")
    assert (change["reason"], change["by"]) == ("forgotten", "user")
    assert change["before"]["text"] == "Never push to main"
    assert change["after"] is None


def test_nothing_changed_is_code_1(run: Runner, desk: Desk) -> None:
    desk.commit("Begin")
    done = run("diff")
    assert (done.code, done.out) == (1, "")
    assert "nothing changed in memory since" in done.err
    done = run("diff", "HEAD..main", "--json")
    assert (done.code, done.json["changes"]) == (1, [])
    assert "between" in done.err


def test_two_commits_are_compared_as_git_reads_their_names(run: Runner, desk: Desk) -> None:
    desk.commit("Begin")
    desk.git("checkout", "--quiet", "-b", "other")
    theirs = run.remember("Theirs is a lesson")
    desk.commit("Theirs")
    desk.git("checkout", "--quiet", "main")
    ours = run.remember("Ours is one too")
    desk.commit("Ours")
    run.remember("Not committed")

    def told(rev: str) -> set[tuple[str, str]]:
        found = run.ok("diff", rev, "--json").json["changes"]
        return {(each["verb"], each["id"]) for each in found}

    assert told("HEAD~1..HEAD") == told("HEAD~1..") == {("learned", ours)}
    assert told("main..other") == {("learned", theirs), ("forgot", ours)}
    assert told("main...other") == {("learned", theirs)}
    done = run.ok("diff", "HEAD~1..HEAD")
    assert " to now" not in done.out


def test_a_proposal_that_was_accepted_is_told_as_approved(run: Runner, desk: Desk) -> None:
    proposal = propose(run)
    desk.commit("Begin")
    run.ok("review", "--all")
    done = run.ok("diff")
    assert "Approved " in done.out
    assert f"Deploys run on Fridays  (was proposed as {proposal})" in " ".join(done.out.split("\n"))


def test_moves_marks_and_prose_have_their_words(run: Runner, desk: Desk) -> None:
    rules = desk.top / ".engramdown" / "memory" / "rules.md"
    rules.write_text(
        "# Rules\n\nWords.\n\n## Always\n\n"
        "- Lint <!-- id:k3v9q2ht confidence:low -->\n- Test <!-- id:7m0xw4ce -->\n",
        encoding="utf-8",
    )
    pending = rules.with_name("pending.md")
    pending.write_text("- [ ] Later <!-- id:p81dz5ka kind:always -->\n", encoding="utf-8")
    desk.commit("Begin")
    rules.write_text(
        "# Rules\n\nOther words.\n\n## Always\n\n"
        "- Lint <!-- id:k3v9q2ht confidence:high -->\n\n## Mine\n\n- Test <!-- id:7m0xw4ce -->\n",
        encoding="utf-8",
    )
    pending.write_text("- [x] Later <!-- id:p81dz5ka kind:always -->\n", encoding="utf-8")
    out = run.ok("diff").out
    assert "Marked k3v9q2ht: Lint  (confidence low → high)" in out
    assert "Moved 7m0xw4ce: Test  (from Always to Mine)" in out
    assert "Marked p81dz5ka: Later  (accepted)" in out
    assert "Prose changed in rules.md" in out
    desk.commit("Second")
    rules.write_text(f"{rules.read_text(encoding='utf-8')}\n\n", encoding="utf-8")
    (rules.parent / "topics").mkdir()
    (rules.parent / "topics" / "ci.md").write_text("- A <!-- id:9c2hq7xk -->\n", encoding="utf-8")
    assert "Only the layout of rules.md changed" in run.ok("diff").out
    desk.commit("Third")
    (rules.parent / "topics" / "ci.md").unlink()
    rules.with_name("lessons.md").write_text("- A <!-- id:9c2hq7xk -->\n", encoding="utf-8")
    assert "Moved 9c2hq7xk: A  (from topics/ci.md" in run.ok("diff").out


def test_a_comment_that_alone_changed_is_told(run: Runner, desk: Desk) -> None:
    lessons = desk.top / ".engramdown" / "memory" / "lessons.md"
    lines = "- Lint {0} it <!-- id:k3v9q2ht -->\n- Mine {0}\n"
    lessons.write_text(lines.format(""), encoding="utf-8")
    desk.commit("Begin")
    for new in ("<!-- one -->", "<!-- t\u202ewo -->", ""):
        lessons.write_text(lines.format(new), encoding="utf-8")
        out = run.ok("diff").out
        shown = new.replace("\u202e", "\u2039U+202E\u203a")
        assert out.count("(private comments ") == out.count(f" → {shown or 'none'})") == 2, out
        assert "\u202e" not in out
        desk.commit("Next")


def test_no_text_of_memory_reaches_the_terminal_raw(run: Runner, desk: Desk) -> None:
    desk.author = "Ev\x1b[31mil"
    desk.commit("Begin")
    (desk.top / ".engramdown" / "memory" / "lessons.md").write_text(
        "- a\x1b[2Jb \u202eright\n", encoding="utf-8"
    )
    out = run.ok("diff").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "␛" in out


def test_without_a_repository_or_a_commit_it_says_what_to_do(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("diff")
    assert (done.code, "is in no git repository; `git init` makes one" in done.err) == (1, True)
    Desk(memory.parent.parent)
    done = run("diff")
    assert (done.code, "nothing was committed yet" in done.err) == (1, True)
    done = run("diff", "--global")
    assert done.code == 1


def test_wrong_names_are_refused(run: Runner, desk: Desk) -> None:
    desk.commit("Begin")
    for rev in ("nope", "-x", "HEAD..nope", "a...HEAD", "HEAD..--output=x"):
        done = run("diff", "--", rev)
        assert (done.code, "names no commit" in done.err) == (1, True), done
    assert run("diff", "HEAD", "HEAD").code == 2


def test_the_global_scope_can_be_in_git_too(run: Runner, desk: Desk, isolated_home: Path) -> None:
    desk.commit("Begin")
    run.ok("init", "--global")
    home = Desk(isolated_home / ".engramdown")
    home.commit("Begin")
    rule = run.remember("--global", "Log in UTC")
    assert [each["id"] for each in run.ok("diff", "--global", "--json").json["changes"]] == [rule]
    home.commit("Rule")
    run.ok("forget", rule)
    assert run.ok("show", rule, "--at", "main", "--json").json["scope"] == "global"


# ---- show --at ----


def test_a_memory_is_shown_as_it_was(run: Runner, desk: Desk) -> None:
    rule = run.remember("Never push to main")
    desk.commit("Begin\n\nmore")
    run.ok("edit", rule, "Never push to production")
    run.ok("forget", rule)
    desk.commit("Gone")
    done = run.ok("show", rule[:5], "--at", "HEAD~1")
    assert " by Ada: Begin\n\nNever push to main\n" in done.out
    assert f"- Never push to main <!-- id:{rule}" in done.out
    assert "rules.md:" in done.out
    data = run.ok("show", rule, "--at", "HEAD~1", "--json").json
    assert (data["state"], data["text"]) == ("kept", "Never push to main")
    assert data["commit"]["subject"] == "Begin"
    data = run.ok("show", rule, "--at", "HEAD", "--json").json
    assert (data["state"], data["reason"]) == ("archived", "forgotten")
    assert "retired" in run.ok("show", rule, "--at", "HEAD").out


def test_proposals_and_lines_by_hand_are_shown_as_they_were(run: Runner, desk: Desk) -> None:
    proposal = propose(run)
    lessons = desk.top / ".engramdown" / "memory" / "lessons.md"
    lessons.write_text("- By hand\n", encoding="utf-8")
    by_hand = run.ok("list", "--json").json[0]["id"]
    desk.commit("Begin")
    run.ok("review", "--all")
    lessons.write_text("", encoding="utf-8")
    assert run.ok("show", proposal, "--at", "HEAD", "--json").json["state"] == "pending"
    assert "\nBy hand\n" in run.ok("show", by_hand, "--at", "HEAD").out


def test_an_id_that_means_nothing_or_too_much_is_refused(run: Runner, desk: Desk) -> None:
    (desk.top / ".engramdown" / "memory" / "lessons.md").write_text(
        "- One <!-- id:k3v9q2ht -->\n- Two <!-- id:k3v9xxxx -->\n", encoding="utf-8"
    )
    desk.commit("Begin")
    done = run("show", "zzzz", "--at", "HEAD")
    assert (done.code, "no memory with id 'zzzz'" in done.err) == (1, True)
    done = run("show", "k3v9", "--at", "HEAD")
    assert done.code == 1
    assert done.err.endswith("  k3v9q2ht  lessons.md:1  One\n  k3v9xxxx  lessons.md:2  Two\n")
    assert run("show", "k3v9q2ht", "--at", "nope").code == 1


def test_a_file_that_is_too_large_is_not_read(run: Runner, desk: Desk) -> None:
    (desk.top / ".engramdown" / "config.toml").write_text("max_file_mb = 0.01\n", encoding="utf-8")
    lessons = desk.top / ".engramdown" / "memory" / "lessons.md"
    lessons.write_text("- a\n" * 5_000, encoding="utf-8")
    desk.commit("Begin")
    lessons.write_text("- a\n", encoding="utf-8")
    done = run("diff")
    assert done.code == 1
    assert "lessons.md: has 0.02 MB, more than the limit of 0.01 MB" in done.err


@pytest.mark.skipif(shutil.which("sh") is None, reason="the driver is a script for sh")
def test_a_clone_is_compared_without_running_its_settings(run: Runner, desk: Desk) -> None:
    ran = desk.top.parent / "ran"
    desk.commit("Begin")
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.evil.textconv"):
        desk.git("config", key, f"touch {ran}; cat")
    desk.write(".git/info/attributes", "*.md diff=evil\n")
    run.remember("Never push to main")
    assert "Learned" in run.ok("diff").out
    assert not ran.exists()


# ---- --as-of ----


@pytest.mark.usefixtures("desk")
def test_a_day_is_as_good_as_a_commit(run: Runner) -> None:
    with freeze_time("2026-03-01 10:00") as clock:
        rule = run.remember("Never push to main")
        clock.move_to("2026-03-03 10:00")
        run.ok("edit", rule, "Never push to production")
        then = "--as-of", "2026-03-02"
        assert run.ok("show", rule, *then).out.startswith("As it was on 2026-03-02 ")
        assert run.ok("show", rule, *then, "--json").json["text"] == "Never push to main"
        for command in (["list"], ["context"], ["recall", "push"], ["list", "--kind", "never"]):
            done = run.ok(*command, *then)
            assert "Never push to main" in done.out
            assert "production" not in done.out
        done = run("list", "--as-of", "2026-02-01")
        assert (done.code, done.out) == (1, "")
        assert "nothing is known of memory as of 2026-02-01" in done.err
        assert run("list", "--as-of", "2026-03-04").code != 0
        assert run("list", "--as-of", " ").code == 2
        assert run("recall", "push", *then, "--until", "2026-03-01").code == 2


@pytest.mark.usefixtures("desk")
def test_what_was_said_later_is_not_found(run: Runner) -> None:
    with freeze_time("2026-03-01 10:00") as clock:
        run.ok("log", "user", "--session", "s", "The plum tree is red")
        clock.move_to("2026-03-03 10:00")
        run.ok("log", "user", "--session", "s", "The plum tree is blue")
        done = run.ok("recall", "plum", "--as-of", "2026-03-02")
        assert "red" in done.out
        assert "blue" not in done.out
