"""`regard inspect`: attention weights, logit lens, and decoding iterations, token by token."""

from typing import Annotated

import typer

from regard.cli.options import JSON, Given, Run, options
from regard.cli.run_options import MACHINE, load_model
from regard.errors import ConfigError
from regard.inspection.settings import InspectOptions


@options(JSON, InspectOptions, *MACHINE)
def inspect(
    given: Given,
    run: Run,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT [SECOND]", help="Text; then a target, or the second of a pair."),
    ],
) -> None:
    """Show attention weights: the tokens with the largest weights for each token.

    With --json, print the weights of all heads of the layer. Rows are output tokens for cross-attention, input tokens
    otherwise; a translator attends over its own output unless a target is given. --logit-lens shows the predictions
    of each block of a GPT or BERT instead, --iterations the successive outputs of a mask-predict model.
    """
    from regard.tasks.inspection import view_of

    chosen = given.settings(InspectOptions)
    if chosen.iterations is not None and len(texts) > 1:
        raise ConfigError("--iterations shows the decoding of a translation; leave out the target.")
    view = view_of(load_model(run, given), run, texts, chosen)
    if chosen.out is not None:
        view.plot(chosen.out)
    given.show(view.to_dict(), view.table() if chosen.out is None else f"plotted: {chosen.out}", indent=None)
