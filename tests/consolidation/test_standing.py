"""Orders that stand from now on, here, or instead of what was done."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FORMS
from engramdown.consolidation.statement_reader import first_said
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("from now on use uv", "always|high||use uv"),
        ("from now on, please use uv", "always|high||use uv"),
        ("from now on, no more emojis", "never|high||no more emojis"),
        ("in future, when a test fails, show it", "when|high||when a test fails, show it"),
        ("going forward i want dates as iso", "always|high||i want dates as iso"),
        (
            "as of now, new modules are written in kotlin",
            "always|high||new modules are written in kotlin",
        ),
        ("as a rule, write the tests first", "always|medium||write the tests first"),
        ("in all my projects never use eval", "never|high||never use eval"),
        ("use uv from now on", "always|high||use uv from now on"),
        ("sign every mail with jo", "always|medium||sign every mail with jo"),
        ("run the linter before every commit", "always|medium||run the linter before every commit"),
        ("use tabs in this project", "always|medium||use tabs in this project"),
        ("prefer small functions", "always|medium||prefer small functions"),
        ("instead of npm use pnpm", "always|low||instead of npm use pnpm"),
        ("please avoid jargon", "never|medium||avoid jargon"),
        ("keep answers short and dry", "always|medium||keep answers short and dry"),
        ("in future chats write tests", "always|high||write tests"),
        ("avoid mocks in this repo", "never|medium||avoid mocks in this repo"),
        ("wrap lines at 80, always", "always|high||wrap lines at 80, always"),
        ("the rule here is that lines stay short", "always|high||lines stay short"),
        ("rule: no star imports", "never|high||no star imports"),
        ("our policy is never use eval", "never|high||never use eval"),
        ("rule: when in doubt, ask", "when|high||when in doubt, ask"),
        ("it's our policy to squash", "always|high||squash"),
        ("we use pnpm here", "always|medium||we use pnpm here"),
        ("we don't use yarn here", "never|medium||we don't use yarn here"),
        ("this project uses postgres", "always|medium||this project uses postgres"),
        ("i told you to use uv", "always|medium||use uv"),
        ("i told you not to use pip", "never|medium|Never|use pip"),
        ("use uv instead of pip", "always|low||use uv instead of pip"),
        ("use uv, not pip", "always|low||use uv, not pip"),
        ("we use uv, not pip", "always|low||we use uv, not pip"),
        ("not pip, use uv", "always|low||not pip, use uv"),
        ("uv instead of pip", "always|low||uv instead of pip"),
        ("don't use print in this project", "never|medium||don't use print in this project"),
        ("stick to pytest", "always|medium||stick to pytest"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FORMS["standing"], words) == expected


def test_behind_a_no_something_at_hand_may_be_meant_instead() -> None:
    words = "no, use the staging key instead"
    said_so = first_said(FORMS["standing"], words, 4)
    assert said_so is not None
    assert said_so.confidence == "low"
    assert first_said(FORMS["standing"], "no, use the other one instead", 4) is None


@pytest.mark.parametrize(
    "words",
    [
        "from now on",
        "from now on i am in berlin",
        "from now on, use it for now",
        "in general i agree",
        "use uv",
        "help me write tests in the future",
        "give me some tips in the future",
        "use this from now on",
        "run all tests",
        "it is late, always",
        "the build is red, every time",
        "wrap it today, always",
        "the rule here is never triggered",
        "the rule is simple",
        "rule: use uv for now",
        "the rule is too long",
        "our rule is broken",
        "we use a lot of memory",
        "we like pnpm here",
        "we use pnpm here for now",
        "this project uses too much memory",
        "i told you the truth",
        "i said to wait",
        "i told you to use uv today",
        "use the other one instead",
        "use uv instead today",
        "use a dict instead of a list",
        "use the staging key instead",
        "he used uv instead of pip",
        "i ended up with uv instead of pip",
        "use what i gave you instead",
        "use uv instead of pip in line 12",
        "we use it here",
        "we use a loop here",
        "from now on, things get worse",
        "by default, git uses vim",
        "the rule says no pets",
        "we use redis here and it crashed",
        "this service uses 4 gb",
        "in this chat only, use uv",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FORMS["standing"], words) == ""
