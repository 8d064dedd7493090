"""Where scopes live, and what a configuration may say."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.context.sections import BUDGETS
from engramdown.errors import SettingsError
from engramdown.settings import (
    SETTINGS,
    EpisodeSettings,
    Overruled,
    Places,
    Settings,
    find_places,
    find_project,
    global_home,
    load,
    scope_folder,
    strictest,
)


@pytest.fixture(autouse=True)
def unset(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment say nothing."""
    assert isolated_home.is_dir()
    monkeypatch.delenv("ENGRAMDOWN_AT_SESSION_END")


@pytest.fixture
def scopes(tmp_path: Path) -> Places:
    """Make the folders of both scopes, with nothing in them."""
    home, project = tmp_path / "home" / ".engramdown", tmp_path / "work" / ".engramdown"
    home.mkdir(parents=True)
    project.mkdir(parents=True)
    return Places(home, project)


def configure(folder: Path, text: str) -> Path:
    """Write a config.toml."""
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    return file


class TestWhatIsSet:
    """What nobody set has a default; what is set nearer wins."""

    def test_without_a_file_the_defaults_hold(self, scopes: Places) -> None:
        assert load(scopes.home, scopes.project) == Settings()
        assert Settings().mode == "autopilot"
        assert Settings().durability == "full"

    def test_the_global_scope_alone_says_where_what_was_said_is_sent(self, scopes: Places) -> None:
        """A project that was cloned must not."""
        for chosen in ("openai:m@http://localhost:1/v1", "fastembed:BAAI/bge", ""):
            configure(scopes.home, f'[episodes]\nembedder = "{chosen}"\n')
            assert load(scopes.home, scopes.project).episodes.embedder == chosen
        configure(scopes.project, "[episodes]\nembedder_timeout = 1\n")
        assert load(scopes.home, scopes.project).episodes.embedder_timeout == 1

    def test_without_a_project_the_global_file_holds(self, scopes: Places) -> None:
        configure(scopes.home, 'mode = "copilot"\n')
        assert load(scopes.home, None).mode == "copilot"

    def test_reading_creates_nothing(self, tmp_path: Path) -> None:
        load(tmp_path / "nowhere", tmp_path / "nothing")
        find_places(tmp_path / "project", tmp_path / "home")
        assert list(tmp_path.iterdir()) == []

    def test_every_key_can_be_set(self, scopes: Places) -> None:
        configure(
            scopes.home,
            'mode = "off"\ndurability = "fast"\nlock_timeout = 2\nmax_file_mb = 0.5\n'
            'timezone = "Europe/Berlin"\n'
            "[budgets]\nidentity = 0\nscratchpad = 7\n",
        )
        assert load(scopes.home, scopes.project) == Settings(
            mode="off",
            durability="fast",
            lock_timeout=2.0,
            max_file_mb=0.5,
            timezone="Europe/Berlin",
            budgets={"identity": 0, "scratchpad": 7},
        )

    def test_megabytes_are_bytes_for_the_disk(self) -> None:
        assert Settings(max_file_mb=0.5).max_file_bytes == 524_288

    def test_the_project_wins_over_the_global_file_key_by_key(self, scopes: Places) -> None:
        configure(scopes.home, 'mode = "copilot"\nlock_timeout = 3\n[budgets]\nidentity = 1\n')
        configure(scopes.project, 'mode = "off"\n[budgets]\nproject_rules = 2\n')
        settings = load(scopes.home, scopes.project)
        assert (settings.mode, settings.lock_timeout) == ("off", 3.0)
        assert settings.budgets == {"identity": 1, "project_rules": 2}

    def test_the_environment_wins_over_the_files(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configure(scopes.project, 'mode = "off"\n')
        monkeypatch.setenv("ENGRAMDOWN_MODE", "copilot")
        assert load(scopes.home, scopes.project).mode == "copilot"

    def test_an_argument_wins_over_the_environment(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGRAMDOWN_MODE", "copilot")
        assert load(scopes.home, scopes.project, "autopilot").mode == "autopilot"

    def test_an_empty_variable_is_none(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGRAMDOWN_MODE", "")
        assert load(scopes.home, scopes.project).mode == "autopilot"

    def test_the_table_of_transcripts_is_joined_key_by_key_too(self, scopes: Places) -> None:
        configure(scopes.home, "[episodes]\ninput_limit = 2\nenabled = false\n")
        configure(scopes.project, "[episodes]\ninput_limit = 1\ngap_minutes = 0.5\n")
        assert load(scopes.home, scopes.project).episodes == EpisodeSettings(
            enabled=False, input_limit=1, gap_minutes=0.5
        )

    @pytest.mark.parametrize("said", ["off", "OFF", "on"])
    def test_a_variable_switches_recording(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch, said: str
    ) -> None:
        enabled = said == "on"
        configure(scopes.project, f"[episodes]\nenabled = {str(not enabled).lower()}\n")
        monkeypatch.setenv("ENGRAMDOWN_EPISODES", said)
        assert load(scopes.home, scopes.project).episodes.enabled is enabled

    def test_it_knows_on_and_off(self, scopes: Places, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ENGRAMDOWN_EPISODES", "no")
        with pytest.raises(SettingsError, match="ENGRAMDOWN_EPISODES: episodes: 'no' is not one"):
            load(scopes.home, scopes.project)

    def test_every_section_has_a_budget_that_can_be_set(self) -> None:
        assert {key for key in SETTINGS if key.startswith("budgets.")} == {
            f"budgets.{name}" for name in BUDGETS
        }


class TestWhatIsWrong:
    """A wrong value is one line that tells where it stands and what is allowed."""

    @pytest.mark.parametrize(
        "text, key, allowed",
        [
            pytest.param('mode = "Autopilot"', "mode", "autopilot, copilot, off", id="mode"),
            pytest.param("mode = true", "mode", "autopilot, copilot, off", id="mode-type"),
            pytest.param('durability = "slow"', "durability", "full, fast", id="durability"),
            pytest.param("lock_timeout = 0", "lock_timeout", "a number above 0", id="zero"),
            pytest.param("lock_timeout = -1", "lock_timeout", "above 0", id="negative"),
            pytest.param("lock_timeout = inf", "lock_timeout", "up to 1,000,000", id="endless"),
            pytest.param("lock_timeout = nan", "lock_timeout", "above 0", id="nan"),
            pytest.param('lock_timeout = "5"', "lock_timeout", "a number", id="number-as-text"),
            pytest.param("lock_timeout = true", "lock_timeout", "a number", id="truth"),
            pytest.param(f"max_file_mb = 1{'0' * 400}", "max_file_mb", "up to", id="huge"),
            pytest.param("timezone = 5", "timezone", "a text in quotes", id="zone"),
            pytest.param("budgets = 5", "budgets", "a table like [budgets]", id="no-table"),
            pytest.param("[budgets]\nnotes = 5", "budgets.notes", "project_rules", id="section"),
            pytest.param("[budgets]\nidentity = -1", "budgets.identity", "0 or more", id="below"),
            pytest.param("[budgets]\nidentity = 1.5", "budgets.identity", "tokens", id="half"),
            pytest.param("[budgets]\nidentity = true", "budgets.identity", "tokens", id="yes"),
            pytest.param("episodes = true", "episodes", "like [episodes]", id="no-episodes"),
            pytest.param("[episodes]\nlimit = 5", "episodes.limit", "input_limit", id="unknown"),
            pytest.param("[episodes]\nenabled = 1", "episodes.enabled", "true or false", id="on"),
            pytest.param("[episodes]\naround = -1", "episodes.around", "whole number", id="less"),
            pytest.param("[episodes]\nshown = 1.5", "episodes.shown", "whole number", id="part"),
            pytest.param(
                '[episodes]\npayloads = "all"', "episodes.payloads", "keep, drop", id="payloads"
            ),
            pytest.param("[episodes]\nignore = 'a'", "episodes.ignore", "a list like", id="word"),
            pytest.param("[episodes]\nignore = ['']", "episodes.ignore", "a list like", id="void"),
            pytest.param(
                "[episodes]\nidle_minutes = -1", "episodes.idle_minutes", "0 to", id="idle"
            ),
            pytest.param(
                "[episodes]\ngap_minutes = true", "episodes.gap_minutes", "a number", id="gap"
            ),
            pytest.param(
                '[episodes]\nembedder = "cohere:x"', "episodes.embedder", "openai:MODEL", id="model"
            ),
            pytest.param(
                '[episodes]\nembedder = "openai: "', "episodes.embedder", "fastembed", id="unnamed"
            ),
            pytest.param("[episodes]\nembedder = 5", "episodes.embedder", "not one of", id="none"),
            pytest.param(
                '[episodes]\nembedder = "fastembed:x"', "episodes.embedder", "global", id="project"
            ),
            pytest.param(
                "[episodes]\nembedder_timeout = 0", "episodes.embedder_timeout", "above", id="time"
            ),
            pytest.param('colour = "red"', "colour", "mode, durability, lock_timeout", id="key"),
            pytest.param("[colours]\nred = 1", "colours", "is not a setting", id="table"),
        ],
    )
    def test_a_wrong_value_names_the_file_the_key_and_what_is_allowed(
        self, scopes: Places, text: str, key: str, allowed: str
    ) -> None:
        file = configure(scopes.project, f"{text}\n")
        with pytest.raises(SettingsError) as caught:
            load(scopes.home, scopes.project)
        assert (caught.value.source, caught.value.key) == (str(file), key)
        message = str(caught.value)
        assert str(file) in message
        assert key in message
        assert allowed in message
        assert "\n" not in message

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("mode = ", id="cut-short"),
            pytest.param('mode = "off"\nmode = "off"\n', id="twice"),
            pytest.param(f"lock_timeout = {'9' * 5000}", id="too-many-digits"),
            pytest.param(f"mode = {'[' * 5000}", id="too-deep"),
            pytest.param("\0", id="nul"),
        ],
    )
    def test_what_is_not_toml_is_one_error(self, scopes: Places, text: str) -> None:
        configure(scopes.home, text)
        with pytest.raises(SettingsError, match=r"config\.toml: file: is not TOML: "):
            load(scopes.home, scopes.project)

    def test_the_mark_of_utf_8_at_the_beginning_is_no_error(self, scopes: Places) -> None:
        (scopes.home / "config.toml").write_bytes(b'\xef\xbb\xbfmode = "off"\r\n')
        assert load(scopes.home, scopes.project).mode == "off"

    def test_bytes_that_are_not_utf_8_are_one_error(self, scopes: Places) -> None:
        (scopes.home / "config.toml").write_bytes(b'mode = "\xff"\n')
        with pytest.raises(SettingsError, match="file: is not TOML"):
            load(scopes.home, scopes.project)

    def test_a_folder_is_no_configuration(self, scopes: Places) -> None:
        (scopes.home / "config.toml").mkdir()
        with pytest.raises(SettingsError, match="is not a regular file"):
            load(scopes.home, scopes.project)

    def test_a_pipe_is_not_waited_for(self, scopes: Places) -> None:
        os.mkfifo(scopes.home / "config.toml")
        with pytest.raises(SettingsError, match="is not a regular file"):
            load(scopes.home, scopes.project)

    def test_an_endless_file_is_not_read(self, scopes: Places) -> None:
        with configure(scopes.home, "").open("wb") as file:
            file.truncate(50 * 1024 * 1024)
        with pytest.raises(SettingsError, match="is larger than 1048576 bytes"):
            load(scopes.home, scopes.project)

    def test_a_link_in_a_circle_is_one_error(self, scopes: Places) -> None:
        (scopes.home / "config.toml").symlink_to(scopes.home / "config.toml")
        with pytest.raises(SettingsError, match="cannot be read"):
            load(scopes.home, scopes.project)

    def test_a_wrong_variable_is_named(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGRAMDOWN_MODE", "auto")
        message = (
            "environment variable ENGRAMDOWN_MODE: mode: 'auto' is not one of autopilot, "
            "copilot, off"
        )
        with pytest.raises(SettingsError) as caught:
            load(scopes.home, scopes.project)
        assert str(caught.value) == message

    def test_a_wrong_argument_is_named(self, scopes: Places) -> None:
        with pytest.raises(SettingsError, match="argument: mode: 'on' is not one of"):
            load(scopes.home, scopes.project, "on")

    @given(text=st.text())
    def test_any_file_gives_settings_or_a_settings_error(
        self, tmp_path_factory: pytest.TempPathFactory, text: str
    ) -> None:
        folder = tmp_path_factory.mktemp("scope")
        (folder / "config.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(SettingsError):
            assert isinstance(load(folder, None), Settings)


class TestTheGlobalScope:
    """Where the global scope is."""

    def test_it_is_below_the_home_folder(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ENGRAMDOWN_HOME")
        assert global_home() == isolated_home / ".engramdown"

    def test_a_variable_moves_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ENGRAMDOWN_HOME", str(tmp_path / "memory"))
        assert global_home() == tmp_path / "memory"

    def test_the_variable_may_begin_at_home(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGRAMDOWN_HOME", "~/notes")
        assert global_home() == isolated_home / "notes"

    def test_a_relative_variable_is_made_absolute(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ENGRAMDOWN_HOME", "notes")
        assert global_home() == Path.cwd() / "notes"

    def test_the_home_of_nobody_is_one_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ENGRAMDOWN_HOME", "~nobody-of-this-name/notes")
        with pytest.raises(SettingsError, match="ENGRAMDOWN_HOME"):
            global_home()


class TestTheProject:
    """How a project is found."""

    def test_it_is_found_from_any_folder_below(self, tmp_path: Path) -> None:
        deep = tmp_path / "src" / "deep" / "er"
        deep.mkdir(parents=True)
        (tmp_path / ".engramdown").mkdir()
        assert find_project(deep) == tmp_path / ".engramdown"

    def test_the_nearest_one_wins(self, tmp_path: Path) -> None:
        inner = tmp_path / "vendor" / "library"
        (inner / ".engramdown").mkdir(parents=True)
        (tmp_path / ".engramdown").mkdir()
        assert find_project(inner) == inner / ".engramdown"
        assert find_project(inner.parent) == tmp_path / ".engramdown"

    def test_from_within_its_own_folder_it_is_found(self, tmp_path: Path) -> None:
        memory = tmp_path / ".engramdown" / "memory"
        memory.mkdir(parents=True)
        assert find_project(memory) == tmp_path / ".engramdown"

    def test_where_there_is_none_there_is_none(self) -> None:
        assert find_project(Path.cwd()) is None

    @pytest.mark.parametrize("loops", [True, False])
    def test_what_stands_in_its_place_is_found_too(self, tmp_path: Path, *, loops: bool) -> None:
        """Whoever reads memory there says that it is no folder; above it is nobody looked for."""
        place = tmp_path / ".engramdown"
        if loops:
            place.symlink_to(place.name)
        else:
            place.write_text("", encoding="utf-8")
        assert find_project(tmp_path / "src") == place
        assert load(tmp_path / "home", place) == load(place, None) == Settings()

    def test_a_link_that_leads_nowhere_is_none(self, tmp_path: Path) -> None:
        (tmp_path / ".engramdown").symlink_to("nowhere")
        assert find_project(tmp_path) is None

    def test_a_folder_that_does_not_exist_is_looked_up_from(self, tmp_path: Path) -> None:
        (tmp_path / ".engramdown").mkdir()
        assert find_project(tmp_path / "not" / "there") == tmp_path / ".engramdown"

    def test_a_folder_that_may_not_be_looked_into_is_passed_over(self, tmp_path: Path) -> None:
        # Longer than any system takes, which is an error as a missing permission is one.
        (tmp_path / ".engramdown").mkdir()
        assert find_project(tmp_path / ("x" * 5000)) == tmp_path / ".engramdown"

    def test_home_is_not_a_project(self, isolated_home: Path) -> None:
        (isolated_home / ".engramdown").mkdir()
        assert find_project(isolated_home / "start") is None

    def test_home_is_not_a_project_when_the_global_scope_was_moved(
        self, isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (isolated_home / ".engramdown").mkdir()
        monkeypatch.setenv("ENGRAMDOWN_HOME", str(tmp_path / "elsewhere"))
        assert find_project(isolated_home / "start") is None

    def test_where_the_global_scope_was_moved_to_is_not_a_project(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".engramdown").mkdir()
        monkeypatch.setenv("ENGRAMDOWN_HOME", str(tmp_path / ".engramdown"))
        assert find_project(tmp_path) is None

    def test_what_an_argument_says_is_global_is_not_a_project(self, tmp_path: Path) -> None:
        (tmp_path / ".engramdown").mkdir()
        assert find_project(tmp_path, tmp_path / ".engramdown") is None

    def test_a_project_below_home_is_one(self, isolated_home: Path) -> None:
        (isolated_home / ".engramdown").mkdir()
        project = isolated_home / "work" / ".engramdown"
        project.mkdir(parents=True)
        assert find_project(project.parent) == project

    def test_home_through_a_link_is_still_home(self, isolated_home: Path, tmp_path: Path) -> None:
        (isolated_home / ".engramdown").mkdir()
        (tmp_path / "link").symlink_to(isolated_home)
        assert find_project(tmp_path / "link" / "start") is None

    def test_a_link_that_leaves_the_project_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        project = tmp_path / "project"
        project.mkdir()
        (project / ".engramdown").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(SettingsError, match="a link that leaves the project") as caught:
            find_project(project)
        assert caught.value.source == str(project / ".engramdown")

    def test_a_link_within_the_project_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "docs" / "memory").mkdir(parents=True)
        (tmp_path / ".engramdown").symlink_to(tmp_path / "docs" / "memory")
        assert find_project(tmp_path) == tmp_path / ".engramdown"

    def test_a_folder_of_a_scope_is_given_as_itself_or_by_the_project(self, tmp_path: Path) -> None:
        assert scope_folder(tmp_path) == tmp_path / ".engramdown"
        assert scope_folder(tmp_path / ".engramdown") == tmp_path / ".engramdown"
        assert scope_folder("work") == Path.cwd() / "work" / ".engramdown"

    def test_naming_a_link_that_leaves_the_project_is_refused_too(self, tmp_path: Path) -> None:
        (tmp_path / ".engramdown").symlink_to(Path.cwd())
        with pytest.raises(SettingsError, match="leaves the project"):
            scope_folder(tmp_path)


class TestThePlaces:
    """What whoever stands in a folder works with."""

    def test_a_project_that_is_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / ".engramdown").mkdir()
        monkeypatch.chdir(tmp_path)
        assert find_places() == Places(global_home(), tmp_path / ".engramdown")

    def test_without_one_it_begins_where_we_stand(self) -> None:
        assert find_places().project == Path.cwd() / ".engramdown"
        assert find_places().closed == ""

    def test_in_the_home_folder_no_project_begins(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(isolated_home)
        places = find_places()
        assert places.project != places.home
        assert places.closed == (
            f"{isolated_home}: is not a project; "
            "change to the folder of one, or use the global scope"
        )

    def test_nor_within_the_global_scope(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (isolated_home / ".engramdown").mkdir()
        monkeypatch.chdir(isolated_home / ".engramdown")
        assert find_places().closed

    def test_naming_the_global_scope_as_a_project_is_refused(self, isolated_home: Path) -> None:
        with pytest.raises(SettingsError, match="is the folder of the global scope"):
            find_places(isolated_home)

    def test_naming_both(self, tmp_path: Path) -> None:
        places = find_places(tmp_path / "a", tmp_path / "b")
        assert places == Places(tmp_path / "b", tmp_path / "a" / ".engramdown")

    def test_a_home_of_nobody_is_one_error(self) -> None:
        with pytest.raises(SettingsError, match="~nobody-of-this-name"):
            find_places(home="~nobody-of-this-name/memory")


class TestWhatAProjectMayChange:
    """Every setting has a side, and what a project says counts as far as it says."""

    # By setting: what home says, what a project says, what counts for the project's files, and
    # what for the files of the global scope. ``None`` is nothing said, or the default.
    EVERY: ClassVar[dict[str, list[tuple[object, object, object, object]]]] = {
        "mode": [
            ("off", "autopilot", "off", "off"),
            ("off", "copilot", "off", "off"),
            ("copilot", "autopilot", "copilot", "copilot"),
            ("copilot", "off", "off", "off"),
            (None, "copilot", "copilot", "copilot"),
        ],
        "durability": [("full", "fast", "fast", "full"), (None, "fast", "fast", "full")],
        "lock_timeout": [(3.0, 99.0, 99.0, 3.0), (None, 0.01, 0.01, 10.0)],
        "max_file_mb": [(2.0, 99.0, 2.0, 2.0), (None, 0.01, 0.01, 16.0)],
        "timezone": [("Europe/Berlin", "Asia/Tokyo", "Asia/Tokyo", "Europe/Berlin")],
        "pulled": [("review", "news", "review", "review"), (None, "review", "review", "review")],
        "budgets.identity": [(None, 0, None, None), (100, 0, 100, 100)],
        "budgets.global_rules": [(None, 0, None, None), (100, 0, 100, 100)],
        "budgets.project_rules": [(100, 7, 7, 7)],
        "budgets.global_lessons": [(None, 0, None, None), (100, 9999, 100, 100)],
        "budgets.project_lessons": [(100, 7, 7, 7)],
        "budgets.skills": [(None, 0, None, None), (100, 0, 100, 100)],
        "budgets.scratchpad": [(None, 0, None, None), (100, 0, 100, 100)],
        "budgets.relevant": [(None, 0, None, None), (100, 0, 100, 100)],
        "episodes.enabled": [(False, True, False, False), (None, False, False, False)],
        "episodes.payloads": [("drop", "keep", "drop", "drop"), (None, "drop", "drop", "drop")],
        "episodes.input_limit": [(9, 99, 9, 9), (None, 9, 9, 9)],
        "episodes.output_limit": [(9, 99, 9, 9), (None, 9, 9, 9)],
        "episodes.durability": [("full", "fast", "fast", "full")],
        "episodes.redact": [("all", "tools", "all", "all"), ("off", "all", "all", "all")],
        "episodes.ignore": [
            (("mine-*",), (), ("mine-*",), ("mine-*",)),
            (("mine-*",), ("ours",), ("mine-*", "ours"), ("mine-*", "ours")),
        ],
        "episodes.idle_minutes": [(60.0, 0.1, 0.1, 60.0)],
        "episodes.gap_minutes": [(10.0, 5.0, 5.0, 5.0)],
        "episodes.around": [(10, 5, 5, 5)],
        "episodes.around_hours": [(2.0, 5.0, 5.0, 5.0)],
        "episodes.shown": [(10, 5, 5, 5)],
        "episodes.history": [(False, True, False, False), (None, True, False, False)],
        "episodes.history_tokens": [(10, 99, 10, 10), (None, 9, 9, 9)],
        "episodes.embedder": [(None, "fastembed:x", SettingsError, None)],
        "episodes.embedder_timeout": [(1.0, 99.0, 1.0, 1.0)],
        "consolidation.model": [(None, "openai/x", SettingsError, None)],
        "consolidation.base_url": [(None, "http://localhost:1", SettingsError, None)],
        "consolidation.timeout": [(1.0, 99.0, 1.0, 1.0), (None, 1.0, 1.0, 1.0)],
        "consolidation.retries": [(1, 99, 1, 1), (None, 0, 0, 0)],
        "consolidation.max_tokens": [(1, 99, 1, 1), (None, 9, 9, 9)],
        "consolidation.calls_per_run": [(1, 99, 1, 1), (None, 9, 9, 9)],
        "consolidation.tokens_per_run": [(1, 99, 1, 1), (None, 9, 9, 9)],
        "consolidation.window_hours": [(None, 0.0, SettingsError, None)],
        "consolidation.calls_per_window": [(1, 99, 1, 1), (None, 9, 9, 9)],
        "consolidation.tokens_per_window": [(1, 99, 1, 1), (None, 9, 9, 9)],
        "consolidation.threshold": [(30, 1, 1, 30), (None, 99, 99, 20)],
        "consolidation.learn_from_errors": [
            (False, True, False, False),
            (True, False, False, False),
        ],
        "consolidation.at_session_end": [
            (False, True, False, False),
            (True, False, False, False),
        ],
        "consolidation.identity_every": [
            (0, 1, 0, 0),
            (9, 1, 9, 9),
            (9, 0, 0, 0),
            (None, 50, 50, 50),
        ],
        "consolidation.extract_facts": [(None, True, False, False), (True, False, False, False)],
        "conversation.automatic": [(False, True, False, False), (True, False, False, False)],
        "conversation.max_tokens": [(-1, 9, -1, -1), (9, 99, 99, 99), (9, -1, -1, -1)],
        "conversation.share": [(0.5, 0.25, 0.25, 0.25)],
        "conversation.max_messages": [(10, 99, 99, 99)],
        "conversation.fresh_tail": [(10, 99, 99, 99)],
        "worker.every": [(None, 1.0, SettingsError, None)],
        "worker.timeout": [(None, 1.0, SettingsError, None)],
        "worker.pause": [(None, 1.0, SettingsError, None)],
        "worker.batch": [(None, 1, SettingsError, None)],
        "worker.attempts": [(None, 1, SettingsError, None)],
        "worker.idle_minutes": [(None, 1.0, SettingsError, None)],
        "worker.idle_messages": [(None, 1, SettingsError, None)],
    }

    @staticmethod
    def every_setting() -> list[str]:
        """Return the name of each setting that there is."""
        tables = {"budgets": BUDGETS}
        names = []
        for name, value in Settings()._asdict().items():
            inner = tables.get(name, getattr(value, "_fields", ()))
            names += [f"{name}.{each}" for each in inner] or [name]
        told = ("at_home", "overruled", "switched_off", "trouble")
        return [name for name in names if name not in told]

    def test_each_setting_has_a_side(self) -> None:
        assert sorted(SETTINGS) == sorted(self.every_setting()) == sorted(self.EVERY)

    @pytest.mark.parametrize("key", EVERY)
    def test_what_a_project_says_counts_as_its_side_says(self, scopes: Places, key: str) -> None:
        for home, said, holds, for_all in self.EVERY[key]:
            configure(scopes.home, "" if home is None else toml(key, home))
            configure(scopes.project, toml(key, said))
            if holds is SettingsError:
                with pytest.raises(SettingsError, match="may only be in"):
                    load(scopes.home, scopes.project)
                continue
            found = load(scopes.home, scopes.project)
            assert at(found, key) == holds
            assert at(found.of("project"), key) == holds
            assert at(found.of("global"), key) == for_all
            # Of two lists of what is ignored both count.
            passed_over = said != holds and key != "episodes.ignore"
            assert [each.key for each in found.overruled] == [key] * passed_over
            assert [each.said for each in found.overruled] == [said] * passed_over

    @pytest.mark.parametrize("key", EVERY)
    def test_home_alone_says_what_it_likes(self, scopes: Places, key: str) -> None:
        """What nobody says in a project holds for both scopes, and is overruled by nothing."""
        for home, said, _, _ in self.EVERY[key]:
            value = said if home is None else home
            configure(scopes.home, toml(key, value))
            for found in (load(scopes.home, scopes.project), load(scopes.home, None)):
                assert at(found, key) == at(found.of("global"), key) == value
                assert (found.overruled, found.switched_off) == ((), ())

    @pytest.mark.parametrize(
        "key, said",
        [
            ("mode", "off"),
            ("episodes.enabled", False),
            ("episodes.payloads", "drop"),
            ("episodes.ignore", ("*",)),
            ("consolidation.learn_from_errors", False),
            ("consolidation.identity_every", 0),
            ("consolidation.calls_per_run", 0),
            ("conversation.automatic", False),
            ("conversation.max_tokens", -1),
        ],
    )
    def test_what_a_project_switches_off_is_known(
        self, scopes: Places, key: str, said: object
    ) -> None:
        configure(scopes.project, toml(key, said))
        found = load(scopes.home, scopes.project)
        assert found.switched_off == ((key, said),)
        assert found.stopped() == [f"{SETTINGS[key].does} ({key})"]
        assert SETTINGS[key].does
        configure(scopes.home, toml(key, said))
        assert load(scopes.home, scopes.project).switched_off == ()

    def test_what_the_person_asks_for_now_overrules_the_project(
        self, scopes: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configure(scopes.project, 'mode = "off"\n[episodes]\nenabled = false\n')
        monkeypatch.setenv("ENGRAMDOWN_EPISODES", "on")
        found = load(scopes.home, scopes.project, "autopilot")
        assert found.overruled == (
            Overruled("mode", "off", "autopilot", "argument"),
            Overruled("episodes.enabled", False, True, "environment"),
        )
        assert found.switched_off == ()
        monkeypatch.setenv("ENGRAMDOWN_MODE", "copilot")
        assert load(scopes.home, scopes.project).overruled[0].by == "environment"

    def test_the_strictest_is_what_a_project_may_have_asked_for(self, scopes: Places) -> None:
        configure(scopes.home, "lock_timeout = 3\n")
        found = strictest(scopes.home)
        assert (found.mode, found.pulled, found.episodes.enabled) == ("off", "review", False)
        assert found.lock_timeout == 3.0


def at(settings: Settings, key: str) -> object:
    """Return the value of a setting; ``None`` for the default of a budget."""
    name, _, inner = key.partition(".")
    value = getattr(settings, name)
    if name == "budgets":
        return value.get(inner)
    return getattr(value, inner) if inner else value


def toml(key: str, value: object) -> str:
    """Return a line of a config.toml, with its table."""
    name, _, inner = key.partition(".")
    written = json.dumps(value)
    return f"[{name}]\n{inner} = {written}\n" if inner else f"{name} = {written}\n"
