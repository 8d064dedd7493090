"""The gallery's rules.md files: headings, bullets and everything that people put around them.

Promises: see :mod:`tests.hippocampus.gallery`.
"""

from __future__ import annotations

from typing import Final

from tests.hippocampus.gallery import Page, Said

RULES_PAGES: Final = (
    Page(
        "prose, a quotation, comments and front matter around the rules",
        "rules.md",
        """\
---
title: Rules
tags: [agents]
# who to ask: Mia
---
# Rules

These are the rules for our bots. Ask Mia before you change them.

> Be kind, and be quick.
> - not a rule

<!-- reviewed 2026-01-12 -->

## Always

- Run the linter before pushing <!-- id:k3v9q2ht confidence:high source:user ts:2026-02-27 -->
- Keep commits small

## Never

- Force-push to main

## Open questions

- Do we want squash merges?
""",
        (
            Said(8, "", "These are the rules for our bots. Ask Mia before you change them."),
            Said(17, "always", "Run the linter before pushing"),
            Said(18, "always", "Keep commits small"),
            Said(22, "never", "Force-push to main"),
            Said(26, "Open questions", "Do we want squash merges?"),
        ),
        ((10, "not-read"), (24, "own-heading")),
    ),
    Page(
        "stars and pluses for bullets, and spaces and tabs behind them",
        "rules.md",
        """\
## Always
* Use uv
*   Pin every version
*\tSign the tags
+ Test on 3.11 too

## Never
+   Log a token
""",
        (
            Said(2, "always", "Use uv"),
            Said(3, "always", "Pin every version"),
            Said(4, "always", "Sign the tags"),
            Said(5, "always", "Test on 3.11 too"),
            Said(8, "never", "Log a token"),
        ),
    ),
    Page(
        "bullets without any heading",
        "rules.md",
        "- Use uv\n- Never use pip\n- When CI is red, look at the clock first\n",
        (
            Said(1, "", "Use uv"),
            Said(2, "", "Never use pip"),
            Said(3, "", "When CI is red, look at the clock first"),
        ),
        ((1, "no-heading"),),
    ),
    Page(
        "headings in the person's own words",
        "rules.md",
        """\
# House rules

## Musts

- Squash before merging

## Don'ts

- Commit on Fridays

## If ... then

- If a migration fails, restore the snapshot
""",
        (
            Said(5, "Musts", "Squash before merging"),
            Said(9, "Don'ts", "Commit on Fridays"),
            Said(13, "If ... then", "If a migration fails, restore the snapshot"),
        ),
        ((3, "own-heading"), (7, "own-heading"), (11, "own-heading")),
    ),
    Page(
        "headings that are almost ours",
        "rules.md",
        """\
## Always:

- Ask before deleting

## NEVER

- Print a password

##  When  ##

- When in doubt, ask

## Never do

- Rename public functions

##Always

- This one stands under "Never do"
""",
        (
            Said(3, "always", "Ask before deleting"),
            Said(7, "never", "Print a password"),
            Said(11, "when", "When in doubt, ask"),
            Said(15, "Never do", "Rename public functions"),
            Said(17, "Never do", "##Always"),
            Said(19, "Never do", 'This one stands under "Never do"'),
        ),
        ((13, "own-heading"), (17, "near-heading")),
    ),
    Page(
        "rule headings below headings of the person's own",
        "rules.md",
        """\
# Team

## Python

### Always

- Type every function

#### Why

- Because refactoring is hard without types

### Never

- Use star imports

## Notes

### Details

- Mia wrote these
""",
        (
            Said(7, "always", "Type every function"),
            Said(11, "always", "Because refactoring is hard without types"),
            Said(15, "never", "Use star imports"),
            Said(21, "Notes", "Mia wrote these"),
        ),
        ((17, "own-heading"),),
    ),
    Page(
        "sections in another order, one of them twice",
        "rules.md",
        """\
## When

- When a test is flaky, quarantine it

## Never

- Sleep in a test

## When

- When a release is cut, tag it

## Always

""",
        (
            Said(3, "when", "When a test is flaky, quarantine it"),
            Said(7, "never", "Sleep in a test"),
            Said(11, "when", "When a release is cut, tag it"),
        ),
    ),
    Page(
        "setext headings",
        "rules.md",
        """\
Rules
=====

Always
------

- Read the changelog first

Never
---
- Guess a version
""",
        (Said(7, "always", "Read the changelog first"), Said(11, "never", "Guess a version")),
    ),
    Page(
        "two level-1 headings",
        "rules.md",
        """\
# Rules

## Always

- Answer in English

# Scratch

- Things I have not sorted yet
""",
        (Said(5, "always", "Answer in English"), Said(9, "", "Things I have not sorted yet")),
        ((9, "no-heading"),),
    ),
    Page(
        "a fence that holds headings, rules and comments",
        "rules.md",
        """\
## Always

- Start scripts like this:

```sh
## Never
- rm -rf /
<!-- id:aaaaaaaa -->
```

- Quote every variable

~~~~markdown
~~~
- still code
```
~~~~

## Never

- Pipe curl into a shell
""",
        (
            Said(3, "always", "Start scripts like this:"),
            Said(11, "always", "Quote every variable"),
            Said(21, "never", "Pipe curl into a shell"),
        ),
        ((5, "not-read"), (13, "not-read")),
    ),
    Page(
        "a fence inside of a rule",
        "rules.md",
        """\
## When

- When you add a dependency:

  ```toml
  [project]
  dependencies = ["x"]

  - not an entry
  ```

  then run `uv lock`. <!-- id:7m0xw4ce confidence:high source:user ts:2026-03-01 -->
- ```sh
  make all
  ```
""",
        (
            Said(
                3,
                "when",
                "When you add a dependency:\n\n```toml\n[project]\n"
                'dependencies = ["x"]\n\n- not an entry\n```\n\nthen run `uv lock`.',
            ),
            Said(13, "when", "```sh\nmake all\n```"),
        ),
    ),
    Page(
        "ten levels of nesting",
        "rules.md",
        "## Always\n\n"
        + "".join(f"{'  ' * depth}- level {depth + 1}\n" for depth in range(10))
        + "- next\n",
        (
            Said(
                3,
                "always",
                "level 1\n" + "\n".join(f"{'  ' * depth}- level {depth + 2}" for depth in range(9)),
            ),
            Said(13, "always", "next"),
        ),
    ),
    Page(
        "tables",
        "rules.md",
        """\
## Always

| tool | use |
|------|-----|
| uv   | yes |

| - broken | table |

name | port
---- | ----
api  | 8080

- Look the port up in the table
""",
        (Said(13, "always", "Look the port up in the table"),),
        ((3, "not-read"), (7, "not-read"), (9, "not-read")),
    ),
    Page(
        "numbered lists and paragraphs",
        "rules.md",
        """\
## Always

1. Pull
2. Build
   with `make`
3) Test

Say what you are about to do
before you do it.

- Then do it
""",
        (
            Said(3, "always", "Pull"),
            Said(4, "always", "Build\nwith `make`"),
            Said(6, "always", "Test"),
            Said(8, "always", "Say what you are about to do\nbefore you do it."),
            Said(11, "always", "Then do it"),
        ),
    ),
    Page(
        "rules that were commented out",
        "rules.md",
        """\
## Always

<!-- - Use black <!-- id:4q8n2t6w ts:2026-01-01 --> -->
<!--
- Use isort <!-- id:5r9p3v7x ts:2026-01-01 -->
- Use flake8
-->
- Use ruff
- <!-- Use pylint -->

<!-- one --> <!-- two -->

## Never

- Disable a rule <!-- ask Mia first --> in a whole file
""",
        (Said(8, "always", "Use ruff"), Said(15, "never", "Disable a rule  in a whole file")),
    ),
    Page(
        "lines across the page",
        "rules.md",
        """\
---

## Always

- Ship on Tuesdays

***

- Write it down
* * *
- - -
___

## Never

- Skip the retro
""",
        (
            Said(5, "always", "Ship on Tuesdays"),
            Said(9, "always", "Write it down"),
            Said(16, "never", "Skip the retro"),
        ),
    ),
    Page(
        "rules between two lines across the page, which are no front matter",
        "rules.md",
        """\
---

## Always

- Ship on Tuesdays

---

- Write it down
""",
        (Said(5, "always", "Ship on Tuesdays"), Said(9, "always", "Write it down")),
    ),
    Page(
        "a conflict that git left",
        "rules.md",
        """\
## Always

- Use uv
<<<<<<< HEAD
- Format with ruff
=======
- Format with black
>>>>>>> feature/format
- Sign commits
""",
        (
            Said(3, "always", "Use uv"),
            Said(5, "always", "Format with ruff"),
            Said(7, "always", "Format with black"),
            Said(9, "always", "Sign commits"),
        ),
        ((4, "conflict"),),
    ),
    Page(
        "a conflict with its ancestor, between paragraphs, and half of another",
        "rules.md",
        """\
## Never

<<<<<<< ours
Deploy on Friday
||||||| merged common ancestors
Deploy late
=======
Deploy on Friday or Saturday
>>>>>>> theirs

- Merge without review
>>>>>>> feature
""",
        (
            Said(4, "never", "Deploy on Friday"),
            Said(6, "never", "Deploy late"),
            Said(8, "never", "Deploy on Friday or Saturday"),
            Said(11, "never", "Merge without review"),
        ),
        ((3, "conflict"), (12, "conflict")),
    ),
    Page(
        "the same said under Always and under Never",
        "rules.md",
        """\
## Always

- Use tabs
- use  TABS. <!-- id:2c6k9m4p confidence:medium source:llm ts:2026-02-01 -->

## Never

- Use tabs!
""",
        (
            Said(3, "always", "Use tabs"),
            Said(4, "always", "use  TABS."),
            Said(8, "never", "Use tabs!"),
        ),
        ((4, "duplicate"), (8, "always-and-never")),
    ),
    Page(
        "what looks like a bullet or a heading and is none",
        "rules.md",
        """\
## Always

-no space
--force is the flag
+1 for pairing
*never* is a word
#hashtag
#!shebang

-
- \n*
####### seven
""",
        (
            Said(
                3,
                "always",
                "-no space\n--force is the flag\n+1 for pairing\n*never* is a word\n"
                "#hashtag\n#!shebang",
            ),
            Said(13, "always", "####### seven"),
        ),
    ),
)
