"""What doctor mends in the text of a file."""

from __future__ import annotations

from datetime import date
from itertools import count

from engramdown.doctor.checks import check, expired_ids, fix


def mended(text: str, file: str = "lessons.md") -> str:
    numbers = count(1)
    found = check({file: text}, date(2026, 3, 15), "global")
    return fix(text, found, lambda: f"{next(numbers):08}")


def test_metadata_is_mended_in_place_and_the_text_keeps_its_bytes() -> None:
    text = "- Ren\udce9  says \\<!-- <!--id:k3v9q2ht  confidence:High own:1-->  \r\n- next\r\n"
    expected = "- Ren\udce9  says \\<!-- <!-- id:k3v9q2ht confidence:high own:1 -->  \r\n- next\r\n"
    assert mended(text) == expected


def test_the_second_of_ours_with_one_id_gets_a_new_one() -> None:
    text = (
        "- a <!-- id:k3v9q2ht source:llm -->\n"
        "- b <!-- id:k3v9q2ht source:llm ts:2026/1/1 -->\n"
        "- c <!-- id:k3v9q2ht source:llm -->\n"
    )
    assert mended(text) == (
        "- a <!-- id:k3v9q2ht source:llm -->\n"
        "- b <!-- id:00000001 source:llm ts:2026-01-01 -->\n"
        "- c <!-- id:00000002 source:llm -->\n"
    )


def test_a_duplicate_of_ours_goes_with_all_its_lines() -> None:
    text = (
        "- Use uv\n  for all\n- first\n\n"
        "- use uv for all\n  <!-- id:k3v9q2ht source:llm conf:1 -->\n\n- last\n"
    )
    assert mended(text) == "- Use uv\n  for all\n- first\n\n\n- last\n"


def test_what_cannot_be_mended_by_text_stays() -> None:
    text = "- a <!-- id:k3v9q2ht source:llm expires:2025-01-01 -->\n- b\n- B\n"
    assert mended(text) == text


def test_what_expired_is_named_by_its_id_unless_it_is_mended_otherwise() -> None:
    line = "- {} <!-- id:{} source:{} expires:2025-01-01{} -->\n"
    text = (
        line.format("a", "k3v9q2ht", "llm", "")
        + line.format("b", "7m0xw4ce", "user", "")
        + line.format("c", "5m7p9r1t", "llm", " ts:2026/1/1")
    )
    found = check({"lessons.md": text}, date(2026, 3, 15), "global")
    assert expired_ids(text, found) == ["k3v9q2ht"]
