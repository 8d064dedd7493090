"""A model sees a project's files, and nothing beside them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown.integrations.chat.project_files import ProjectFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a project with a secret beside it."""
    (tmp_path / "secret.txt").write_text("beside", encoding="utf-8")
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / ".engramdown").mkdir()
    (root / ".env").write_text("KEY=x", encoding="utf-8")
    (root / "src" / "main.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (root / "README.md").write_text("Read me.\n", encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "secret.txt")
    (root / "out").symlink_to(tmp_path)
    (root / "ring").symlink_to("ring")
    os.mkfifo(root / "pipe")
    return root


def test_a_file_is_read(root: Path) -> None:
    assert ProjectFiles(root).use("read_file", {"path": "src/main.py"}).text == "one\ntwo\nthree\n"
    again = ProjectFiles(root).use("read_file", '{"path": "./src//main.py", "first_line": 2}')
    assert again.text == "two\nthree\n"


def test_a_folder_is_listed_without_what_is_hidden(root: Path) -> None:
    assert ProjectFiles(root).use("list_folder", {}).text == "README.md\npipe\nsrc/"
    assert ProjectFiles(root).use("list_folder", {"path": "src"}).text == "main.py"
    (root / "empty").mkdir()
    assert "nothing" in ProjectFiles(root).use("list_folder", {"path": "empty"}).text


@pytest.mark.parametrize(
    "path, said",
    [
        ("../secret.txt", "not below the project"),
        ("src/../../secret.txt", "not below the project"),
        ("..\\secret.txt", "not below the project"),
        ("/etc/passwd", "not below the project"),
        ("C:\\secret.txt", "not below the project"),
        ("README.md\0.png", "not below the project"),
        (".env", "is hidden"),
        (".engramdown/memory/rules.md", "is hidden"),
        ("src/.git", "is hidden"),
        ("link", "through a link"),
        ("ring", "it cannot be read"),
        ("ring/a", "it cannot be read"),
        ("out/secret.txt", "through a link"),
        ("pipe", "cannot be read"),
        ("missing.py", "missing.py does not exist; list_folder shows the project's folder"),
        ("src/missing.py", "list_folder shows src"),
        ("README.md/x", "does not exist"),
        ("src", "is a folder; list_folder"),
        ("", "is a folder; list_folder"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_what_is_not_the_projects_is_not_read(path: str, said: str, root: Path) -> None:
    answer = ProjectFiles(root).use("read_file", {"path": path})
    assert answer.is_error
    assert said in answer.text
    assert str(root.parent) not in answer.text


@pytest.mark.parametrize("path", ["out", "../", ".engramdown", "README.md", "missing"])
def test_what_is_no_folder_of_the_project_is_not_listed(path: str, root: Path) -> None:
    assert ProjectFiles(root).use("list_folder", {"path": path}).is_error


@pytest.mark.parametrize("arguments", ["{", "[]", 7, {"path": 7}, {"file": "x"}, {}])
def test_wrong_arguments_are_answered(arguments: object, root: Path) -> None:
    answer = ProjectFiles(root).use("read_file", arguments)
    assert answer.is_error
    assert "was called with wrong arguments" in answer.text


def test_what_is_no_text_is_not_shown(root: Path) -> None:
    (root / "a.bin").write_bytes(b"\x00\x01")
    (root / "huge.log").write_bytes(b"x" * 1_000_001)
    files = ProjectFiles(root)
    assert "not a text file" in files.use("read_file", {"path": "a.bin"}).text
    assert "1,000,000 bytes" in files.use("read_file", {"path": "huge.log"}).text


def test_secrets_and_escapes_do_not_reach_the_model(root: Path) -> None:
    token = "ghp_" + "1234567890abcdefghij" + "ABCDEFGHIJ123456"
    (root / "conf.py").write_text(f"T = '{token}' # \x1b[2J\n", encoding="utf-8")
    text = ProjectFiles(root).use("read_file", {"path": "conf.py"}).text
    assert token not in text
    assert "\x1b" not in text


def test_a_long_file_is_read_in_pieces(root: Path) -> None:
    lines = [f"line {number} {'x' * 90}" for number in range(1, 1001)]
    (root / "long.md").write_text("\n".join(lines), encoding="utf-8")
    files = ProjectFiles(root)
    seen: list[str] = []
    while len(seen) < 1000:
        text = files.use("read_file", {"path": "long.md", "first_line": len(seen) + 1}).text
        assert len(text) < 21_000
        seen += [each for each in text.split("\n") if each.startswith("line")]
    assert seen == lines
    assert "1000 lines" in files.use("read_file", {"path": "long.md", "first_line": 1001}).text


def test_a_long_line_is_cut(root: Path) -> None:
    (root / "one.txt").write_text("x" * 30_000, encoding="utf-8")
    assert "the line is longer" in ProjectFiles(root).use("read_file", {"path": "one.txt"}).text


def test_a_full_folder_is_cut(root: Path) -> None:
    for number in range(210):
        (root / "src" / f"f{number:03}\n.py").touch()
    text = ProjectFiles(root).use("list_folder", {"path": "src"}).text
    assert "f000 .py" in text
    assert text.endswith("(11 more)")
