"""`regard predict`: the verb of any model's first operation."""

from regard.cli.options import Inputs, Run
from regard.errors import ConfigError


def predict(
    run: Run,
    inputs: Inputs = None,
) -> None:
    """Use any model by its task; `regard predict RUN --help` shows its options.

    RUN comes first; everything after it goes to the verb of the model's task, whose options and output it has.
    """
    raise ConfigError(f"{run}: name the model right after predict, then its inputs and options.")
