"""What is wrong with a skill is found by the rules of the standard, with line and advice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import InvalidSkillError
from engramdown.markdown.front_matter import parse_front_matter
from engramdown.skills.validation import (
    LONGEST_LABEL,
    check,
    check_description,
    check_label,
    label_of,
    meant,
)
from tests.tables import every

TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
GOOD = "---\nname: charts\ndescription: Make charts\n---\nWith care.\n"


def found(text: str) -> list[tuple[int, str, str]]:
    return [
        (each.line, each.code, each.message) for each in check(parse_front_matter(text), "charts")
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="least"),
        pytest.param(
            "\ufeff---\r\nname: charts\r\ndescription: |\r\n  Make\r\nlicense: MIT\r\n"
            "compatibility: Python\r\nmetadata:\r\n  a: b\r\nallowed-tools: Bash(git:*) Read\r\n"
            "x-ours: [1, {a: *b}]\r\n---\r\nBody\r\n",
            id="all-keys-and-one-that-nobody-knows",
        ),
    ],
)
def test_what_is_allowed_is_fine(text: str) -> None:
    assert found(text) == []


@every(
    "text, line, code, message",
    [
        pytest.param("Body\n", 1, "front-matter", "there is no front matter", id="none"),
        pytest.param("---\nname: charts\n", 1, "not-closed", "is not closed", id="not-closed"),
        pytest.param(GOOD.replace("desc", "d\ndesc"), 3, "no-key", "is not a key", id="no-key"),
        pytest.param(
            GOOD.replace("desc", "name: charts\ndesc"),
            3,
            "twice",
            "'name' occurs again",
            id="twice",
        ),
        pytest.param(GOOD.replace("name", "title"), 1, "name", "there is no name", id="no-name"),
        pytest.param(GOOD.replace(" charts", " Charts", 1), 2, "name", "'Charts' is not a", id="A"),
        pytest.param(GOOD.replace("charts", "a" * 65, 1), 2, "name", "65 characters", id="long"),
        pytest.param(GOOD.replace("charts", "nul", 1), 2, "name", "a device", id="device"),
        pytest.param(GOOD.replace("charts", "[a]", 1), 2, "value", "name is a list", id="list"),
        pytest.param(
            GOOD.replace("charts", "maps", 1), 2, "other-name", "'maps' in a folder", id="other"
        ),
        pytest.param(GOOD.replace("desc", "x"), 1, "description", "there is no desc", id="no-desc"),
        pytest.param(GOOD.replace("Make charts", ""), 3, "description", "0 char", id="empty-desc"),
        pytest.param(
            GOOD.replace("Make", "x" * 1024), 3, "description", "1031 characters", id="long-desc"
        ),
        pytest.param(GOOD.replace("Make", "Use: it"), 3, "value", "a colon and", id="colon"),
        pytest.param(
            GOOD.replace("\n---\n", "\nlicense: [a]\n---\n"), 4, "value", "license is", id="license"
        ),
        pytest.param(
            GOOD.replace("\n---\n", f"\ncompatibility: {'x' * 501}\n---\n"),
            4,
            "value",
            "compatibility has 501 characters of 500",
            id="compatibility",
        ),
        pytest.param(
            GOOD.replace("\n---\n", "\nx-ours: 'a\n---\n"), 4, "value", "x-ours begins", id="ours"
        ),
        pytest.param(
            GOOD.replace("\n---\n", "\nmetadata:\n\ta: b\n---\n"), 4, "value", "a tab", id="tab"
        ),
        pytest.param(
            GOOD.replace("\n---\n", "\nallowed-tools: [Read]\n---\n"),
            4,
            "form",
            "allowed-tools is not a text of names",
            id="tools",
        ),
        pytest.param(
            GOOD.replace("\n---\n", "\nmetadata: mine\n---\n"),
            4,
            "form",
            "not a mapping",
            id="notes",
        ),
        pytest.param(GOOD + TOKEN, 6, "secret", "there is a GitHub token", id="secret"),
        pytest.param(
            GOOD + "a\u202eb\u200bc\n",
            6,
            "hidden",
            "right-to-left override U+202E and 1 more",
            id="hidden",
        ),
        pytest.param(GOOD + "\udcff", 6, "no-utf-8", "some bytes are not UTF-8", id="no-utf-8"),
        pytest.param(GOOD.replace("With care.", ""), 5, "empty", "nothing below", id="empty"),
    ],
)
def test_what_is_wrong_is_named(text: str, line: int, code: str, message: str) -> None:
    (one,) = check(parse_front_matter(text), "charts")
    at, what, said = one.line, one.code, one.message
    warned_of = {"secret", "hidden", "no-utf-8", "empty", "form"}
    assert one.level == ("warning" if code in warned_of else "error")
    assert (at, what) == (line, code)
    assert message in said


@pytest.mark.slow
def test_a_front_matter_that_is_too_long_is_one_finding() -> None:
    for head in ("a: b\n", "???\n", "#\n"):
        text = GOOD.replace("\n---\n", "\n" + head * 400_000 + "---\n")
        ((line, code, message),) = found(text)
        assert (line, code) == (1, "too-long")
        assert message == f"the front matter has {len(text) - 19} characters, and 16384 are read"


def test_no_finding_repeats_a_secret() -> None:
    for text in (GOOD.replace("charts", TOKEN, 1), GOOD.replace("desc", f"{TOKEN}: a\ndesc") * 2):
        assert TOKEN[:12] not in str(found(text))


@every(
    "label",
    [
        *("", "Charts", "a_b", "a--b", "-a", "a-", "a b", "a/b", "..", "../x", "a\\b", "a.md", "é"),
        *("a\n", "a" * 65, "con", "nul", "com1", "\u202ea", "a\0", "~", "C:x"),
    ],
)
def test_what_is_no_label_is_refused(label: str) -> None:
    with pytest.raises(InvalidSkillError, match=r"^label: "):
        check_label(label)


@every("label", ["a", "make-charts", "2024", "a1-2b", "a" * 64])
def test_a_label_is_one(label: str) -> None:
    assert check_label(label) == label


@pytest.mark.parametrize("text", ["", " \n", "x" * 1025, "\ud800"])
def test_what_is_no_description_is_refused(text: str) -> None:
    with pytest.raises(InvalidSkillError, match=r"^description: "):
        check_description(text)


def test_a_description_is_one() -> None:
    assert check_description(f" {'x' * 1024}\n") == "x" * 1024


def test_of_one_kind_a_few_are_told_and_how_many_there_are() -> None:
    lines = found(GOOD.replace("desc", "no key\n" * 12 + "desc"))
    assert [line for line, _, _ in lines] == [*range(3, 13)]
    assert lines[-1][2] == "the line is not a key and belongs to none; 2 more like it"


@given(st.text(), st.sampled_from(["charts", "Not A Label"]))
def test_a_brief_look_finds_every_error(text: str, label: str) -> None:
    for said in (text, f"---\nname: charts\ndescription: {text}\n---\n{text}"):
        page = parse_front_matter(said)
        whole = [each for each in check(page, label) if each.level == "error"]
        assert [each for each in check(page, label, briefly=True) if each.level == "error"] == whole


# ---- what is nearly a label finds its skill, and never two ----


LABELS = ["charts", "release-notes", "read-shop-logs", "read-shop-mails"]


@every(
    "asked, found",
    [
        ("release-notes", "release-notes"),
        ("Release Notes", "release-notes"),
        (" release_notes\n", "release-notes"),
        ("ReleaseNotes", "release-notes"),
        ("RELEASE.NOTES!", "release-notes"),
        ("relase-nots", "release-notes"),
        ("notes", "release-notes"),
        ("shop logs", "read-shop-logs"),
        ("logs of shop", ""),
        ("read shop", ""),
        ("maps", ""),
        ("x", ""),
        ("", ""),
        ("../../etc/passwd", ""),
        ("記憶", ""),
        ("chart", "charts"),
    ],
)
def test_what_is_nearly_a_label_is_meant(asked: str, found: str) -> None:
    assert meant(asked, LABELS) == found


def test_two_that_are_as_near_are_none() -> None:
    assert meant("read-shop-maps", ["read-shop-mapa", "read-shop-mapb"]) == ""
    assert meant("a-b", ["ab", "a--b"]) == ""
    assert meant("anything", []) == ""


@given(st.text(), st.sets(st.text(min_size=1)))
def test_only_a_label_that_is_there_is_meant(asked: str, labels: set[str]) -> None:
    assert meant(asked, labels) in labels | {""}
    for label in labels:
        assert meant(label, labels) == label


@given(st.text())
def test_what_is_made_of_a_text_can_be_a_label(text: str) -> None:
    label = label_of(text)
    assert len(label) <= LONGEST_LABEL
    assert label_of(label) == label
    if label and label_of(f"{label}-x") == f"{label}-x":
        assert check_label(f"{label}-x")
