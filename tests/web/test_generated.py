"""Requests that are made up from the description of the API are answered as it says."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.python.asgi import get_client
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.web.conftest import HERE

# What never ends, and what takes the key away that the test shows.
_LEFT_OUT: Final = "^/v1/(events|keys)"
_EXAMPLES: Final = 5
# That a day exists, or a topic is a name, no schema can say; keys have a test of their own.
_BEYOND: Final = [positive_data_acceptance, ignored_auth]


@pytest.mark.slow
def test_whatever_is_asked_the_answer_is_as_described(
    cortex: Cortex, person: TestClient, person_key: str
) -> None:
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    document = person.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document).exclude(path_regex=_LEFT_OUT)
    wrong: list[str] = []
    app: Any = person.app
    with get_client(app) as client:
        client.headers["Authorization"] = f"Bearer {person_key}"
        found = schema.get_all_operations()
        operations = [each.ok() for each in found if isinstance(each, Ok)]
        for operation, mode in product(operations, GenerationMode):

            @seed(17)
            @settings(
                max_examples=_EXAMPLES,
                deadline=None,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=[*HealthCheck],
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Case[Any]) -> None:
                answer = case.call(base_url=HERE, session=client)
                case.validate_response(
                    answer, excluded_checks=_BEYOND, headers=dict(client.headers)
                )

            # What takes nothing cannot be asked wrongly.
            try:
                with suppress(Unsatisfiable):
                    ask()
            except (AssertionError, BaseExceptionGroup) as error:
                wrong.append(f"{operation.label}, {mode.value}: {error}")
    assert not wrong, "\n\n".join(wrong)
