"""How long fuzz tests look: a few examples in `make test`, as many as there is time for in `make fuzz`."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "30")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="FUZZ_EXAMPLES" not in os.environ,  # `make test` gives the same answer every time
    database=None,
)


@pytest.fixture(autouse=True, scope="package")
def profile():
    """Take the profile for these tests alone."""
    before = settings.get_current_profile_name() if hasattr(settings, "get_current_profile_name") else "default"
    settings.load_profile("fuzz")
    yield
    settings.load_profile(before)
