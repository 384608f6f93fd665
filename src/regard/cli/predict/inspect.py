"""`regard inspect`: attention weights, logit lens, and decoding iterations, token by token."""

from typing import Annotated, Any

import typer

from regard.cli.console import print_json, print_line, print_table
from regard.cli.loading import load_model
from regard.cli.options import NOTHING, Given, Json, Run, flags_of, options
from regard.cli.run_options import MACHINE
from regard.errors import ConfigError
from regard.inspection.settings import InspectOptions


@options(*flags_of(InspectOptions, shows_defaults=True), *MACHINE)
def inspect(
    run: Run,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT [SECOND]", help="Text; then a target, or the second of a pair."),
    ],
    given: Given = NOTHING,
    json: Json = False,
) -> None:
    """Show attention weights: the tokens with the largest weights for each token.

    With --json, print the weights of all heads of the layer. Rows are output tokens for cross-attention, input tokens
    otherwise; a translator attends over its own output unless a target is given. --logit-lens shows the predictions
    of each block of a GPT or BERT instead, --iterations the successive outputs of a mask-predict model.
    """
    from regard.inspection.views import WeightsView

    chosen = given.settings(InspectOptions)
    if chosen.iterations is not None and len(texts) > 1:
        raise ConfigError("--iterations shows the decoding of a translation; leave out the target.")
    model = load_model(run, given)
    view = _view(model, run, _row(model, texts), chosen)
    if isinstance(view, WeightsView) and chosen.out is not None:
        count = len(view.layer.weights)
        view.layer.plot([*(range(count) if chosen.head is None and count > 1 else [chosen.head])], chosen.out)
    if json:
        print_json(view.to_dict(), indent=None)
    elif chosen.out is not None:
        print_line(f"plotted: {chosen.out}")
    else:
        print_table(*view.table())


def _row(model: Any, texts: list[str]) -> list[Any]:
    """Return the fields of a row of the model; where the last one is a list, all further texts."""
    from regard.config.schema import fields_of

    last = next((each for each in fields_of(model.row) if each.name == model.inputs[-1]), None)
    if last is not None and last.is_list:
        return [texts[0], texts[1:]]
    if len(texts) > 2:
        raise ConfigError(f"{len(texts)} texts were given; give one, or two for a pair.")
    return list(texts)


def _view(model: Any, run: str, texts: list[Any], chosen: InspectOptions) -> Any:
    """Return the view of a forward pass, if the model supports it."""
    from regard.inspection.views import IterationsView, LensView, WeightsView
    from regard.pipelines.encoder import Encoder
    from regard.tasks.contract import find_task
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.translate.mask_predict import MaskPredictTranslator

    noun = find_task(model.task).wording.noun
    if len(texts) > 1 and isinstance(model, Generator):
        raise ConfigError("A language model takes one text; leave out the second.")
    if chosen.logit_lens:
        if not isinstance(model, Encoder | Generator):
            raise ConfigError(f"{run}: {noun} has no logit lens; give a language model or BERT.")
        texts_and_count: dict[str, Any] = dict(zip(("text", "second"), texts)) | {"count": chosen.top}
        return LensView(model.logit_lens(**texts_and_count), model.tokenizer.tokens)
    if chosen.iterations is not None:
        if not isinstance(model, MaskPredictTranslator):
            raise ConfigError(f"{run}: only a mask-predict model decodes in iterations; leave out --iterations.")
        return IterationsView(model.inspect(*texts, iterations=chosen.iterations))
    return WeightsView(model.inspect(*texts).layer(chosen.attention, chosen.layer), chosen.head, chosen.top)
