"""`regard score`: how probable given translations are."""

from typing import Annotated, Any

import typer

from regard.cli.options import Device, Ensemble, Json, Precision, Quiet, Run, Threads


def score(
    run: Run,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="File with one source sentence a line (.gz too).")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="File with the translations, line by line.")],
    text: Annotated[bool, typer.Option("--text", help="SOURCE and TARGET are sentences, not files.")] = False,
    ensemble: Ensemble = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score translations: log probability of each sentence and, with --json, of each token; perplexity of all."""
    from pathlib import Path

    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.data.readers import read_aligned
    from regard.pipelines import load, perplexity
    from regard.training import use_threads

    use_threads(threads)
    pairs = [(source, target)] if text else read_aligned(Path(source), Path(target))
    translator = load(run, device or "auto", ensemble=ensemble or (), precision=precision)
    found = translator.score(pairs, progress=progress(quiet))
    total = sum(each.log_probability for each in found)
    count = sum(len(each.tokens) for each in found)
    if json:
        sentences: list[dict[str, Any]] = [
            {
                "source": each.source,
                "target": each.target,
                "log_probability": each.log_probability,
                "perplexity": each.perplexity,
                "tokens": each.tokens,
                "log_probabilities": each.log_probabilities,
            }
            for each in found
        ]
        print_json(
            {"log_probability": total, "tokens": count, "perplexity": perplexity(found), "sentences": sentences}
        )
        return
    rows = [
        (f"{each.log_probability:.4f}", str(len(each.tokens)), f"{each.perplexity:.2f}", each.target)
        for each in found
    ]
    print_table(("log probability", "tokens", "perplexity", "target"), rows, right=[0, 1, 2])
    print_line(f"perplexity {perplexity(found):.4f} over {count:,} tokens, log probability {total:.4f}")
