"""`engramdown.models.provider`: where a client leads, and how much it reads."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from typing import Final

import instructor
import openai
import pytest

from engramdown.errors import ModelError
from engramdown.models.provider import LONGEST, InstructorModel, client_of, is_openai, missing
from tests.consolidation.wire import Sends, http, says, wired
from tests.models.test_outcomes import FACT, Fact
from tests.tables import every

PASSWORD: Final = "hunter2"
HUGE: Final = 50 * LONGEST


def flood(connection: socket.socket) -> None:
    """Send 200 MB."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
    with suppress(OSError):
        for _ in range(HUGE // 1_000_000):
            connection.sendall(b" " * 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "send",
    [
        pytest.param(flood, id="flood"),
        pytest.param(http(gzip.compress(b" " * HUGE), Content_Encoding="gzip"), id="bomb"),
        pytest.param(http(b" " * (LONGEST + 1), status="500 Oops"), id="error"),
    ],
)
def test_no_more_is_read_than_any_answer_has(send: Sends) -> None:
    with wired(says(FACT), send) as wire:
        model = InstructorModel("openai/small", wire.url, retries=2)
        model.ask(Fact, "", "")  # what is loaded by it is not what is measured
        tracemalloc.start()
        try:
            with pytest.raises(ModelError, match=r"^openai/small: the server sent more than 4 MB$"):
                model.ask(Fact, "", "")
            assert tracemalloc.get_traced_memory()[1] < 8 * LONGEST
        finally:
            tracemalloc.stop()
        assert len(wire.asked) == 2


def test_the_longest_answer_that_is_allowed_is_read() -> None:
    with wired(http(says(FACT).partition(b"\r\n\r\n")[2].ljust(LONGEST))) as wire:
        assert InstructorModel("openai/small", wire.url).ask(Fact, "", "") == Fact(**FACT)


@every(
    "url",
    [
        pytest.param(f"http://me:{PASSWORD}@[::1", id="brackets"),
        pytest.param(f"http://me:{PASSWORD}@127.0.0.1:port/v1", id="port"),
        pytest.param(f"http://me:{PASSWORD}@/v1", id="no-host"),
        pytest.param(f"me:{PASSWORD}@127.0.0.1", id="no-scheme"),
        pytest.param(f"file:///{PASSWORD}", id="file"),
        pytest.param(f"http://me:{PASSWORD}@127.0.0.1:9/v1", id="nobody-there"),
    ],
)
def test_a_password_in_an_address_is_not_told(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        InstructorModel("openai/small", url, retries=0).ask(Fact, "", "")
    assert PASSWORD not in str(caught.value)
    assert PASSWORD not in repr(InstructorModel("openai/small", url))


def test_a_client_follows_no_redirect_and_tells_when_it_heard() -> None:
    heard: list[int] = []
    with wired(http(b"", status="307 Elsewhere", Location="http://127.0.0.1:1/")) as wire:
        client = client_of("openai/small", wire.url, 20, lambda: heard.append(1))
        with pytest.raises(Exception, match="307"):
            client.create(response_model=Fact, messages=[{"role": "user", "content": "a"}])
        client.client.close()
    assert heard == [1]
    assert not is_openai("openai/small", client)


@pytest.mark.slow
@pytest.mark.parametrize(
    "send, said",
    [
        pytest.param(http(b" " * (LONGEST + 1)), "the server sent more than 4 MB", id="flood"),
        pytest.param(
            http(b"", status="307 Elsewhere", Location="/elsewhere"), "answered 307", id="redirect"
        ),
        pytest.param(http({}), "an answer of no use", id="empty"),
    ],
)
def test_a_client_of_any_other_package_is_held_to_the_same(
    send: Sends, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired(send) as wire:
        raw = openai.OpenAI(api_key="mine", base_url=wire.url)
        client = instructor.from_openai(raw, model="x")
        monkeypatch.setattr("instructor.from_provider", lambda _: client)
        with pytest.raises(ModelError, match=said):
            InstructorModel("other/x", retries=0).ask(Fact, "", "")
        assert len(wire.asked) == 1


def test_openai_itself_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    client = client_of("openai/small", "", 20, lambda: None)
    assert is_openai("openai/small", client)
    assert not is_openai("ollama/small", client)
    client.client.close()


def test_what_a_package_of_nobody_we_know_says_is_passed_on() -> None:
    assert missing("groq/x", ImportError("pip install groq")) == "pip install groq"
    assert missing("ollama/x", ImportError("no openai")).endswith("'engramdown[openai]'")


def test_without_instructor_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "instructor", None)
    with pytest.raises(ModelError, match=r'pip install "engramdown\[model\]"') as told:
        InstructorModel("openai/x", retries=0).ask(Fact, "", "")
    assert told.value.outcome == "missing_sdk"


@pytest.mark.parametrize("name, sdk", [("openai/a", "openai"), ("anthropic/a", "anthropic")])
def test_a_package_that_is_really_not_there_is_named_in_one_line(name: str, sdk: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, name, sdk],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == (
        f"missing_sdk {name}: {sdk} is not installed; run pip install 'engramdown[{sdk}]'"
    )
    assert done.stderr == ""


WITHOUT: Final = """
import sys
from importlib.abc import MetaPathFinder

name = sys.argv[1]

class Uninstalled(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in {"openai", "anthropic"}:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

sys.meta_path.insert(0, Uninstalled())

from pydantic import BaseModel
from engramdown.models.provider import InstructorModel
from engramdown.errors import ModelError

class Said(BaseModel):
    text: str

try:
    InstructorModel(name, "http://127.0.0.1:9/v1").ask(Said, "", "")
except ModelError as error:
    print(error.outcome, error)
"""
