"""Orders that are given outright."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FORMS
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("always use uv", "always|high|Always|use uv"),
        ("you must always use uv", "always|high|Always|use uv"),
        ("we always squash", "always|high|Always|squash"),
        ("always: en-gb", "always|high|Always|en-gb"),
        ("alwyas use uv", "always|high|Always|use uv"),
        ("always, without exception, ask first", "always|high|Always|ask first"),
        ("never again use var", "never|high|Never|use var"),
        ("you're never to touch infra", "never|high|Never|touch infra"),
        ("you must not edit vendored files", "never|medium|Never|edit vendored files"),
        ("you are not allowed to change the api", "never|medium|Never|change the api"),
        ("refrain from using slang", "never|medium||refrain from using slang"),
        ("no jquery in this project", "never|high||no jquery in this project"),
        ("variable names must be english", "always|medium||variable names must be english"),
        ("commits must not be signed", "never|medium||commits must not be signed"),
        ("you will never use eval", "never|high|Never|use eval"),
        ("never push to main", "never|high|Never|push to main"),
        ("don't ever use eval", "never|high|Never|use eval"),
        ("you are never allowed to use eval", "never|high|Never|use eval"),
        ("i never want to see any", "never|high||i never want to see any"),
        ("i always want a plan", "always|high||i always want a plan"),
        ("i don't want tables ever again", "never|high||i don't want tables ever again"),
        ("don't use print again", "never|high|Never|use print again"),
        ("don't use emojis in your replies", "never|medium||don't use emojis in your replies"),
        ("stop adding comments", "never|medium||stop adding comments"),
        ("no more em dashes", "never|high||no more em dashes"),
        ("no spoilers, ever", "never|high||no spoilers, ever"),
        ("under no circumstances reformat the file", "never|high|Never|reformat the file"),
        ("all times must be in utc", "always|medium||all times must be in utc"),
        ("secrets must never be logged", "never|medium||secrets must never be logged"),
        ("every test must not sleep", "never|medium||every test must not sleep"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FORMS["order"], words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "always",
        "always the same story",
        "always crashes on startup",
        "always skip it for now",
        "never mind",
        "always be able to undo",
        "you'll never guess it",
        "you will always be my favourite",
        "we will never forget it",
        "you can never be too careful",
        "never judge a book by its cover",
        "no more coffee left",
        "all requests must have timed out",
        "you may not know it",
        "you must not use it today",
        "you must not vim",
        "no tests in the app",
        "commits must have been lost",
        "replies should be here",
        "never finishes",
        "never use it today",
        "you are never late",
        "i never want to know",
        "i always want it now",
        "i don't want tables",
        "don't use print",
        "don't use it in your reply today",
        "don't run it again, i'm still typing",
        "don't worry again",
        "don't touch it again today",
        "stop the server",
        "stop editing the file",
        "stop writing for now",
        "no more questions",
        "no, the other one",
        "under no circumstances",
        "every row must have a checkbox",
        "all tests must pass today",
        "the api must never fail",
        "the test always fails",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FORMS["order"], words) == ""
