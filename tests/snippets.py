r"""The examples of README.md and docs/*.md, found and run.

Promises: what is found are the fenced blocks marked ``python``, ``console`` or ``sh``, each with
its line; a block that is not to be run says why. The blocks of a page run in order, as a reader
would run them: Python in one namespace, commands in one folder.

In a ``console`` block a line that begins with ``$ `` is a command (``\`` at its end continues it)
and what stands below it is what it must print; a command with nothing below may print anything.
It must succeed, unless a comment gives its exit code: ``$ engramdown recall nothing  # exit 1``.
Ids, dates and times may be any, ``...`` stands for any text and, alone on a line, for any lines.
A page shows a terminal of 80 columns: what had to be wrapped there may be one line.
An ``sh`` block without prompts is a script; what it prints is not compared.

``python -m tests.snippets FOLDER`` writes the Python of each page into FOLDER, for mypy.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = [
    "Command",
    "Snippet",
    "SnippetError",
    "commands",
    "find_snippets",
    "matches",
    "normalise",
    "pages",
    "run",
    "write_python",
]

LANGUAGES: Final = ("python", "console", "sh")

_FENCE: Final = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w-]*)[^`]*$")
_NOT_RUN: Final = re.compile(r"^<!-- not run:(?P<reason>.*)-->$")
_EXIT: Final = re.compile(r"\s# exit (\d+)$")
_TIMEOUT: Final = 120.0
_COLUMNS: Final = 80

# Crockford base32 without i, l, o, u, as ids are written. A word that happens to fit is replaced
# on both sides, which does no harm.
_CHANGING: Final = (
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b"), "<session>"),
    (re.compile(r"~?\b[0-9a-hjkmnp-tv-z]{8}\b|(?<!\w)_[0-9a-hjkmnp-tv-z]{7}\b"), "<id>"),
    (re.compile(r"\bg[0-9a-f]{16}\b"), "<summary>"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), "<date>"),
    (re.compile(r"\b\d{2}:\d{2}(:\d{2}(\.\d+)?)?\b"), "<time>"),
)


class SnippetError(Exception):
    """An example that cannot be read, or does not do what its page says."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One fenced block of a page.

    Attributes:
        page: The name of the page.
        line: The line of the page on which the code starts, from 1.
        language: ``python``, ``console`` or ``sh``.
        code: What stands between the fences, without the fence's indentation.
        not_run: Why it is not run, or ``""``.
    """

    page: str
    line: int
    language: str
    code: str
    not_run: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a console block: the ``line`` it stands on and what it must do."""

    line: int
    text: str
    expected: str = ""
    exit_code: int = 0


