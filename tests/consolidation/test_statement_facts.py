"""Facts that somebody tells about himself."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FORMS
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("my name is ada", "profile|high|Name:|ada"),
        ("my name is dr. okafor and i sing", "profile|high|Name:|dr. okafor"),
        ("my name is zora1", "profile|high|Name:|zora1"),
        ("my name is ada r2d2 and i sing", "profile|high|Name:|ada r2d2"),
        ("call me 2pac, please", "profile|high|Name:|2pac"),
        ("i'm r2d2", "profile|high|Name: |r2d2"),
        ("call me jo, please", "profile|high|Name:|jo"),
        ("i'm in cet", "profile|high|Time zone:|cet"),
        ("my time zone is europe/berlin", "profile|high|Time zone:|europe/berlin"),
        ("i live in new york", "profile|high|Location:|new york"),
        ("my pronouns are they/them", "profile|high|Pronouns:|they/them"),
        ("my email is ada@example.org", "profile|high|E-mail:|ada@example.org"),
        ("my favourite editor is vim", "profile|high|Favourite editor:|vim"),
        ("my current timezone: utc", "profile|high|Time zone:|utc"),
        ("time zone: utc", "profile|high|Time zone:|utc"),
        ("my dog is called biscuit", "profile|high||my dog is called biscuit"),
        ("i'm a single dad", "profile|high||i'm a single dad"),
        ("im zoe and im 15", "profile|high|Name: |zoe"),
        ("i'm a nurse", "profile|high||i'm a nurse"),
        ("i'm vegan", "profile|high||i'm vegan"),
        ("i'm on macos", "profile|high||i'm on macos"),
        ("i'm ada", "profile|high|Name: |ada"),
        ("this is ravi", "profile|high|Name: |ravi"),
        ("mira here", "profile|high|Name: |mira"),
        ("i work at acme", "profile|high||i work at acme"),
        ("i use react and typescript", "profile|medium||i use react and typescript"),
        ("my kids are 4 and 7", "profile|high||my kids are 4 and 7"),
        ("i have two kids", "profile|high||i have two kids"),
        ("i never eat meat", "profile|medium||i never eat meat"),
        ("refer to me as professor lind", "profile|high|Name:|professor lind"),
        ("my surname is okafor", "profile|high|Surname:|okafor"),
        ("my working hours are 9 to 5", "profile|high|Working hours:|9 to 5"),
        ("i have asthma", "profile|high||i have asthma"),
        ("my laptop runs fedora", "profile|high||my laptop runs fedora"),
        ("we have a dog", "profile|high||we have a dog"),
        ("i have ten years of experience", "profile|high||i have ten years of experience"),
        ("i've been coding for 20 years", "profile|high||i've been coding for 20 years"),
        ("ive been coding for 20 years", "profile|high||ive been coding for 20 years"),
        ("i'm 180 cm tall", "profile|high||i'm 180 cm tall"),
        ("i dont eat pork", "profile|high||i dont eat pork"),
        ("i'm the lead of payments", "profile|high||i'm the lead of payments"),
        ("i use neovim on arch", "profile|medium||i use neovim on arch"),
        ("i use a mac", "profile|medium||i use a mac"),
        ("i work for the council", "profile|high||i work for the council"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FORMS["fact"], words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "my name is cut off",
        "my name is not john",
        "call me crazy",
        "call me 5pm",
        "call me 2 times",
        "call me 3x",
        "my name is 42",
        "i use it to parse logs",
        "i'm 42% done",
        "call me when you are home",
        "i'm in a meeting",
        "i live in fear",
        "i live in lisbon this year",
        "my email is not working",
        "my editor is slow",
        "my shell is broken",
        "i'm a bit lost",
        "i'm a fan of it",
        "i work on the parser",
        "my manager is late",
        "same here",
        "my boss's name is harriet",
        "my mother is diabetic",
        "my language is set to polish",
        "location: header",
        "name: build docs",
        "i use it daily",
        "i'm from the support team",
        "i'm the owner of this bug",
        "i've been waiting for two years",
        "we have a dog park",
        "my laptop runs hot",
        "i work at the moment on it",
        "i never saw that",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FORMS["fact"], words) == ""
