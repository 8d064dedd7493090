"""Nothing that is stored or sent is hidden from the eye, on any screen."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mcp_types import ElicitRequestFormParams

from engramdown import Cortex, Engram
from engramdown.mcp.elicitation import question
from tests.attacks.test_terminal import OUR_COLOURS, RAW
from tests.cli.conftest import Runner
from tests.cli.test_chat_screen import DRAWING, on_terminal, show
from tests.cortex.person import Person

# Each says "curl" and "evil" where a drawing of markdown, a page or a terminal does not show it.
HIDING: Final = {
    "comment": "Keep tests green <!-- curl evil --> today",
    "long comment": "Keep tests green <!--\ncurl\nevil\n-->",
    "open comment": "Keep tests green <!-- curl evil",
    "processing instruction": "Keep <?curl evil?> green",
    "declaration": "Keep <!CURL evil> green",
    "character data": "Keep <![CDATA[curl evil]]> green",
    "tag": 'Keep <span data-curl="evil" hidden>tests</span> green',
    "block of HTML": '<div style="display:none">\ncurl evil\n</div>',
    "link": "Keep [tests](https://curl.example/evil) green",
    "link without words": "Keep [](https://curl.example/evil) green",
    "title": 'Keep [tests](https://example.org "curl evil") green',
    "title in brackets": "Keep [tests](<https://example.org> (curl evil)) green",
    "image": "Keep ![tests](https://curl.example/evil.png) green",
    "title of an image": 'Keep ![tests](https://example.org/i.png "curl evil") green',
    "linked image": "Keep [![tests](https://curl.example/i)](https://evil.example) green",
    "definition": "Keep tests green\n\n[curl]: https://example.org/evil",
    "title of a definition": "Keep [tests][x] green\n\n[x]: https://example.org 'curl evil'",
    "comment of a definition": "Keep green\n\n[//]: # (curl evil)",
    "word of a fence": "```python curl evil\nx = 1\n```",
    "fence of tildes": "~~~ curl evil\nx = 1\n~~~",
    "cell too much": "| a | b |\n| - | - |\n| 1 | 2 | curl evil |",
    "many columns": "| long-long-long " * 9 + "| curl evil |\n|" + "-|" * 10,
    "deep quotation": "> " * 30 + "curl evil",
    "deep list": "".join("  " * at + "- x\n" for at in range(30)) + "  " * 30 + "- curl evil",
    "spaces": "Keep tests green" + " " * 3_000 + "curl evil",
    "wide spaces": "Keep tests green" + "\u3000\u2003\xa0" * 900 + "curl evil",
    "empty lines": "Keep tests green" + "\n" * 3_000 + "curl evil",
    "carriage return": "curl evil\rKeep tests green",
    "backspace": "curl evil" + "\x08" * 9 + "Keep green",
    "escape": "Keep green \x1b[8mcurl evil\x1b[0m",
    "escaped": r"Keep \<!-- curl evil --\> green",
}  # fmt: skip
WORDS: Final = re.compile("curl.*evil", re.IGNORECASE | re.DOTALL)
# Each with what is to be seen of it.
UNSEEN: Final = {
    "zero width": ("pay\u200bment", "pay\u2039U+200B\u203ament"),
    "override": ("a\u202etxt.exe", "a\u2039U+202E\u203atxt.exe"),
    "tags": ("go\U000e0072\U000e006d", "go\u2039U+E0072\u203a\u2039U+E006D\u203a"),
    "a flag that is none": (
        "\U0001f3f4\U000e0072\U000e006d\U000e0072\U000e007f",
        "\U0001f3f4\u2039U+E0072\u203a",
    ),
    "musical null": ("a\U0001d159b", "a\u2039U+1D159\u203ab"),
    "hieroglyph joiner": ("a\U00013430b", "a\u2039U+13430\u203ab"),
    "entity": ("a&#x200b;b &#60;!-- c", "a&#x200b;b &#60;!-- c"),
    "named entity": ("a&zwj;b&NewLine;&shy;c", "a&zwj;b&NewLine;&shy;c"),
}
SCREENS: Final = (
    ["list"],
    ["show", "ID"],
    ["recall", "tests", "green", "curl"],
    ["why", "ID"],
    ["history"],
    ["edit", "ID", "other words", "--dry-run"],
    ["forget", "ID", "--dry-run"],
    ["undo", "--dry-run"],
)


def seen(text: str) -> str:
    """Return what was drawn as one text, without colours and frames."""
    plain = DRAWING.sub("", OUR_COLOURS.sub("", text))
    assert RAW.search(plain) is None, plain
    return re.sub(r"[│┃▌]", " ", plain)


@pytest.mark.parametrize("by_letters", [False, True])
@pytest.mark.parametrize("text", [*HIDING.values()], ids=[*HIDING])
def test_an_answer_hides_nothing(
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    by_letters: bool,
) -> None:
    show(on_terminal(monkeypatch), *(text if by_letters else [text]))
    shown = seen(capsys.readouterr().out)
    assert WORDS.search("".join(shown.split())), shown
    assert len(shown) < 1_100  # and is not pushed out of sight


@pytest.mark.parametrize("text, shown", [*UNSEEN.values()], ids=[*UNSEEN])
def test_what_has_no_shape_is_spelt_in_an_answer(
    text: str,
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    show(on_terminal(monkeypatch), f"Well, {text} it is.")
    assert shown in seen(capsys.readouterr().out)


PIECES: Final = [
    *HIDING.values(), "\n\n", "\n", "- ", "> ", "1. ", "# ", "**", "`", "```\n", "~~",
    "| a |\n|-|\n", "[", "](", ")", "<", ">", "&amp;", "\\", "words of an answer ",
    "    ", "![", "\t", "<a@b.c>",
]  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.integers(12, 90))
@example("1. one\n1. two\n3. three\n\n7) x", 40)
@example("> " * 19 + "word", 20)
def test_no_letter_of_an_answer_is_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    capsys.readouterr()
    show(on_terminal(monkeypatch), text)
    shown = Counter(filter(str.isalpha, seen(capsys.readouterr().out)))
    assert Counter(filter(str.isalpha, text)) <= shown


@pytest.mark.slow
@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize(
    "text", [text for text in HIDING.values() if "\n" not in text[:9]], ids=str
)
def test_no_screen_hides_what_is_stored(
    text: str,
    project: Path,
    home: Person,
    run: Runner,
    monkeypatch: pytest.MonkeyPatch,
    *,
    colour: bool,
) -> None:
    assert home.memory.is_dir()
    monkeypatch.setenv("FORCE_COLOR" if colour else "NO_COLOR", "1")
    entry = Cortex.open(project=project).scopes.project_hc.encode_lesson(text)
    for words in SCREENS:
        done = run.ok(*(entry.id if word == "ID" else word for word in words))
        if colour or "history" not in words:
            assert RAW.search(OUR_COLOURS.sub("", done.out)) is None, words
        assert WORDS.search(" ".join(done.out.split())), (words, done.out)


@pytest.mark.parametrize("text", [*HIDING.values()], ids=[*HIDING])
def test_no_question_hides_what_is_asked_about(text: str, project: Path, run: Runner) -> None:
    cortex = Cortex.open(project=project, mode="copilot")
    cortex.propose([Engram(text, kind="lesson", scope="project", confidence="low")])
    assert WORDS.search(" ".join(run.ok("review").out.split()))
    (proposal,) = cortex.pending()
    asked = question(proposal).params
    assert isinstance(asked, ElicitRequestFormParams)
    default = asked.requested_schema["properties"]["text"]["default"]
    for shown in (asked.message, page(asked.message), default):
        assert RAW.search(shown) is None
        assert WORDS.search(shown), shown
    assert len(max(re.findall(r"\s+", asked.message + default), key=len)) < 100


def page(message: str) -> str:
    """Return what is to be seen of a message in a client that draws markdown as a page."""
    reader = _Reader()
    reader.feed(MarkdownIt().render(message))
    return "".join(reader.seen)


class _Reader(HTMLParser):
    """Keeps the text of a page that a person sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


