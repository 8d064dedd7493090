"""Embedders: they turn texts into vectors; a setting names one.

An endpoint that speaks OpenAI's protocol gets the texts and the key in the environment that belongs
to it; redirects are not followed, and a failure is one line. Two libraries run locally; they are
imported, and their models loaded, with the first text.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

from engramdown.errors import MALFORMED

# The environment variable with the key.
KEY: Final = "ENGRAMDOWN_EMBEDDINGS_KEY"
_OPENAI_KEY: Final = "OPENAI_API_KEY"
_OPENAI_HOST: Final = "api.openai.com"
_LARGEST: Final = 256 * 1024 * 1024
_PIECE: Final = 64 * 1024
_SHOWN: Final = 200
_OPENAI: Final = "https://api.openai.com/v1"
_SETTING: Final = re.compile(
    r"(?P<kind>openai|fastembed|sentence-transformers):(?P<model>.+?)(?:@(?P<url>https?://\S+))?"
)


class EmbeddingError(Exception):
    """Embeddings cannot be used for this question; the message says why, in one line."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: The model, and anything else that its vectors depend on: vectors of different names
            are never compared.
    """

    @property
    def name(self) -> str:
        """The model."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, all of one length; after an error recall uses words only."""
        ...


def open_embedder(setting: str, seconds: float) -> Embedder:
    """Return the embedder that ``setting`` names.

    Args:
        setting: ``openai:MODEL``, with ``@URL`` for another endpoint that speaks the same
            protocol, ``fastembed:MODEL`` or ``sentence-transformers:MODEL``.
        seconds: How long an endpoint may take.

    Raises:
        EmbeddingError: If it names none.
    """
    match = _SETTING.fullmatch(setting)
    if match is None:
        raise EmbeddingError(f"{setting!r} names no embedder; use openai:MODEL or fastembed:MODEL")
    if match["kind"] == "openai":
        return Endpoint(match["model"], match["url"] or _OPENAI, seconds)
    return LocalModel(match["kind"], setting.partition(":")[2])


class Endpoint:
    """Any endpoint with ``POST <url>/embeddings``."""

    def __init__(self, model: str, url: str, seconds: float) -> None:
        """Ask ``url`` for vectors of ``model``; an answer may take ``seconds``."""
        self.name = f"openai:{model}@{url}"
        self._model = model
        self._url = f"{url.rstrip('/')}/embeddings"
        self._seconds = seconds

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text.

        Raises:
            EmbeddingError: If the endpoint refuses, or answers something else.
            OSError: If it cannot be reached.
        """
        # Imported here: they load half of the network.
        from urllib.error import HTTPError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stays(HTTPRedirectHandler):
            """Sends texts and keys only where a person wanted them."""

            def redirect_request(self, *_: object) -> None:
                """Follow no redirect."""

        body_sent = json.dumps({"model": self._model, "input": list(texts)}).encode()
        headers = {"Content-Type": "application/json", **_authorization(self._url)}
        request = Request(self._url, body_sent, headers)  # noqa: S310 - the setting allows http(s) only
        until = time.monotonic() + self._seconds
        try:
            with build_opener(Stays).open(request, timeout=self._seconds) as answer:
                body = _body(answer, until)
        except HTTPError as error:
            with error:
                raise EmbeddingError(_refusal(self._url, error.code, error.read(_PIECE))) from None
        try:
            data = json.loads(body)["data"]
            vectors = {int(item["index"]): list(item["embedding"]) for item in data}
        except MALFORMED:
            raise EmbeddingError("the endpoint answered without embeddings") from None
        if sorted(vectors) != list(range(len(texts))):
            numbers = f"{len(vectors)} embeddings for {len(texts)} texts"
            raise EmbeddingError(f"the endpoint answered {numbers}")
        return [vectors[place] for place in range(len(texts))]


def _authorization(url: str) -> dict[str, str]:
    """Return the header with the key; OpenAI's own key goes to OpenAI only."""
    key = os.environ.get(KEY, "")
    if not key and urlsplit(url).hostname == _OPENAI_HOST:
        key = os.environ.get(_OPENAI_KEY, "")
        if not key:
            raise EmbeddingError(f"there is no key; set {_OPENAI_KEY} or {KEY}")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(answer: Any, until: float) -> bytes:  # noqa: ANN401 - what urllib opens has no type
    """Read an answer, which must be complete by ``until`` however slowly it arrives."""
    body = bytearray()
    while piece := answer.read1(_PIECE):
        body += piece
        if len(body) > _LARGEST:
            raise EmbeddingError("the answer is too large")
        if time.monotonic() > until:
            raise EmbeddingError("the answer takes too long")
    return bytes(body)


def _refusal(url: str, code: int, body: bytes) -> str:
    """Return the words of a refusal without secrets: they may quote the key."""
    from engramdown.secrets.redaction import redact

    try:
        said = json.loads(body)["error"]["message"]
    except MALFORMED:
        said = ""
    host = urlsplit(url).netloc.rpartition("@")[2]
    reason = " ".join(redact(str(said)).split())[:_SHOWN]
    return f"{host} answered {code}{f': {reason}' if reason else ''}"


class LocalModel:
    """A model of fastembed or sentence-transformers, which runs locally."""

    def __init__(self, library: str, model: str) -> None:
        """Use ``model``, which is loaded, and perhaps downloaded, with the first text."""
        self.name = f"{library}:{model}"
        self._library = library
        self._model = model
        self._embed: Callable[..., Any] | None = None

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        if self._embed is None and self._library == "fastembed":
            self._embed = _imported("fastembed", "embeddings").TextEmbedding(self._model).embed
        elif self._embed is None:
            library = _imported("sentence_transformers", "sentence-transformers")
            encode = library.SentenceTransformer(self._model).encode
            self._embed = partial(encode, show_progress_bar=False)
        return [[float(one) for one in vector] for vector in self._embed(list(texts))]


def _imported(module: str, extra: str) -> Any:  # noqa: ANN401 - a module that may not be there
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name != module:
            raise
        how = f"run pip install 'engramdown[{extra}]'"
        raise EmbeddingError(f"{module} is not installed; {how}") from None
