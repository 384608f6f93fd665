"""`regard score`: log probabilities and perplexity of given translations or texts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, Ensemble, Json, Precision, Quantize, Quiet, Run, Threads


def score(
    run: Run,
    source: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File of source sentences or texts, one per line (.gz too)."),
    ],
    target: Annotated[
        str | None,
        typer.Argument(metavar="[TARGET]", help="Translators: file of the translations, aligned line by line."),
    ] = None,
    inline: Annotated[bool, typer.Option("--inline", help="Treat the arguments as texts, not files.")] = False,
    as_one_text: Annotated[
        bool, typer.Option("--as-one-text", help="Language models: score FILE as one text, not line by line.")
    ] = False,
    stride: Annotated[
        int | None,
        typer.Option(
            min=1, help="Language models: stride in tokens between windows of a long text (default: half a window)."
        ),
    ] = None,
    alternatives: Annotated[
        int, typer.Option(min=0, help="Language models, with --json: most probable tokens to list at each position.")
    ] = 0,
    score_eos: Annotated[
        bool, typer.Option("--score-eos", help="Language models: include the EOS token of each text.")
    ] = False,
    ensemble: Ensemble = None,
    device: Device = None,
    precision: Precision = "fp32",
    quantize: Quantize = "none",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score translations or texts: log probability and perplexity of each, and of each token with --json."""
    from regard.cli.console import progress
    from regard.errors import ConfigError
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.language_model.quantization import weights_cost
    from regard.tasks.load import load
    from regard.tasks.translate.pipeline import Translator
    from regard.training.device.machine import use_threads

    use_threads(threads)
    if alternatives and not json:
        raise ConfigError(f"--alternatives {alternatives} needs --json; add it, or leave out --alternatives.")
    pipeline = load(run, device or "auto", ensemble=ensemble or (), precision=precision, quantize=quantize)
    if isinstance(pipeline, Translator):
        if target is None:
            raise ConfigError(f"{run}: this is a translator; give a source file and a target file.")
        if stride is not None or alternatives or as_one_text or score_eos:
            raise ConfigError(
                "--stride, --alternatives, --as-one-text and --score-eos are for language models; leave them out."
            )
        _print_pairs(pipeline.score(_pairs(source, target, inline), progress=progress(quiet)), json)
        return
    if not isinstance(pipeline, Generator):
        raise ConfigError(
            f"{run}: this is neither a translator nor a language model, so texts have no probability; "
            "use regard evaluate."
        )
    if target is not None:
        raise ConfigError(f"{run}: this is a language model, not a translator; leave out TARGET.")
    texts = _given(source) if inline else _texts(Path(source), as_one_text)
    scores = pipeline.score(
        texts, stride=stride, alternatives=alternatives, score_eos=score_eos, progress=progress(quiet)
    )
    cost = None
    if quantize != "none":
        full = pipeline.score(texts, stride=stride, score_eos=score_eos, full=True, progress=progress(quiet))
        cost = weights_cost(*([each.log_probabilities for each in texts] for texts in (full, scores)))
    _print_texts(scores, cost, json, source if as_one_text and not inline else None)


def _pairs(source: str, target: str, is_text: bool) -> list[Any]:
    from regard.data.sources.pairs import read_aligned

    return [(source, target)] if is_text else list(read_aligned(Path(source), Path(target)))


def _given(text: str) -> list[str]:
    from regard.errors import DataError

    if not text.strip():
        raise DataError(f'"{text}": there is no text to score; give some with --inline.')
    return [text]


def _texts(path: Path, as_one_text: bool) -> list[str]:
    """Return the texts of a file: its lines, or all of it."""
    from regard.data.sources.lines import read_lines, read_text
    from regard.errors import DataError

    texts = [read_text(path)] if as_one_text else read_lines(path)
    if not any(text.strip() for text in texts):
        raise DataError(f"{path}: there is no text to score; write one text per line.")
    return texts


def _print_pairs(scores: list[Any], json: bool) -> None:
    from regard.cli.console import print_json, print_line, print_table
    from regard.metrics.perplexity import perplexity

    total = sum(each.log_probability for each in scores)
    count = sum(len(each.tokens) for each in scores)
    if json:
        names = ("source", "target", "log_probability", "perplexity", "tokens", "log_probabilities")
        sentences = [{name: getattr(each, name) for name in names} for each in scores]
        print_json(
            {"log_probability": total, "tokens": count, "perplexity": perplexity(scores), "sentences": sentences}
        )
        return
    rows = [
        (f"{each.log_probability:.4f}", str(len(each.tokens)), f"{each.perplexity:.2f}", each.target)
        for each in scores
    ]
    print_table(("log probability", "tokens", "perplexity", "target"), rows, right=[0, 1, 2])
    print_line(f"perplexity {perplexity(scores):.4f} over {count:,} tokens, log probability {total:.4f}")


def _print_texts(scores: list[Any], cost: Any, json: bool, name: str | None = None) -> None:
    """Print the metrics of each text and of all; `name` replaces the text where a file is one text."""
    from regard.cli.console import print_json, print_line, print_table
    from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity

    metrics = {
        "log_probability": sum(each.log_probability for each in scores),
        "tokens": sum(len(each.tokens) for each in scores),
        "perplexity": perplexity(scores),
        "word_perplexity": word_perplexity(scores),
        "bits_per_byte": bits_per_byte(scores),
    }
    if json:
        names = ("text", *(name for name in metrics if name != "tokens"), "tokens", "ids", "log_probabilities")
        texts = [
            {name: getattr(each, name) for name in names}
            | ({"alternatives": each.alternatives} if each.alternatives else {})
            for each in scores
        ]
        print_json(metrics | ({} if cost is None else {"weights_cost": cost.plain()}) | {"texts": texts})
        return
    rows = [
        (
            f"{each.log_probability:.4f}",
            str(len(each.tokens)),
            f"{each.perplexity:.2f}" if each.tokens else "-",
            name or " ".join(each.text.split()),
        )
        for each in scores
    ]
    print_table(("log probability", "tokens", "perplexity", "text"), rows, right=[0, 1, 2])
    print_line(
        f"perplexity {metrics['perplexity']:.4f} over {metrics['tokens']:,} tokens, word perplexity "
        f"{metrics['word_perplexity']:.4f}, {metrics['bits_per_byte']:.4f} bits per byte, "
        f"log probability {metrics['log_probability']:.4f}"
    )
    if cost is not None:
        print_line(str(cost))
