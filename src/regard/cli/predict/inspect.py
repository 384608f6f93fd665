"""`regard inspect`: attention weights, logit lens, and decoding iterations, token by token."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, Json, Run, Threads


def inspect(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Input text, or source sentence of a translator.")],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[SECOND]",
            help="Target of a translator (default: the model's own output), or second text of a pair.",
        ),
    ] = None,
    attention: Annotated[
        str | None,
        typer.Option(
            help="Attention: cross, encoder or decoder of a translator, self of other models (default: the first of "
            "these that the model has)."
        ),
    ] = None,
    layer: Annotated[int, typer.Option(help="Layer index from 0; -1 for the last.")] = -1,
    head: Annotated[int | None, typer.Option(help="Head index from 0 (default: the mean of all heads).")] = None,
    logit_lens: Annotated[
        bool, typer.Option("--logit-lens", help="Show each block's token predictions (logit lens; GPT and BERT).")
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Show the output of this many decoding iterations (mask-predict models)."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Tokens to list per position.")] = 3,
    out: Annotated[
        Path | None,
        typer.Option(help="Plot the weights to this .png, .svg or .pdf: all heads, or the one of --head."),
    ] = None,
    device: Device = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Show attention weights: for each token, the tokens with the largest weights.

    With --json, print the weights of all heads of the layer. Rows are output tokens for cross-attention, input tokens
    otherwise. --logit-lens shows the predictions of each block of a GPT or BERT instead, --iterations the successive
    outputs of a mask-predict model.
    """
    from regard.cli.console import print_line
    from regard.errors import ConfigError
    from regard.tasks.translate.mask_predict import MaskPredictTranslator
    from regard.training.device.machine import use_threads

    for name, is_given in (("logit-lens", logit_lens), ("iterations", iterations is not None)):
        if is_given and (out or attention or head is not None):
            raise ConfigError(f"--{name} shows tokens, not weights; leave out --out, --attention and --head.")
    if iterations is not None and (logit_lens or second is not None):
        raise ConfigError("--iterations shows the decoding of a translation; leave out --logit-lens and the target.")
    use_threads(threads)
    model = _load(run, device, second is not None, logit_lens)
    if iterations is not None:
        if not isinstance(model, MaskPredictTranslator):
            raise ConfigError(f"{run}: only a mask-predict model decodes in iterations; leave out --iterations.")
        _print_iterations(model.inspect(text, iterations=iterations), json)
        return
    texts = (text,) if second is None else (text, second)
    if logit_lens:
        _print_lens(model.logit_lens(*texts, count=top), model.tokenizer, json)
        return
    layer_weights = model.inspect(*texts).layer(attention, layer)
    if out is not None:
        count = len(layer_weights.weights)
        layer_weights.plot([*(range(count) if head is None and count > 1 else [head])], out)
    if json:
        _print_weights(layer_weights, head)
    elif out is not None:
        print_line(f"plotted: {out}")
    else:
        _print_strongest(layer_weights, head, top)


def _load(run: str, device: str | None, has_second: bool, logit_lens: bool) -> Any:
    """Return the model, if it supports the requested view."""
    from regard.errors import ConfigError
    from regard.pipelines.encoder import Encoder
    from regard.tasks.contract import find_task
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.load import load

    model = load(run, device=device or "auto")
    if has_second and isinstance(model, Generator):
        raise ConfigError("A language model takes one text; leave out the second.")
    if logit_lens and not isinstance(model, Encoder | Generator):
        noun = find_task(model.bundle.task).wording.noun
        raise ConfigError(f"{run}: {noun} has no logit lens; give a language model or BERT.")
    return model


def _print_weights(layer: Any, head: int | None) -> None:
    """Print the weights of all heads of a layer, or of one head, as JSON."""
    from regard.cli.console import print_json

    weights = layer.weights if head is None else layer.head_weights(head)[None]
    facts = {"attention": layer.kind, "layer": layer.layer, "layers": layer.layers, "head": head}
    tokens = {"queries": layer.queries, "keys": layer.keys}
    print_json(facts | tokens | {"weights": weights.round(6).tolist()}, indent=None)


def _print_strongest(layer: Any, head: int | None, top: int) -> None:
    """Print the keys with the largest weights for each query."""
    from regard.cli.console import print_table

    rows = [
        (query, *(f"{key} {weight:.2f}" for key, weight in row))
        for query, row in zip(layer.queries, layer.strongest(head, top), strict=True)
    ]
    columns = min(top, len(layer.keys))
    print_table(("output" if layer.kind == "cross" else "token", "attends to", *[""] * (columns - 1)), rows)


def _print_iterations(trace: Any, json: bool) -> None:
    """Print the token and its probability at every position after each iteration; unchanged ones in brackets."""
    from regard.cli.console import print_json, print_table

    names = [f"passes.{number}" for number in range(sum(name.startswith("passes.") for name in trace.tokens))]
    outputs = [
        {
            "tokens": trace.tokens[name],
            "probabilities": [round(float(each), 6) for each in trace.arrays[f"{name}.probabilities"]],
            "is_filled_in": [bool(each) for each in trace.arrays[f"{name}.masked"]],
        }
        for name in names
    ]
    if json:
        lengths = {
            name: [round(float(each), 6) for each in trace.arrays[key]]
            for name, key in (("lengths", "lengths"), ("length_probabilities", "lengths.probabilities"))
        }
        print_json({"source": trace.tokens["source"], "iterations": outputs, **lengths}, indent=None)
        return
    rows = [
        (
            str(number),
            *(
                f"{token} {probability:.2f}" if is_new else f"({token} {probability:.2f})"
                for token, probability, is_new in zip(*each.values(), strict=True)
            ),
        )
        for number, each in enumerate(outputs, start=1)
    ]
    columns = len(rows[0]) - 2
    print_table(("iteration", "output (in brackets: unchanged)", *[""] * columns), rows)


def _print_lens(trace: Any, tokenizer: Any, json: bool) -> None:
    """Print each block's prediction after (GPT) or at (BERT) every token."""
    from regard.cli.console import print_json, print_table

    text = trace.tokens["text"]
    blocks = sum(name.endswith(".ids") for name in trace.arrays)
    if not json:
        names = [f"blocks.{number}" for number in range(blocks)]
        best = [trace.tokens[name] for name in names]
        probabilities = [trace.arrays[f"{name}.probabilities"][:, 0] for name in names]
        rows = [
            (token, *(f"{top[index]} {values[index]:.2f}" for top, values in zip(best, probabilities, strict=True)))
            for index, token in enumerate(text)
        ]
        print_table(("token", *(f"block {number}" for number in range(blocks))), rows)
        return
    predictions = []
    for number in range(blocks):
        ids, values = (trace.arrays[f"blocks.{number}.{name}"] for name in ("ids", "probabilities"))
        predictions.append(
            [
                [
                    {"token": token, "probability": round(float(value), 6)}
                    for token, value in zip(tokenizer.tokens([int(each) for each in row]), row_values, strict=True)
                ]
                for row, row_values in zip(ids, values, strict=True)
            ]
        )
    print_json({"tokens": text, "blocks": predictions}, indent=None)