@pytest.mark.parametrize("text", [*HIDING.values()], ids=[*HIDING])
def test_a_call_that_changes_memory_is_shown_whole(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    on_terminal(monkeypatch).calls("memorize", {"text": text, "kind": "always"})
    shown = " ".join(seen(capsys.readouterr().out).split())
    assert WORDS.search("".join(shown.split()))
    assert "kind: always" in shown


# A person's or a stranger's editor wrote these; the text of the memory is without the comment.
INSIDE: Final = (
    "Alpha <!-- curl evil --> beta",
    "<!-- curl evil --> gamma",
    "Delta two\n  lines <!-- curl\n  evil --> end",
    "Epsilon <!-- curl <!-- evil --> end --> last",
    "Eta end <!-- curl evil -->",
    "Kappa <!-- curl evil --> <!-- id:k3v9q2hz ts:2026-02-27 -->",
    "Lambda <!-- id:k3v9q2hy ts:2026-02-27 --> more <!-- curl evil -->",
    "Mu <!-- curl evil" + " " * 900 + "--> nu",
    "Xi <!-- curl \x1b[8mevil\u202e --> pi",
)
_WITH_ID: Final = ("show", "why", "show --json", "forget --dry-run")


@pytest.mark.slow
def test_no_screen_hides_a_comment_inside_a_line(there: Person, run: Runner) -> None:
    """It is no part of the memory and sent to nobody, but a person is to see that it stands."""
    tick = "<!-- id:p81dz5ka kind:always scope:project source:consolidation ts:2026-02-27 -->"
    for text in INSIDE:
        there.saves("lessons.md", f"- {text}\n")
        (entry,) = run.ok("list", "--json").json
        assert WORDS.search(entry["comments"])
        done = [run.ok(*words.split()) for words in ("list", "recall " + entry["text"].split()[0])]
        done += [run.ok(*words.split(), entry["id"]) for words in _WITH_ID]
        assert "evil" not in run.ok("context").out
        if "id:" not in text:
            there.saves("pending.md", f"- [ ] {text} {tick}\n")
            done += [run.ok("review"), run.ok("show", "p81dz5ka"), run.ok("why", "p81dz5ka")]
        for shown in done:
            assert RAW.search(OUR_COLOURS.sub("", shown.out)) is None
            assert WORDS.search(" ".join(shown.out.split())), shown.out
        there.saves("pending.md", "")


@pytest.mark.usefixtures("there")
def test_no_page_skill_or_note_hides_anything(run: Runner) -> None:
    """What was written by hand, or pulled, is shown letter by letter."""
    page = Path(run.ok("journal", "write", "Hello", "--json").json["path"])
    begun = page.read_text(encoding="utf-8")
    skill = Path(run.ok("skills", "new", "probe", "--description", "x", "--json").json["path"])
    session = run.ok("log", "start", "--json").json["session"]
    notes = Path(run("log", "notes", session, "--json").json["path"])
    notes.parent.mkdir(exist_ok=True)
    most = ("comment", "long comment", "open comment", "carriage return", "spaces")
    for text in [INSIDE[-1], *(HIDING[name] for name in most)]:
        page.write_text(f"{begun}\n{text}\n", encoding="utf-8", newline="")
        head = "---\nname: probe\ndescription: Do it\n---\n\n"
        skill.write_text(f"{head}{text}\n", encoding="utf-8", newline="")
        notes.write_text(f"{text}\n", encoding="utf-8", newline="")
        for words in ("journal show", "journal list", "skills show probe", "log notes"):
            shown = run.ok(*words.split()).out
            assert RAW.search(OUR_COLOURS.sub("", shown)) is None, (words, text)
            if words != "journal list":
                assert WORDS.search(shown), (words, text, shown)
