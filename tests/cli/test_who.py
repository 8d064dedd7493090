"""``show soul`` and ``show profile``: the file that is really used, whatever it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner
from tests.git.conftest import untold
from tests.git.desk import Desk

__all__ = ["untold"]


@pytest.fixture
def home(isolated_home: Path) -> Path:
    """Return the memory folder of the global scope, with a ``USER.md`` and a ``SOUL.md``."""
    folder = isolated_home / ".engramdown" / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.md").unlink(missing_ok=True)
    (folder / "USER.md").write_text("# Me\n\n- Name: Ada\n", encoding="utf-8")
    (folder / "SOUL.md").write_text("Be kind.\n", encoding="utf-8")
    return folder


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


class TestShow:
    """A page and its path are shown."""

    def test_the_page_and_the_path_that_is_used(
        self, run: Runner, memory: Path, home: Path
    ) -> None:
        done = run.ok("show", "soul").out
        assert done == f"{home / 'SOUL.md'}\nwho the assistant is, for all projects\n\nBe kind.\n"
        write(memory / "Soul.md", "Be a pirate.\n")
        done = run.ok("show", "SOUL.md").out
        assert done.startswith(f"{memory / 'Soul.md'}\nwho the assistant is, for this project\n")
        assert done.endswith(f"\nnot used: {home / 'SOUL.md'} (the project's comes first)\n")

    def test_programs_get_everything(self, run: Runner, memory: Path, home: Path) -> None:
        write(memory / "USER.md", "- Name: Eve\n")
        assert run.ok("show", "profile", "--json").json == {
            "state": "page",
            "name": "profile",
            "scope": "global",
            "path": str(home / "USER.md"),
            "is_there": True,
            "text": "# Me\n\n- Name: Ada\n",
            "also_used": [],
            "not_used": [{"path": str(memory / "USER.md"), "why": "scope"}],
        }

    def test_where_there_is_none_the_path_to_create_is_named(
        self, run: Runner, memory: Path, home: Path
    ) -> None:
        (home / "SOUL.md").unlink()
        (home / "USER.md").unlink()
        done = run("show", "soul")
        assert (done.code, done.out) == (1, "")
        assert f"create {memory / 'soul.md'}\n" in done.err
        done = run("show", "user", "--json")
        assert (done.code, done.json["is_there"]) == (1, False)
        assert done.json["path"] == str(home / "profile.md")
        assert "engramdown remember" in done.err

    def test_what_could_fool_a_terminal_is_made_visible(self, run: Runner, home: Path) -> None:
        write(home / "SOUL.md", "Be \x1b[31mred\x1b[0m.\u202e\n")
        assert "\x1b" not in run.ok("show", "soul").out

    def test_a_page_is_edited_as_a_file(self, run: Runner, home: Path) -> None:
        assert home.is_dir()
        done = run("edit", "soul")
        assert (done.code, "`engramdown show soul` says where it is" in done.err) == (2, True)


class TestAliases:
    """``USER.md`` is called so wherever a person looks for it."""

    def test_lists_and_receipts_name_it(self, run: Runner, memory: Path, home: Path) -> None:
        assert memory.is_dir()
        done = run.ok("remember", "My timezone is Europe/Lisbon").out
        assert done.startswith("Remembered in USER.md:4 (profile, global) id ")
        assert run.ok("list").out.startswith("USER.md  all projects\n")
        first, second = run.ok("list", "--json").json
        assert (first["file"], first["path"]) == ("USER.md", str(home / "USER.md"))
        assert f"{home / 'USER.md'}:4" in run.ok("show", second["id"]).out
        assert "USER.md (global)" in run.ok("stats", "--json").out
        assert "It is in USER.md:4" in run.ok("why", second["id"]).out
        assert "which was in USER.md" in run.ok("forget", second["id"]).out
        assert run.ok("undo").code == 0
        assert not (home / "profile.md").exists()

    def test_doctor_names_it_and_what_is_not_used(
        self, run: Runner, memory: Path, home: Path
    ) -> None:
        write(memory.parent / "SOUL.md", "In the wrong folder.\n")
        write(home / "soul.md", "Small letters.\n")
        write(home / "USER.md", "- Name: Ada\n- Name: Ada\n- Name: Ada <!-- id:x ts:soon -->\n")
        done = run("doctor", "--json")
        found = {
            (Path(each["path"]).name, each["code"], each["message"])
            for scope in done.json["scopes"]
            for each in scope["findings"]
        }
        assert ("SOUL.md", "wrong-folder", "is not read here") in found
        assert ("SOUL.md", "not-used", "is not read: soul.md is used instead") in found
        assert ("USER.md", "duplicate", "says the same as USER.md:1") in found
        assert not any(code == "unknown-file" for _, code, _ in found)

    def test_a_user_file_in_a_project_is_told_of(self, run: Runner, memory: Path) -> None:
        write(memory / "User.md", "- Name: Ada\n")
        found = run("doctor", "--json").json["scopes"][-1]["findings"]
        assert [(each["file"], each["code"]) for each in found] == [
            ("User.md", "profile-in-project")
        ]


class TestGit:
    """``diff`` and the hook know it by the same name."""

    @pytest.fixture
    def desk(self, home: Path) -> Desk:
        """Keep the global scope in git, with one commit."""
        desk = Desk(home.parent)
        desk.commit("Begin")
        return desk

    def test_a_change_is_told_of_the_file_as_it_is_called(self, run: Runner, desk: Desk) -> None:
        fact = run.remember("My timezone is Europe/Lisbon")
        done = run.ok("diff", "--global").out
        assert "\nUSER.md  all projects\n" in done
        assert f"Learned {fact}" in done
        (change,) = run.ok("diff", "--global", "--json").json["changes"]
        assert change["file"] == "USER.md"
        assert change["path"].endswith("memory/USER.md")
        desk.commit("Learn")

    def test_another_name_is_no_change(self, run: Runner, desk: Desk, home: Path) -> None:
        run.remember("My timezone is Europe/Lisbon")
        desk.commit("Learn")
        (home / "USER.md").rename(home / "profile.md")
        (home / "SOUL.md").rename(home / "soul.md")
        done = run("diff", "--global")
        assert (done.code, "nothing changed in memory" in done.err) == (1, True)

    def test_a_secret_in_it_stops_a_commit(
        self, run: Runner, desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(home.parent)
        key = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
        for name in ("USER.md", "profile.md", "SOUL.md"):
            write(home / name, f"- The key is {key}\n")
            desk.git("add", "--force", f"memory/{name}")
        found = run("doctor", "--staged", "--json").json["findings"]
        told = sorted(each["file"] for each in found if each["code"] == "secret")
        assert [Path(name).name for name in told] == ["SOUL.md", "USER.md", "profile.md"]

    def test_branches_are_merged_entry_by_entry(self, run: Runner, memory: Path) -> None:
        path = memory / "USER.md"
        desk = Desk(memory.parent.parent)
        write(path, "# Me\n\n- Name: Ada\n")
        run.ok("init", "--git")
        desk.commit("Set up")
        desk.git("checkout", "-q", "-b", "other")
        write(path, "# Me\n\n- Name: Ada\n- Plays chess\n")
        desk.commit("Chess")
        desk.git("checkout", "-q", "-")
        write(path, "# Me\n\n- Name: Ada\n- Drinks tea\n")
        desk.commit("Tea")
        desk.git("merge", "-q", "other", "-m", "Merge")
        text = path.read_text(encoding="utf-8")
        assert "- Plays chess\n" in text
        assert "- Drinks tea\n" in text


def test_what_stands_in_the_folder_of_other_tools_is_named(run: Runner, memory: Path) -> None:
    agents = memory.parent.parent / ".agents"
    agents.mkdir()
    (agents / "SOUL.md").write_text("You are calm.\n", encoding="utf-8")
    (agents / "USER.md").write_text("- Name: Ada\n", encoding="utf-8")
    shown = run.ok("show", "soul").out
    assert str(agents / "SOUL.md") in shown
    assert "You are calm." in shown
    assert f"also used: {agents / 'USER.md'}" in run.ok("show", "profile").out
    assert run.ok("show", "profile", "--json").json["also_used"] == [str(agents / "USER.md")]
    context = run.ok("context").out
    assert "You are calm." in context
    assert "Name: Ada" in context
    run.ok("remember", "My time zone is Europe/Lisbon")
    assert (agents / "USER.md").read_text(encoding="utf-8") == "- Name: Ada\n"
