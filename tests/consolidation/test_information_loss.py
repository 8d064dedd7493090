"""What keeps two texts from becoming one unseen."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.consolidation.information_loss import (
    changed,
    differs,
    exchanged_words,
    invented,
    is_duplicate,
    is_near_exact,
    left_out,
    likeness_key,
    unsaid,
)
from tests.cortex.entries import any_text
from tests.tables import every


@every(
    "a, b, what",
    [
        pytest.param("Retry 3 times", "Retry 5 times", "a number", id="number"),
        pytest.param("Needs Python 3.11.2", "Needs Python 3.12.0", "a version", id="version"),
        pytest.param("Logs are in var/log/a", "Logs are in var/log/b", "a path", id="path"),
        pytest.param("Ask Alice", "Ask Bob", "a name", id="name"),
        pytest.param("Alice reviews the code", "Bob reviews the code", "a word", id="first-word"),
        pytest.param("The build uses cmake", "The build uses bazel", "a word", id="value"),
        pytest.param("Released 2026-01-02", "Released 2026-01-03", "a number", id="date"),
        pytest.param("deploy each friday", "we deploy on monday night", "a date", id="weekday"),
        pytest.param("deploy each friday", "we deploy each week", "a date", id="no-weekday"),
        pytest.param("Use pip", "Never use pip", "a negation", id="negation"),
        pytest.param("Lint before tests", "Lint after tests", "opposites", id="opposites"),
        pytest.param("a" * 5000, "b" * 5000, "the length", id="length"),
    ],
)
def test_a_difference_in_substance_is_told(a: str, b: str, what: str) -> None:
    assert differs(a, b).startswith(what)
    assert differs(b, a).startswith(what)


@every(
    "a, b",
    [
        pytest.param("Use uv", "use UV!", id="same"),
        pytest.param("x" * 5000, "X" * 5000, id="same-and-long"),
        pytest.param("CI is slow", "CI is slow because of backups", id="addition"),
        pytest.param("Use uv for installs", "Prefer uv for installs", id="light-words"),
        pytest.param("Deploys happen on Fridays", "On Friday deploys happen", id="forms"),
    ],
)
def test_what_may_be_the_same_has_no_difference(a: str, b: str) -> None:
    assert differs(a, b) == ""


def test_words_in_one_place_of_equal_texts_are_swapped() -> None:
    assert exchanged_words("the cache lives in redis", "the cache lives in memcached") == (
        "a word (redis / memcached)"
    )
    assert exchanged_words("builds are slow", "slow are the builds") == ""
    assert exchanged_words("read replica", "write replica") == "a word (read / write)"
    assert exchanged_words("sign mails", "mails are signed") == ""
    assert exchanged_words("give tips in ounces", "tips are given in ounces") == ""
    assert exchanged_words("always sign mails", "every mail must be signed") == ""
    assert (
        exchanged_words("merge tested mails", "test merged mails")
        == "a word (merge tested / test merged)"
    )
    assert exchanged_words("plan the review of tests", "test the review of plans") == (
        "a word (plan tests / test plans)"
    )
    assert exchanged_words("keep the key", "give the key") == ""


def test_texts_without_a_word_in_common_differ_in_all_of_them() -> None:
    assert exchanged_words("Use tabs", "Use spaces") == "a word (tabs / spaces)"
    assert exchanged_words("builds take many hours today", "compilation is slow") == (
        "a word (builds take many … / compilation slow)"
    )


def test_near_exact_is_every_word_and_nothing_else() -> None:
    assert is_near_exact("Use uv", "use UV.")
    assert is_near_exact("Deploys happen on Fridays", "On Fridays deploys happen")
    assert not is_near_exact("CI is slow", "CI is slow on weekends")
    assert not is_near_exact("Use pip", "Never use pip")


def test_near_exact_is_no_other_small_word_or_spelling() -> None:
    assert is_near_exact("Do not use the db", "Don't use the database")
    assert not is_near_exact("Meet in the office", "Meet at the office")
    assert not is_near_exact("The reciept is blue", "The receipt is blue")
    assert not is_near_exact("x" * 5000, "y" * 5000)


def test_a_duplicate_says_the_same_in_other_words() -> None:
    assert is_duplicate("Execute the tests", "execute the tests.")
    assert is_duplicate("Execute the tests in dev", "Run tests in development")
    assert not is_duplicate("Tests run in Rome", "Slow tests run in Rome")
    assert not is_duplicate("Delete it after a day", "Delete it after two days")
    assert not is_duplicate("The user has a cat", "The user had a cat")
    assert not is_duplicate("x " * 600, "x, " * 600)


def test_what_could_be_a_duplicate_has_the_same_key() -> None:
    assert likeness_key("Execute the tests") == likeness_key("run a test")
    assert likeness_key("Retry 3 times") != likeness_key("Retry 5 times")
    assert likeness_key("X" * 5000) == likeness_key("x" * 5000)


def test_what_is_left_out_is_the_first_word_or_a_good_part() -> None:
    assert left_out("Alice reviews every change", "Every change is reviewed") == (
        "leaves out 'alice'"
    )
    assert left_out("flaky tests hide slow network bugs", "network bugs") == (
        "leaves out 'flaky', 'tests', 'hide', …"
    )
    assert (
        left_out("builds are slow today again", "builds are slow") == "leaves out 'today', 'again'"
    )
    assert left_out("the build of docs is slow", "docs build slowly") == ""
    assert left_out("", "x") == ""
    assert left_out("flaky builds are slow", "builds are slow and flaky") == ""


def test_what_is_made_up_is_told() -> None:
    one_word = "builds and tests are slow today, says bob"
    originals = ["builds are slow today, it says", "tests are slow today"]
    assert invented(one_word, originals) == "says what none of them says: 'bob'"
    assert invented("use uv and delete everything", ["use uv"]) == (
        "says what none of them says: 'delete', 'everything'"
    )
    assert invented("builds and tests are slow", ["builds are slow", "tests are slow"]) == ""
    assert invented("launch it in prod", ["launch it in production"]) == ""


@every(
    "text, originals, what",
    [
        pytest.param("Retry 5 times", ["retry 3 times"], "a number is lost (3)", id="number"),
        pytest.param("Retry 5 times", ["retry"], "a number is added (5)", id="new-number"),
        pytest.param("Use it", ["Use it, see src/a.py"], "a path is lost (src/a.py)", id="path"),
        pytest.param("Works on 3.11.1", ["It works"], "a version is added (3.11.1)", id="version"),
        pytest.param("Ask for it", ["Ask Bob for it"], "a name is lost (bob)", id="name"),
        pytest.param("Ask Bob for it", ["ask for it"], "a name is added (bob)", id="new-name"),
        pytest.param("deploy weekly", ["deploy each friday"], "a date is lost (friday)", id="date"),
        pytest.param("Use pip", ["never use pip"], "a negation is lost", id="negation"),
        pytest.param("Do not use pip", ["use pip"], "a negation is added", id="new-negation"),
        pytest.param(
            "lint after tests", ["lint before tests"], "opposites (before / after) is changed",
            id="opposite",
        ),
        pytest.param("x" * 5000, ["x"], "the length: too much to compare", id="length"),
        pytest.param("x", ["x" * 5000], "the length: too much to compare", id="originals"),
    ],
)  # fmt: skip
def test_a_merge_that_changes_the_substance_is_told(
    text: str, originals: list[str], what: str
) -> None:
    assert changed(text, originals) == what


@pytest.mark.parametrize(
    "text, originals",
    [
        pytest.param("CI is slow on Mondays", ["Mondays CI is slow"], id="a"),
        pytest.param("Retry 3 or 5 times", ["Retry 3 times", "Retry 5 times"], id="both-values"),
        pytest.param("The database is Postgres", ["Postgres is the database"], id="first-name"),
        pytest.param("Postgres is the database", ["The database is Postgres"], id="name-first"),
    ],
)  # fmt: skip
def test_a_merge_that_keeps_the_substance_passes(text: str, originals: list[str]) -> None:
    assert changed(text, originals) == ""


@given(any_text, any_text)
def test_any_texts_are_compared_alike_from_both_sides(a: str, b: str) -> None:
    assert bool(differs(a, b)) == bool(differs(b, a))
    assert is_near_exact(a, b) == is_near_exact(b, a)
    assert not is_near_exact(a, b) or not differs(a, b)
    assert is_duplicate(a, b) == is_duplicate(b, a)
    left_out(a, b)
    invented(a, [b])
    changed(a, [b])


@every(
    "fact, said, missing",
    [
        ("Editor: Helix", "I use vim", "'helix'"),
        ("Editor: Helix", "My editor is helix now", ""),
        ("Name: Ada Lovelace", "I'm Ada", "'lovelace'"),
        ("Time zone: UTC+2", "my time zone is UTC+3", "'utc+2'"),
        ("Python: 3.12", "we use Python 3.11", "'3.12'"),
        ("The user prefers dark roast coffee", "I love dark roast coffee", ""),
        ("The user prefers dark roast coffee", "I love green tea", "'dark', 'roast', 'coffee'"),
        ("Deploys are on Mondays", "We deploy on Mondays.", ""),
        ("Home: Berlin", "Ich wohne in Berlin.", ""),
        ("Editor: vim", f"{'long ' * 2000} vim", ""),
        ("Editor: vim", "", "'vim'"),
        ("Indentation: tabs", "I never use tabs.", "a negation"),
        ("Editor: vim", "I don't use vim any more.", "a negation"),
        ("Editor: vim", "I used to like vim", "a negation"),
        ("Diet: vegetarian", "I am not a vegetarian.", "a negation"),
        ("City: Berlin", "Ich wohne nicht in Berlin.", "a negation"),
        ("City: Berlin", "Я не живу в Berlin", "a negation"),
        ("Editor: emacs", "I stopped using emacs, now it is vim.", "a negation"),
        ("Editor: vim", "I stopped using emacs, now it is vim.", ""),
        ("Editor: vim", "I don't like tabs. I use vim 9.1.", ""),
        ("City: Berlin", "Nein, ich wohne in Berlin!", ""),
        ("City: Berlin", "I do not live in Bern but in Berlin", ""),
        ("Diet: no meat", "I eat no meat", ""),
        ("Diet: no meat", "I eat meat every day", "a negation"),
        ("Dislikes: coriander", "I don't like coriander", ""),
        ("Cats: 3", "I have 3 children and 2 cats", "a number"),
        ("Cats: 2", "I have 3 children and 2 cats", ""),
        ("Drink: \u2615", "I like tea", "'\u2615'"),
        ("Drink: \u2615", "I like \u2615", ""),
    ],
)
def test_what_a_fact_says_that_nobody_said(fact: str, said: str, missing: str) -> None:
    assert unsaid(fact, ["Hello", said]) == missing
    assert unsaid(fact, [fact]) == ""


NOT_THEIRS = """
Editor: Helix | Is your editor Helix? | Does anyone here use Helix? | Should I switch to Helix?
Editor: Helix | What about Helix? | My friend uses Helix. | She says Helix is her editor.
Editor: Helix | If I used Helix, would it be faster? | Suppose my editor were Helix.
Editor: Helix | Bob uses Helix.
Editor: Helix | You use Helix | > I use Helix | Mein Kollege nutzt Helix. | Mi amigo usa Helix
Name: Eve | My colleague Eve | My colleague Eve wrote it. | I asked my colleague Eve about it.
Name: Eve | Please ask Eve about the build. | Eve is my manager. | My wife's name is Eve.
Name: Eve | Your name is Eve. | Is my name Eve? | Her name is Eve | Meine Frau Eve wohnt in Rom.
City: Paris | Is Paris far? | My sister lives in Paris. | Tell me whether Paris is expensive
City: Paris | Yesterday my boss moved to Paris | Eve lives in Paris
City: Paris | Lima is nice; is Paris far from it\uff1f
"""
THEIRS = """
Editor: Helix | I use Helix, ok? | My editor is Helix, what is yours? | Helix is my editor.
Editor: Helix | My colleague Eve and I use Helix. | She knows that I use Helix. | Helix please
Editor: Helix | My boss uses vim, I use Helix. | If you need to know, my editor is Helix.
Editor: Helix | Ich nutze Helix. | Yes, Helix. | hey, I use Helix and can you set it up?
Name: Eve | I'm Eve | Eve | Eve here. | Hi, I'm Eve, can you help? | Call me Eve, please.
Name: Eve | My name is Eve and my wife is Bea. | This is Eve from Acme | 私の名前は Eve です
City: Paris | I live in Paris with my wife. | We moved to Paris | My wife and I live in Paris.
Wife: Eve | My wife is Eve. | I asked my wife Eve. | My wife's name is Eve
Window manager: i3 | My window manager is i3
WM: i3 | my window manager is i3
Colleague: Eve | My colleague Eve uses vim
"""


@pytest.mark.parametrize("table, is_said", [(NOT_THEIRS, False), (THEIRS, True)])
def test_only_what_the_user_states_of_themselves_bears_out_a_fact(
    table: str, *, is_said: bool
) -> None:
    wrong = [
        (fact, message)
        for row in table.strip().split("\n")
        for fact, *messages in [row.split(" | ")]
        for message in messages
        if (unsaid(fact, [message]) == "") is not is_said
    ]
    assert wrong == []


@pytest.mark.slow
def test_a_long_message_is_read_in_a_time_that_grows_with_it() -> None:
    for piece in ("my ", "a ", "is ", "...", "my wife ", ", ", "Eve Eve ", "? ", "and i ", "'s "):
        assert unsaid("Editor: Helix", [piece * 20_000]) == "'helix'"
