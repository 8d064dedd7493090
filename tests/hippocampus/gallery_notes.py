"""The gallery's lessons, topics and profiles: notes in the styles and scripts that people use.

Promises: see :mod:`tests.hippocampus.gallery`.
"""

from __future__ import annotations

from typing import Final

from tests.hippocampus.gallery import Page, Said

NOTES_PAGES: Final = (
    Page("an empty file", "lessons.md", ""),
    Page("nothing but blank lines", "lessons.md", "\n  \n\t\n\n"),
    Page("nothing but a byte order mark", "lessons.md", "\ufeff"),
    Page("nothing but a private note", "lessons.md", "<!-- nothing yet -->"),
    Page(
        "the example of the format",
        "lessons.md",
        """\
# Lessons

- CoinGecko's free tier allows 50 requests <!-- id:k3v9q2ht topic:api-coingecko ts:2026-02-27 -->
- The build needs two passes:
  the first one makes the headers. <!-- id:7m0xw4ce confidence:high source:user ts:2026-03-01 -->
- Written by hand, without any of that.
""",
        (
            Said(3, "", "CoinGecko's free tier allows 50 requests"),
            Said(4, "", "The build needs two passes:\nthe first one makes the headers."),
            Said(6, "", "Written by hand, without any of that."),
        ),
    ),
    Page(
        "continuation lines, and blank lines inside of an entry",
        "lessons.md",
        """\
# Lessons

- Two spaces
  go on here

  and here, after a blank line
- Four spaces
    stay two deep
- A tab
\tgoes on as well
- One space
 is enough


  even after two blank lines

- Nothing indented
this is a paragraph of its own
""",
        (
            Said(3, "", "Two spaces\ngo on here\n\nand here, after a blank line"),
            Said(7, "", "Four spaces\n  stay two deep"),
            Said(9, "", "A tab\ngoes on as well"),
            Said(11, "", "One space\nis enough\n\n\neven after two blank lines"),
            Said(17, "", "Nothing indented"),
            Said(18, "", "this is a paragraph of its own"),
        ),
    ),
    Page(
        "indentation by tabs",
        "lessons.md",
        "- Parent\n\t- child\n\t\t- grandchild\n\n\tmore of the parent\n- Next\n",
        (Said(1, "", "Parent\n- child\n\t- grandchild\n\nmore of the parent"), Said(6, "", "Next")),
    ),
    Page(
        "no line end at the end of the file",
        "lessons.md",
        "# Lessons\n\n- My fact A",
        (Said(3, "", "My fact A"),),
    ),
    Page(
        "line ends of Windows",
        "lessons.md",
        "# Lessons\r\n\r\n- One\r\n  and a half\r\n\r\n"
        "- Two <!-- id:3d5f7h9k ts:2026-01-05 -->\r\n",
        (Said(3, "", "One\nand a half"), Said(6, "", "Two")),
    ),
    Page(
        "line ends of Windows and of Unix in one file",
        "lessons.md",
        "# Lessons\r\n\n- One\n- Two\r\n\r\n- Three\n",
        (Said(3, "", "One"), Said(4, "", "Two"), Said(6, "", "Three")),
    ),
    Page(
        "characters that some programs take for line ends",
        "lessons.md",
        "- one\x0c- not two\n- U+2028\u2028- not three\n- NEL\x85- not four\n",
        (
            Said(1, "", "one\x0c- not two"),
            Said(2, "", "U+2028\u2028- not three"),
            Said(3, "", "NEL\x85- not four"),
        ),
        ((1, "foreign-line-end"), (2, "foreign-line-end"), (3, "foreign-line-end")),
    ),
    Page(
        "line ends of an old Macintosh",
        "lessons.md",
        "# Lessons\r\r- One\r- Two\r",
        (),
        ((1, "foreign-line-end"),),
    ),
    Page(
        "a byte order mark before an entry",
        "lessons.md",
        "\ufeff- Saved by Notepad\n- So was this\n",
        (Said(1, "", "Saved by Notepad"), Said(2, "", "So was this")),
    ),
    Page(
        "a byte order mark before front matter",
        "lessons.md",
        "\ufeff---\naliases:\n- learned\n---\n\n- An entry\n",
        (Said(6, "", "An entry"),),
    ),
    Page(
        "check boxes in a file that is no list of proposals",
        "lessons.md",
        "- [ ] ask about quotas\n- [x] measured: 40 ms\n  - [ ] measure again\n",
        (
            Said(1, "", "[ ] ask about quotas"),
            Said(2, "", "[x] measured: 40 ms\n- [ ] measure again"),
        ),
    ),
    Page(
        "a details block",
        "lessons.md",
        """\
# Lessons

<details>
<summary>Old ones</summary>

- The cache was cold
- The disk was slow

</details>

<p>
- inside of HTML
</p>

- After the block
""",
        (
            Said(6, "", "The cache was cold"),
            Said(7, "", "The disk was slow"),
            Said(12, "", "inside of HTML"),
            Said(15, "", "After the block"),
        ),
    ),
    Page(
        "an Obsidian note",
        "topics/ci.md",
        """\
---
tags:
  - ci
  - build
aliases: [Continuous integration]
created: 2026-01-04T10:00
---

# CI

![[pipeline.png]]

> [!warning] Careful
> - The runner has 2 GB

- See [[Release process|how we release]] #ci ^rel-1
- Cache `~/.cache/uv` %% private %% <!-- id:9b2d4f6h topic:ci ts:2026-01-04 -->
    - because of [[ADR 7]]

Status:: done

[^1]: From the retro.
[docs]: https://example.org
""",
        (
            Said(11, "", "![[pipeline.png]]"),
            Said(16, "", "See [[Release process|how we release]] #ci ^rel-1"),
            Said(17, "", "Cache `~/.cache/uv` %% private %%\n  - because of [[ADR 7]]"),
            Said(20, "", "Status:: done"),
        ),
        ((13, "not-read"), (17, "metadata-not-last")),
    ),
    Page(
        "a Logseq page",
        "topics/deploy.md",
        """\
title:: Deploy
tags:: ops, prod

- ## Steps
  id:: 65a1f0aa-0001
\t- build
\t- push
\t  collapsed:: true
- TODO ask for a window
  :LOGBOOK:
  CLOCK: [2026-01-04 Sun 10:00:00]
  :END:
- {{query (todo TODO)}}
""",
        (
            Said(1, "", "title:: Deploy\ntags:: ops, prod"),
            Said(4, "", "## Steps\nid:: 65a1f0aa-0001\n- build\n- push\n  collapsed:: true"),
            Said(
                9, "", "TODO ask for a window\n:LOGBOOK:\nCLOCK: [2026-01-04 Sun 10:00:00]\n:END:"
            ),
            Said(13, "", "{{query (todo TODO)}}"),
        ),
    ),
    Page(
        "an Org file with the wrong name",
        "lessons.md",
        "#+TITLE: Lessons\n* TODO Buy a domain\n** NEXT Ask Mia\n   SCHEDULED: <2026-01-04 Sun>\n",
        (
            Said(1, "", "#+TITLE: Lessons"),
            Said(2, "", "TODO Buy a domain"),
            Said(3, "", "** NEXT Ask Mia\n SCHEDULED: <2026-01-04 Sun>"),
        ),
    ),
    Page(
        "Japanese",
        "lessons.md",
        """\
# 教訓

- テストは毎回、時計を固定すること。
- 「常に」と言われたら確認する
  二行目もここ。 <!-- id:5x7z9b1d topic:テスト ts:2026-02-02 -->
・中点は箇条書きではない
\u3000全角の字下げ
""",
        (
            Said(3, "", "テストは毎回、時計を固定すること。"),
            Said(4, "", "「常に」と言われたら確認する\n二行目もここ。"),
            Said(6, "", "・中点は箇条書きではない\n\u3000全角の字下げ"),
        ),
    ),
    Page(
        "Arabic and Hebrew",
        "lessons.md",
        "# دروس\n\n- استخدم uv دائمًا\n- אל תשתמש ב־pip <!-- id:6y8a0c2e ts:2026-02-03 -->\n",
        (Said(3, "", "استخدم uv دائمًا"), Said(4, "", "אל תשתמש ב־pip")),
    ),
    Page(
        "emoji, flags and families",
        "lessons.md",
        "- 🚀 ship it\n- 👩‍👩‍👧 three people agreed ❤️\n🔥 hot path\n✅ done\n",
        (
            Said(1, "", "🚀 ship it"),
            Said(2, "", "👩‍👩‍👧 three people agreed ❤️"),
            Said(3, "", "🔥 hot path\n✅ done"),
        ),
    ),
    Page(
        "private notes over several lines",
        "lessons.md",
        """\
# Lessons

<!-- How this file works:
- a bullet is a memory
- ```
## a heading in a note

still the note -->

- A memory
<!-- about the memory above -->
- Another one <!-- a remark, and no metadata -->
  that goes on <!-- inside --> here
Paragraph <!-- in the middle --> of mine <!-- at the end -->
""",
        (
            Said(10, "", "A memory"),
            Said(12, "", "Another one\nthat goes on  here"),
            Said(14, "", "Paragraph  of mine"),
        ),
    ),
    Page(
        "text that the store has escaped",
        "lessons.md",
        r"""- open with \<!-- and close with --\> <!-- id:1a3c5e7g ts:2026-01-01 -->
- a tail&#32; <!-- id:2b4d6f8h ts:2026-01-01 -->
- twice \\<!-- x -->
- `<!-- in code -->` stays
""",
        (
            Said(1, "", "open with <!-- and close with -->"),
            Said(2, "", "a tail "),
            Said(3, "", "twice \\\\"),
            Said(4, "", "`<!-- in code -->` stays"),
        ),
    ),
    Page(
        "a mail, quoted and signed",
        "lessons.md",
        """\
On Monday Mia wrote:
> The staging database is
> reset every night.

Good to know.

Ada Lovelace
ada@example.org
""",
        (
            Said(1, "", "On Monday Mia wrote:"),
            Said(5, "", "Good to know."),
            Said(7, "", "Ada Lovelace\nada@example.org"),
        ),
        ((2, "not-read"),),
    ),
    Page(
        "mathematics and diagrams",
        "topics/math.md",
        """\
$$
- 1 + 1
$$

~~~mermaid
graph TD
- a --> b
~~~

- An arrow --> in the text
- a --> b --> c <!-- id:8c0e2g4j ts:2026-01-01 -->
""",
        (
            Said(1, "", "$$"),
            Said(2, "", "1 + 1"),
            Said(3, "", "$$"),
            Said(10, "", "An arrow --> in the text"),
            Said(11, "", "a --> b --> c"),
        ),
        ((5, "not-read"),),
    ),
    Page(
        "facts about a person",
        "profile.md",
        """\
# Profile

- Name: Ada
- Likes: tea
- Likes: jazz
- Works at: https://example.org

Prefers short answers.
Speaks German and English.
""",
        (
            Said(3, "", "Name: Ada"),
            Said(4, "", "Likes: tea"),
            Said(5, "", "Likes: jazz"),
            Said(6, "", "Works at: https://example.org"),
            Said(8, "", "Prefers short answers.\nSpeaks German and English."),
        ),
    ),
    Page(
        "an assistant's character, which is no list of entries",
        "soul.md",
        "You are Robin.\n\n- Warm, and to the point\n\n```\nnever closed\n",
        (
            Said(1, "", "You are Robin."),
            Said(3, "", "Warm, and to the point"),
            Said(6, "", "never closed"),
        ),
    ),
    Page(
        "proposals that wait, and a person's notes between them",
        "pending.md",
        """\
# Pending

- [ ] Prefer fixtures <!-- id:p81dz5ka kind:always source:consolidation ts:2026-02-27 -->
- [x] Use uv <!-- id:q92fa6mb kind:lesson scope:project source:llm ts:2026-02-27 -->
- [v] Use make <!-- id:r03gb7nc kind:lesson scope:project source:llm ts:2026-02-27 -->
Ask Mia about these.
""",
        (
            Said(3, "", "[ ] Prefer fixtures"),
            Said(4, "", "[x] Use uv"),
            Said(5, "", "[v] Use make"),
            Said(6, "", "Ask Mia about these."),
        ),
        ((5, "unknown-tick"),),
    ),
    Page(
        "what was retired",
        "archive.md",
        """\
# Archive

- Use black <!-- id:s14hc8pd source:llm ts:2026-01-01 reason:superseded archived:2026-02-01 -->
- Use black <!-- id:t25jd9qe source:llm ts:2026-01-03 reason:forgotten archived:2026-02-02 -->
""",
        (Said(3, "", "Use black"), Said(4, "", "Use black")),
    ),
)