def pages(root: Path) -> list[Path]:
    """Return README.md and the pages of docs/ and its folders, in that order."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def find_snippets(text: str, page: str) -> list[Snippet]:
    """Return the blocks of ``text`` that are in one of our languages, in order.

    Raises:
        SnippetError: A fence is not closed, or a block is not run and does not say why.
    """
    lines = text.split("\n")
    found = []
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if not opening:
            number += 1
            continue
        end = _closing(lines, number, opening["fence"], page)
        if opening["language"] in LANGUAGES:
            code = "\n".join(
                line.removeprefix(opening["indent"]) for line in lines[number + 1 : end]
            )
            reason = _reason(lines[:number], page)
            found.append(Snippet(page, number + 2, opening["language"], code, reason))
        number = end + 1
    return found


def commands(snippet: Snippet) -> list[Command]:
    """Return the commands of a console block.

    Raises:
        SnippetError: The block does not begin with a command.
    """
    found: list[Command] = []
    lines = iter(enumerate(snippet.code.split("\n"), snippet.line))
    for number, line in lines:
        if line.startswith("$ "):
            text = _continued(line[2:], lines)
            exit_code = _EXIT.search(text)
            found.append(Command(number, text, exit_code=int(exit_code[1]) if exit_code else 0))
        elif found:
            last = found[-1]
            found[-1] = Command(last.line, last.text, f"{last.expected}{line}\n", last.exit_code)
        elif line.strip():
            message = f"{snippet.page}:{number}: a console block begins with '$ '"
            raise SnippetError(message)
    return found


def normalise(output: str, home: str = "") -> str:
    """Return ``output`` with a placeholder for what differs from run to run.

    ``home`` is the home folder of the run; pages call it ``/home/you``.
    """
    if home:
        output = output.replace(home, "/home/you")
    for pattern, placeholder in _CHANGING:
        output = pattern.sub(placeholder, output)
    return "\n".join(line.rstrip() for line in output.strip("\n").split("\n"))


def matches(expected: str, actual: str, home: str = "") -> bool:
    r"""Return whether ``actual`` is what a page announced as ``expected``.

    >>> matches("kept as k3v9q2ht\n...\nbye ...", "kept as 7m0xw4ce\n1\n2\nbye now")
    True
    """
    parts = [""]
    before = ""
    for raw in expected.strip("\n").split("\n"):
        line = normalise(raw)
        if _is_wrapped(before, raw):
            # Behind the line end that was awaited there.
            parts[-1], line = r"\s+", line.lstrip()
        before = raw
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts += [".*?".join(re.escape(part) for part in line.split("...")), r"\n"]
    return re.fullmatch("".join(parts), normalise(actual, home) + "\n") is not None


def _is_wrapped(before: str, line: str) -> bool:
    """Whether the first word of a line had no room in the one before."""
    word = line.split()[:1]
    return before.strip() != "" and bool(word) and len(before) + 1 + len(word[0]) > _COLUMNS


def run(snippets: Iterable[Snippet], folder: Path, env: Mapping[str, str]) -> None:
    """Run the blocks of one page in order, except those that say why they are not run.

    Python runs in this process and its working folder, commands as a shell's children that begin
    in ``folder`` with the environment ``env``; a ``cd`` holds for the commands that follow. A
    Python block that begins with ``>>>`` is a doctest.

    Raises:
        SnippetError: A command or a doctest did otherwise than the page says. What a Python block
            raises is not caught.
    """
    names: dict[str, object] = {"__name__": "__page__"}
    for snippet in snippets:
        if snippet.not_run:
            continue
        if snippet.language == "python":
            _run_python(snippet, names)
        else:
            folder = _run_shell(snippet, folder, env)


def write_python(root: Path, folder: Path) -> list[Path]:
    """Write the Python of each page that has some into ``folder``, one file a page."""
    written = []
    for page in pages(root):
        found = find_snippets(page.read_text(encoding="utf-8"), page.name)
        code = [item.code for item in found if item.language == "python" and ">>>" not in item.code]
        if code:
            target = folder / f"page_{page.stem.replace('-', '_').lower()}.py"
            target.write_text("\n\n".join(code) + "\n", encoding="utf-8")
            written.append(target)
    return written


def _closing(lines: list[str], start: int, fence: str, page: str) -> int:
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if line.startswith(fence) and not line.strip("`"):
            return number
    message = f"{page}:{start + 1}: this code fence is not closed"
    raise SnippetError(message)


def _reason(before: list[str], page: str) -> str:
    above = [line.strip() for line in before if line.strip()][-1:]
    comment = _NOT_RUN.match(above[0]) if above else None
    if comment and not comment["reason"].strip():
        message = f"{page}:{len(before)}: say why: <!-- not run: reason -->"
        raise SnippetError(message)
    return comment["reason"].strip() if comment else ""


def _continued(text: str, lines: Iterator[tuple[int, str]]) -> str:
    while text.endswith("\\"):
        _, more = next(lines, (0, ""))
        text = f"{text}\n{more.removeprefix('> ')}"
    return text


def _run_python(snippet: Snippet, names: dict[str, object]) -> None:
    if snippet.code.lstrip().startswith(">>>"):
        _run_doctest(snippet, names)
    else:
        # The empty lines make a traceback point into the page.
        source = "\n" * (snippet.line - 1) + snippet.code
        exec(compile(source, snippet.page, "exec"), names)


def _run_doctest(snippet: Snippet, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(
        snippet.code, {}, snippet.page, snippet.page, snippet.line - 1
    )
    test.globs = names
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    if runner.run(test, out=report.append, clear_globs=False).failed:
        raise SnippetError("".join(report))


def _run_shell(snippet: Snippet, folder: Path, env: Mapping[str, str]) -> Path:
    """Run a block in ``folder`` and return the folder in which it ended."""
    if snippet.language == "console" or snippet.code.startswith("$ "):
        steps = commands(snippet)
    else:
        steps = [Command(snippet.line, f"set -e\n{snippet.code}")]
    for step in steps:
        folder = _run_command(snippet.page, step, folder, env)
    return folder


def _run_command(page: str, step: Command, folder: Path, env: Mapping[str, str]) -> Path:
    """Run one command in ``folder`` and return the folder in which it ended."""
    # The last line of the output is the folder; a trap prints it even after `set -e`.
    script = f'trap \'printf "\\n%s" "$PWD"\' EXIT\n{step.text}\n'
    done = subprocess.run(
        ["bash", "-c", script],
        check=False,
        cwd=folder,
        encoding="utf-8",
        env=env,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=_TIMEOUT,
    )
    output, _, last = done.stdout.rpartition("\n")
    where = f"{page}:{step.line}: {step.text}"
    if done.returncode != step.exit_code:
        message = (
            f"{where}\nended with {done.returncode}, not {step.exit_code}, and printed\n{output}"
        )
        raise SnippetError(message)
    if step.expected.strip() and not matches(step.expected, output, env.get("HOME", "")):
        message = (
            f"{where}\nshould print\n{textwrap.indent(step.expected, '  ')}\n"
            f"and printed\n{textwrap.indent(output, '  ')}"
        )
        raise SnippetError(message)
    return Path(last)


if __name__ == "__main__":
    write_python(Path(__file__).resolve().parent.parent, Path(sys.argv[1]))
