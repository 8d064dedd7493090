"""The picture of a chat in the docs is what a chat looks like."""

from __future__ import annotations

import pytest

from tests.cli.record_chat import PICTURE, drawn, recorded, words_of


@pytest.mark.slow
def test_the_picture_shows_what_a_chat_shows(child_env: dict[str, str]) -> None:
    now = words_of(drawn(recorded(child_env)))
    assert len(now) > 100
    same = words_of(PICTURE.read_text(encoding="utf-8")) == now
    assert same, "run python -m tests.cli.record_chat, and look at docs/chat.svg"


def test_the_picture_fetches_nothing() -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    assert "url(http" not in picture
    assert "@import" not in picture
