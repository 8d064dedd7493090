"""What a user has told by the end of messages: corrected, taken back, said anew."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.corrections import (
    TakenBack,
    about,
    extract,
    is_near,
    read_messages,
    supersedes,
)
from engramdown.engram import Engram
from tests.corpora.dialogs import Dialog, changes, dialogs, known, labelled
from tests.tables import every

LEAST = {"preference": 0.8, "mixed": 0.7, "change": 0.75, "correction": 0.8}


def _engram(text: str, kind: str = "always") -> Engram:
    return Engram(text, kind, "global" if kind == "profile" else "project")  # type: ignore[arg-type]


def _told(*messages: str) -> list[str]:
    told = read_messages((text, "") for text in messages)
    return [f"{each.kind}: {each.text}" for each in told.engrams]


class TestLabelledDialogs:
    """Dialogs that were written by hand."""

    def test_most_dialogs_of_each_class_end_right(self) -> None:
        groups: dict[str, list[Dialog]] = defaultdict(list)
        for dialog in dialogs():
            groups[dialog.group].append(dialog)
        poor = {}
        for name, each in groups.items():
            memories = [(it, known(it.sessions)) for it in each]
            right = sum(not it.missed(memory) and not it.wrong(memory) for it, memory in memories)
            if right / len(each) < LEAST.get(name, 0.85):
                poor[name] = right / len(each)
        assert poor == {}

    def test_of_sentences_nearly_all_are_known_for_what_they_are(self) -> None:
        rows = labelled()
        hit = [kinds for kinds, text in rows if any(it.kind in kinds for it in extract(text))]
        stated = [kinds for kinds, _ in rows if kinds]
        assert len(hit) / len(stated) >= 0.85

    def test_of_what_states_nothing_hardly_any_is_learned(self) -> None:
        lures = [text for kinds, text in labelled() if not kinds]
        taken = [text for text in lures if any(not it.unsure for it in extract(text))]
        assert len(taken) / len(lures) <= 0.03

    def test_most_changes_of_mind_are_seen(self) -> None:
        rows = changes()
        poor = 0
        for sessions, gone, new in rows:
            texts = [f"{each.text.casefold()}." for each in known(sessions)]
            missed = bool(new) and not any(new in text for text in texts)
            stale = any(gone in text and new not in text for text in texts if new or gone in text)
            poor += missed or stale
        assert poor / len(rows) <= 0.16


@every(
    "messages, expected",
    [
        (["Always use npm.", "Sorry, I meant pnpm, not npm."], ["always: Always use pnpm"]),
        (
            ["The API is on port 7000.", "scratch that, it's 7100"],
            ["lesson: The API is on port 7100"],
        ),
        (["La réunion est le mardi.", "pardon, le jeudi."], ["lesson: La réunion est le jeudi"]),
        (["Answer me in French.", "English from now on."], ["always: English"]),
        (
            ["The standup is at 9:30.", "Standup was moved to 10."],
            ["lesson: Standup was moved to 10"],
        ),
        (["Use tabs.", "You know what, don't do that."], []),
        (["Never use tabs.", "Scratch that."], []),
        (["Never deploy on Fridays.", "You may deploy on Fridays now."], []),
        (
            ["The queue is called jobs-in.", "jobs-inbox, sry"],
            ["lesson: The queue is called jobs-inbox"],
        ),
        (["The limit is 30 MB.", "40 MB!"], ["lesson: The limit is 40 MB"]),
        (
            ["Tags begin with v/ in our repo.", "I said v/, should have said rel/"],
            ["lesson: Tags begin with rel/ in our repo"],
        ),
        (
            ["Our tags begin with the year. Please stick to that."],
            ["always: Our tags begin with the year"],
        ),
        (["A gift for my niece?", "She is nine."], ["profile: My niece is nine"]),
        (["The port is 80.", "Not 80 but 8080."], ["lesson: The port is 8080"]),
        (["The port is 80.", "8080, I mean."], ["lesson: The port is 8080"]),
        (["My name is Jon.", "My name is John."], ["profile: Name: John"]),
        (["Use Oxford commas.", "Forget the rule about Oxford commas."], []),
        (["Use Oxford commas.", "Forget that, use no commas."], ["always: Use no commas"]),
        (["Always lint.", "Thanks, never mind the weather."], ["always: Always lint"]),
        (["Use uv.", "No, thanks."], ["always: Use uv"]),
    ],
)
def test_what_is_said_later_counts(messages: list[str], expected: list[str]) -> None:
    assert _told(*messages) == expected


def test_in_one_message_two_values_stand_beside_each_other() -> None:
    assert len(_told("Always use tabs in Makefiles. Always use spaces in Python.")) == 2


def test_what_was_said_elsewhere_is_handed_on() -> None:
    told = read_messages([("Forget the rule about emojis.", "")])
    assert [each.words for each in told.taken_back] == ["Forget the rule about emojis"]


def test_a_correction_points_at_its_own_message() -> None:
    told = read_messages([("Always use npm.", "s#1"), ("I meant pnpm, not npm.", "s#3")])
    assert [each.origin for each in told.engrams] == ["s#3"]


def test_what_may_be_a_request_is_unsure() -> None:
    (engram,) = extract("Use npm for the frontend.")
    assert engram.unsure


@pytest.mark.parametrize(
    "new, old, expected",
    [
        (_engram("Use uv"), _engram("Use pip"), True),
        (_engram("Use uv"), _engram("Use tabs"), False),
        (_engram("Use uv"), _engram("Use uv."), False),
        (_engram("Using tabs", "never"), _engram("Use tabs"), True),
        (_engram("Deploy on Fridays", "never"), _engram("Deploy on Mondays", "never"), False),
        (_engram("Our CTO is Mia now", "lesson"), _engram("Our CTO is Max", "lesson"), True),
        (_engram("Our CTO is Mia", "lesson"), _engram("Our CEO is Max", "lesson"), False),
        (_engram("Name: Jo", "profile"), _engram("Name: Ada", "profile"), True),
        (_engram("Name: Jo", "profile"), _engram("Location: Jo", "profile"), False),
        (_engram("I don't eat meat", "profile"), _engram("I eat meat", "profile"), True),
        (_engram("We use Redis", "always"), _engram("We use Postgres", "always"), False),
    ],
)
def test_only_another_value_of_the_same_takes_the_place(
    new: Engram, old: Engram, *, expected: bool
) -> None:
    assert supersedes(new, old) is expected


def test_what_is_taken_back_is_found_by_its_words() -> None:
    formal, tabs = _engram("Speak to me formally"), _engram("Use tabs")
    assert about(TakenBack("the formal tone"), [formal, tabs]) == [formal]
    assert about(TakenBack("emojis"), [formal, tabs]) == []
    assert about(TakenBack("the formal tone", "profile"), [formal]) == []
    assert about(TakenBack("that is off now", is_loose=True), [tabs]) == []


def test_nearness_asks_for_more_where_it_is_not_sure() -> None:
    one, other = _engram("Use four spaces in Python"), _engram("Use black in Python notebooks")
    assert is_near(one, other)
    assert not is_near(one, other, surely=False)


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_messages_can_be_read(messages: list[str]) -> None:
    read_messages((text, "") for text in messages)


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_takes_its_own_place(one: str, other: str) -> None:
    for text in filter(str.strip, (one, other)):
        assert not supersedes(_engram(text), _engram(text))


@every(
    "first, second",
    [
        ("The colour of team a is red", "The colour of team b is red"),
        ("The port of staging is 8080", "The port of production is 8081"),
        ("Room 3 is cold", "Room 4 is cold"),
        ("We meet on Mondays", "We deploy on Thursdays"),
        ("Use pytest for unit tests", "Use playwright for browser tests"),
        ("I speak German", "I speak French"),
        ("The api runs on port 8080", "The worker runs on port 8081"),
        ("My dog is called Rex", "My cat is called Tom"),
    ],
)
def test_what_is_said_of_another_subject_takes_the_place_of_nothing(
    first: str, second: str
) -> None:
    old, new = Engram(first, "lesson", "project"), Engram(second, "lesson", "project")
    assert not supersedes(new, old)


@every("said", ["Hello", "Great", "Perfect!", "Thanks", "Python"])
@every("before", ["My name is Eve.", "I live in Porto.", "Our tracker is Jira."])
def test_a_word_alone_is_no_other_name(before: str, said: str) -> None:
    alone, both = (read_messages((text, "") for text in it) for it in ([before], [before, said]))
    assert [each.text for each in both.engrams] == [each.text for each in alone.engrams]
