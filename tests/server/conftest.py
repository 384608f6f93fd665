import pytest

from served_models import write_generator, write_translator


@pytest.fixture(scope="session")
def translator(made_once):
    """The folder of an untrained translator."""
    return made_once("served-translator", write_translator)


@pytest.fixture(scope="session")
def generator(made_once):
    """The folder of an untrained language model that never ends by itself."""
    return made_once("served-generator", write_generator)
