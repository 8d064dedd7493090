"""The gallery's damaged files: what slips of the pen, editors and merges do to memory.

Promises: see :mod:`tests.hippocampus.gallery`.
"""

from __future__ import annotations

from typing import Final

from tests.hippocampus.gallery import Page, Said

DAMAGED_PAGES: Final = (
    Page(
        "a byte order mark before the first heading",
        "rules.md",
        "\ufeff## Always\n\n- Read this\n",
        (Said(3, "always", "Read this"),),
    ),
    Page(
        "bytes of another encoding",
        "rules.md",
        b"## Always\n\n- Greet Ren\xe9 \xfcberall\n- Fine \xe2\x9c\x93\n\n## Never\n\n- Na\xefve\n",
        (
            Said(3, "always", "Greet Ren\udce9 \udcfcberall"),
            Said(4, "always", "Fine ✓"),
            Said(8, "never", "Na\udcefve"),
        ),
        ((3, "unreadable-bytes"), (8, "unreadable-bytes")),
    ),
    Page(
        "UTF-16",
        "rules.md",
        "\ufeff## Always\r\n- Use uv\r\n".encode("utf-16-le"),
        (
            Said(
                1,
                "",
                "\udcff\udcfe#\x00#\x00 \x00A\x00l\x00w\x00a\x00y\x00s\x00\r\x00\n"
                "\x00-\x00 \x00U\x00s\x00e\x00 \x00u\x00v\x00\r\x00\n\x00",
            ),
        ),
        ((1, "utf-16"),),
    ),
    Page(
        "a fence that is closed late, by a longer one",
        "lessons.md",
        """\
- Run this:

```sh
make all

- Part of the code
````
""",
        (Said(1, "", "Run this:"),),
        ((3, "not-read"),),
    ),
    Page(
        "a fence that is closed by nothing",
        "lessons.md",
        """\
- Run this:

````sh
make all
```

- A memory after it
""",
        (Said(1, "", "Run this:"), Said(4, "", "make all"), Said(7, "", "A memory after it")),
        ((3, "unclosed-fence"), (5, "unclosed-fence")),
    ),
    Page(
        "a comment that was never closed",
        "lessons.md",
        """\
- First

<!-- a note that
goes on

- Second <!-- id:3f5h7k9m ts:2026-01-01 -->
- Third <!-- id:4g6j8m0n ts:2026-01-01
- Fourth
""",
        (
            Said(1, "", "First"),
            Said(4, "", "goes on"),
            Said(6, "", "Second"),
            Said(7, "", "Third <!-- id:4g6j8m0n ts:2026-01-01"),
            Said(8, "", "Fourth"),
        ),
        ((3, "unclosed-comment"), (7, "unclosed-comment")),
    ),
    Page(
        "front matter that was never closed",
        "lessons.md",
        "---\ntitle: Lessons\ntags: [a]\n\n- A memory\n",
        (Said(2, "", "title: Lessons\ntags: [a]"), Said(5, "", "A memory")),
        ((1, "unclosed-front-matter"),),
    ),
    Page(
        "list items that are not at the start of a line",
        "rules.md",
        """\
## Always

 - one space
   and its second line

  * two spaces

- An entry
  - part of it

    1. deep in it

text
  - part of the text
""",
        (
            Said(8, "always", "An entry\n- part of it\n\n  1. deep in it"),
            Said(13, "always", "text\n- part of the text"),
        ),
        ((3, "indented-item"), (6, "indented-item")),
    ),
    Page(
        "metadata that a person touched",
        "lessons.md",
        """\
- one <!-- id:1a1a1a1a confidence:hgih source:User ts:2026/2/7 -->
- two <!-- id:2b2b2b2b, confidence:high -->
- three <!-- id:3c3c3c3c confidence: high -->
- four <!-- id=4d4d4d4d -->
- five <!-- id:5e5e5e5e ts:2026-01-01 ts:2026-01-02 -->
- six <!-- id:6f6f6f6f ts:2026-02-30 basis:rumour kind:rule -->
- seven <!-- source: the wiki -->
- eight <!-- id:8h8h8h8h ts:2026-01-01 --> and more
- nine <!-- id:9j9j9j9j expires:soon mine:yes -->
- ten <!-- id:0k0k0k0k ts:2026-01-01 -->.
- eleven <!--id:1m1m1m1m confidence:low-->
- twelve <!-- id: -->
""",
        (
            Said(1, "", "one"),
            Said(2, "", "two"),
            Said(3, "", "three"),
            Said(4, "", "four"),
            Said(5, "", "five"),
            Said(6, "", "six"),
            Said(7, "", "seven"),
            Said(8, "", "eight  and more"),
            Said(9, "", "nine"),
            Said(10, "", "ten ."),
            Said(11, "", "eleven"),
            Said(12, "", "twelve"),
        ),
        (
            (1, "metadata-value"),
            (1, "metadata-value"),
            (1, "metadata-value"),
            (2, "metadata-value"),
            (3, "near-metadata"),
            (4, "near-metadata"),
            (5, "metadata-twice"),
            (6, "metadata-value"),
            (6, "metadata-value"),
            (6, "metadata-value"),
            (8, "metadata-not-last"),
            (9, "metadata-value"),
            (10, "metadata-not-last"),
            (12, "metadata-value"),
        ),
    ),
    Page(
        "lines that were copied",
        "lessons.md",
        """\
- The staging server is slow <!-- id:5m7p9r1t source:llm ts:2026-01-01 -->
- Staging needs a VPN
- The staging server is slow, on Mondays <!-- id:5m7p9r1t source:llm ts:2026-01-01 -->
- the staging server is slow! <!-- id:6n8q0s2v source:llm ts:2026-01-09 -->
- staging needs a VPN
""",
        (
            Said(1, "", "The staging server is slow"),
            Said(2, "", "Staging needs a VPN"),
            Said(3, "", "The staging server is slow, on Mondays"),
            Said(4, "", "the staging server is slow!"),
            Said(5, "", "staging needs a VPN"),
        ),
        ((3, "id-twice"), (4, "duplicate"), (5, "duplicate")),
    ),
    Page(
        "one lesson in two wordings",
        "lessons.md",
        "- Never deploy on Fridays\n- Retry 3 times\n- Don't ever deploy on a Friday\n"
        "- Retry 5 times\n",
        (
            Said(1, "", "Never deploy on Fridays"),
            Said(2, "", "Retry 3 times"),
            Said(3, "", "Don't ever deploy on a Friday"),
            Said(4, "", "Retry 5 times"),
        ),
        ((3, "near-duplicate"), (4, "contradiction")),
    ),
    Page(
        "secrets, in an entry, in a note and in a fence",
        "lessons.md",
        """\
# Lessons

- The database is postgres://ann:plum-7-orchard@db/shop
<!-- token: ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX -->

```sh
export DATABASE_URL=postgres://ann:plum-7-orchard@db/shop
```
""",
        (Said(3, "", "The database is postgres://ann:plum-7-orchard@db/shop"),),
        ((3, "secret"), (4, "secret"), (6, "not-read"), (7, "secret")),
    ),
    Page(
        "memories that were for a while",
        "lessons.md",
        """\
- The office is closed <!-- id:7p9r1t3w source:llm ts:2026-01-01 expires:2026-01-06 -->
- Freeze until March <!-- id:8q0s2v4x source:user ts:2026-01-01 expires:2026-02-28 -->
- The badge works today <!-- id:9r1t3w5y source:llm ts:2026-01-01 expires:2026-03-15 -->
- Sale <!-- expires:2025-12-24 -->
""",
        (
            Said(1, "", "The office is closed"),
            Said(2, "", "Freeze until March"),
            Said(3, "", "The badge works today"),
            Said(4, "", "Sale"),
        ),
        ((1, "expired"), (2, "expired"), (4, "expired")),
    ),
    Page(
        "characters that nobody sees",
        "rules.md",
        "## Always\n\n- Use\u200b uv\n- Pay \u202etxt.exe\u202c\n- ring\x07 the bell\x07\n",
        (
            Said(3, "always", "Use\u200b uv"),
            Said(4, "always", "Pay \u202etxt.exe\u202c"),
            Said(5, "always", "ring\x07 the bell\x07"),
        ),
        ((3, "hidden-character"), (4, "hidden-character"), (5, "hidden-character")),
    ),
)
