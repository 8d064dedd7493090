"""What the tests of importers share with those of a cortex: a project, and a cortex over it."""

from __future__ import annotations

from tests.cortex.conftest import cortex, person, project  # noqa: F401 - they are fixtures
