"""An endpoint is asked as its protocol wants, and what it refuses is told in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType

import pytest

from engramdown.models import embedders
from engramdown.models.embedders import Embedder, EmbeddingError, open_embedder
from tests.episodes.endpoint import Endpoint, FakeEmbedder, serving, vector_of


def embed(url: str, texts: Sequence[str] = ("a boat", "a car"), seconds: float = 5) -> object:
    return open_embedder(f"openai:small@{url}", seconds).embed(texts)


def test_an_endpoint_gives_a_vector_per_text_in_their_order() -> None:
    with serving() as url:
        assert embed(url) == [vector_of("a boat"), vector_of("a car")]
        ((path, _, body),) = Endpoint.seen
    assert path == "/v1/embeddings"
    assert body == {"model": "small", "input": ["a boat", "a car"]}


def test_the_key_of_openai_is_for_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    with serving() as url:
        embed(url)
        monkeypatch.setenv(embedders.KEY, "two")
        embed(url)
        sent = [headers.get("Authorization") for _, headers, _ in Endpoint.seen]
    assert sent == [None, "Bearer two"]


def test_openai_without_a_key_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder = open_embedder("openai:text-embedding-3-small", 5)
    assert embedder.name == "openai:text-embedding-3-small@https://api.openai.com/v1"
    with pytest.raises(
        EmbeddingError, match="there is no key; set OPENAI_API_KEY or ENGRAMDOWN_EMB"
    ):
        embedder.embed(["a"])


@pytest.mark.parametrize("code", ["400", "401", "429", "500"])
def test_a_refusal_names_the_host_and_the_reason_but_no_secret(code: str) -> None:
    with serving(code) as url, pytest.raises(EmbeddingError) as raised:
        embed(url)
    said = str(raised.value)
    assert said.startswith("127.0.0.1:")
    assert f"answered {code}: no {code} " in said
    assert "sk-proj-a1B2" not in said


@pytest.mark.parametrize(
    "mode, said",
    [
        ("malformed", "answered without embeddings"),
        ("no-data", "answered without embeddings"),
        ("few", "answered 1 embeddings for 2 texts"),
        ("redirect", "answered 307"),
    ],
)
def test_an_answer_that_is_none_is_told(mode: str, said: str) -> None:
    with serving(mode) as url, pytest.raises(EmbeddingError, match=said):
        embed(url)
    assert [path for path, _, _ in Endpoint.seen] == ["/v1/embeddings"]


def test_an_answer_that_drips_is_not_waited_for() -> None:
    with serving("drip") as url, pytest.raises(EmbeddingError, match="takes too long"):
        embed(url, seconds=0.3)


def test_an_endpoint_that_is_not_there_is_an_error_of_the_system() -> None:
    with serving() as url:
        pass
    with pytest.raises(OSError, match="refused"):
        embed(url)


def test_an_answer_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "_LARGEST", 10)
    with serving() as url, pytest.raises(EmbeddingError, match="too large"):
        embed(url)


@pytest.mark.parametrize(
    "setting, name",
    [
        ("openai:m@https://h/v1", "openai:m@https://h/v1"),
        ("openai:@cf/baai/bge@http://h:1/v1", "openai:@cf/baai/bge@http://h:1/v1"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
        ("sentence-transformers:all-MiniLM-L6-v2", "sentence-transformers:all-MiniLM-L6-v2"),
    ],
)
def test_a_setting_names_an_embedder(setting: str, name: str) -> None:
    embedder = open_embedder(setting, 5)
    assert isinstance(embedder, Embedder)
    assert embedder.name == name


@pytest.mark.parametrize("setting", ["", "openai:", "cohere:x", "openai"])
def test_a_setting_that_names_none_is_told(setting: str) -> None:
    with pytest.raises(EmbeddingError, match="names no embedder"):
        open_embedder(setting, 5)


@pytest.mark.parametrize(
    "setting, module, extra",
    [
        ("fastembed:x", "fastembed", "embeddings"),
        ("sentence-transformers:x", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_library_that_is_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, setting: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EmbeddingError) as raised:
        open_embedder(setting, 5).embed(["a"])
    assert str(raised.value) == (
        f"{module} is not installed; run pip install 'engramdown[{extra}]'"
    )


def test_a_library_is_loaded_once_and_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class TextEmbedding:
        def __init__(self, model_name: str) -> None:
            loaded.append(model_name)

        def embed(self, documents: list[str]) -> Iterator[tuple[float, ...]]:
            yield from (tuple(vector_of(text)) for text in documents)

    class SentenceTransformer:
        def __init__(self, model_name_or_path: str) -> None:
            loaded.append(model_name_or_path)

        def encode(self, sentences: list[str], *, show_progress_bar: bool) -> list[list[float]]:
            assert not show_progress_bar
            return [vector_of(text) for text in sentences]

    for name, kind in (
        ("fastembed", TextEmbedding),
        ("sentence_transformers", SentenceTransformer),
    ):
        module = ModuleType(name)
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, name, module)
    for setting in ("fastembed:x", "sentence-transformers:y"):
        embedder = open_embedder(setting, 5)
        for _ in range(2):
            assert embedder.embed(["a boat"]) == [vector_of("a boat")]
    assert loaded == ["x", "y"]


def test_a_library_that_is_broken_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with open(f"{tmp_path}/fastembed.py", "w", encoding="utf-8") as file:  # noqa: PTH123 - short
        file.write("import no_such_module_at_all\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        open_embedder("fastembed:x", 5).embed(["a"])


def test_the_fake_of_these_tests_is_an_embedder() -> None:
    assert isinstance(FakeEmbedder(), Embedder)
