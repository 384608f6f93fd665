"""`regard inspect`: what a model looks at, or would say, token by token."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, Json, Run, Threads


def inspect(
    run: Run,
    text: Annotated[str, typer.Argument(help="The text to read, or the sentence to translate.")],
    second: Annotated[
        str | None,
        typer.Argument(help="A translation to look at (unset: the model's own), or the second text of a pair."),
    ] = None,
    attention: Annotated[
        str | None,
        typer.Option(help="cross, encoder or decoder of a translator, self of others; unset: the first there is."),
    ] = None,
    layer: Annotated[int, typer.Option(help="Which layer, from 0; -1 is the last.")] = -1,
    head: Annotated[int | None, typer.Option(help="Which head, from 0; unset: the mean of all.")] = None,
    logit_lens: Annotated[
        bool, typer.Option("--logit-lens", help="What each block would say if it were the last (logit lens).")
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="What a mask-predict model says in each of so many passes over the whole output."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Tokens to list in each place.")] = 3,
    out: Annotated[
        Path | None,
        typer.Option(help="Draw the weights into this .png, .svg or .pdf: every head, or the one chosen."),
    ] = None,
    device: Device = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Show what a model looks at: for each token those with the largest attention weights.

    With --json, the weights of all heads of the layer. A translator's rows are the words it says; those of other
    models the tokens they read. Take --logit-lens to see what GPT or BERT would say from block to block, and
    --iterations to see how a mask-predict model goes over its output again and again.
    """
    from regard.cli.console import print_line
    from regard.errors import ConfigError
    from regard.runs.reports.attention import draw_looks, looks
    from regard.tasks.translate.mask_predict import MaskPredictTranslator
    from regard.training.device.machine import use_threads

    for name, is_given in (("logit-lens", logit_lens), ("iterations", iterations is not None)):
        if is_given and (out or attention or head is not None):
            raise ConfigError(f"--{name} shows words, not weights; leave out --out, --attention and --head.")
    if iterations is not None and (logit_lens or second is not None):
        raise ConfigError(
            "--iterations shows how a translation comes about; leave out --logit-lens and a translation."
        )
    use_threads(threads)
    model = _load(run, device, second is not None, logit_lens)
    if iterations is not None:
        if not isinstance(model, MaskPredictTranslator):
            raise ConfigError(
                f"{run}: only a mask-predict model goes over its output in passes; leave out --iterations."
            )
        _print_passes(model.inspect(text, iterations=iterations), json)
        return
    texts = (text,) if second is None else (text, second)
    if logit_lens:
        _print_lens(model.logit_lens(*texts, count=top), model.tokenizer, json)
        return
    found = looks(model.inspect(*texts), attention, layer, not isinstance(model, MaskPredictTranslator))
    if out is not None:
        every = range(len(found.weights)) if head is None and len(found.weights) > 1 else [head]
        draw_looks(found, [*every], out)
    if json:
        _print_weights(found, head)
    elif out is not None:
        print_line(f"drawn: {out}")
    else:
        _print_looks(found, head, top)


def _load(run: str, device: str | None, has_second: bool, logit_lens: bool) -> Any:
    """Return a model that can be looked at in the way that is asked for."""
    from regard.errors import ConfigError
    from regard.pipelines.encoder import Encoder
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.load import load
    from regard.tasks.translate.pipeline import Translator

    model = load(run, device=device or "auto")
    if not isinstance(model, Encoder | Generator | Translator):
        raise ConfigError(
            f"{run}: there is nothing to look at here yet; give a translator, a language model or BERT."
        )
    if has_second and isinstance(model, Generator):
        raise ConfigError("A language model reads one text; leave out the second.")
    if logit_lens and isinstance(model, Translator):
        raise ConfigError(f"{run}: a translator has no lens; give a language model or BERT.")
    return model


def _print_weights(found: Any, head: int | None) -> None:
    """Print the weights of all heads of a layer, or of the one chosen."""
    from regard.cli.console import print_json

    weights = found.weights if head is None else found.of_head(head)[None]
    facts = {"attention": found.kind, "layer": found.layer, "layers": found.layers, "head": head}
    tokens = {"queries": found.queries, "keys": found.keys}
    print_json(facts | tokens | {"weights": weights.round(6).tolist()}, indent=None)


def _print_looks(found: Any, head: int | None, top: int) -> None:
    """Print what each token looked at most."""
    from regard.cli.console import print_table

    rows = [
        (query, *(f"{key} {weight:.2f}" for key, weight in row))
        for query, row in zip(found.queries, found.strongest(head, top), strict=True)
    ]
    places = min(top, len(found.keys))
    print_table(("said" if found.kind == "cross" else "token", "looks at", *[""] * (places - 1)), rows)


def _print_passes(trace: Any, json: bool) -> None:
    """Print what each pass says in every place, and how sure it is; what it found there already is in brackets."""
    from regard.cli.console import print_json, print_table

    names = [f"passes.{number}" for number in range(sum(name.startswith("passes.") for name in trace.tokens))]
    said = [
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
        print_json({"source": trace.tokens["source"], "iterations": said, **lengths}, indent=None)
        return
    rows = [
        (
            str(number),
            *(
                f"{token} {chance:.2f}" if is_new else f"({token} {chance:.2f})"
                for token, chance, is_new in zip(*each.values(), strict=True)
            ),
        )
        for number, each in enumerate(said, start=1)
    ]
    places = len(rows[0]) - 2
    print_table(("pass", "says (in brackets: what stays)", *[""] * places), rows)


def _print_lens(trace: Any, tokenizer: Any, json: bool) -> None:
    """Print what each block would say behind (GPT) or in the place of (BERT) every token."""
    from regard.cli.console import print_json, print_table

    text = trace.tokens["text"]
    blocks = sum(name.endswith(".ids") for name in trace.arrays)
    if not json:
        names = [f"blocks.{number}" for number in range(blocks)]
        best = [trace.tokens[name] for name in names]
        chance = [trace.arrays[f"{name}.probabilities"][:, 0] for name in names]
        rows = [
            (token, *(f"{said[place]} {share[place]:.2f}" for said, share in zip(best, chance, strict=True)))
            for place, token in enumerate(text)
        ]
        print_table(("token", *(f"block {number}" for number in range(blocks))), rows)
        return
    found = []
    for number in range(blocks):
        ids, shares = (trace.arrays[f"blocks.{number}.{name}"] for name in ("ids", "probabilities"))
        found.append(
            [
                [
                    {"token": piece, "probability": round(float(share), 6)}
                    for piece, share in zip(tokenizer.tokens([int(each) for each in row]), chances, strict=True)
                ]
                for row, chances in zip(ids, shares, strict=True)
            ]
        )
    print_json({"tokens": text, "blocks": found}, indent=None)
