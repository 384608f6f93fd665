"""`regard score`: how probable given translations or texts are."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, Ensemble, Json, Precision, Quantize, Quiet, Run, Threads


def score(
    run: Run,
    source: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File with one source sentence a line (.gz too); one text a line."),
    ],
    target: Annotated[
        str | None,
        typer.Argument(metavar="[TARGET]", help="For translators: file with the translations, line by line."),
    ] = None,
    inline: Annotated[bool, typer.Option("--inline", help="What is given are sentences, not files.")] = False,
    as_one_text: Annotated[
        bool, typer.Option("--as-one-text", help="For language models: FILE is one text, not lines.")
    ] = False,
    stride: Annotated[
        int | None, typer.Option(min=1, help="For language models: tokens between windows of a long text.")
    ] = None,
    alternatives: Annotated[
        int, typer.Option(min=0, help="For language models, with --json: so many tokens at each place.")
    ] = 0,
    score_eos: Annotated[
        bool, typer.Option("--score-eos", help="For language models: the end of each text counts too.")
    ] = False,
    ensemble: Ensemble = None,
    device: Device = None,
    precision: Precision = "fp32",
    quantize: Quantize = "none",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score translations, or texts: log probability of each and, with --json, of each token; perplexity of all."""
    from regard.cli.console import progress
    from regard.errors import ConfigError
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.language_model.quantization import weights_cost
    from regard.tasks.load import load
    from regard.tasks.translate.pipeline import Translator
    from regard.training.device.machine import use_threads

    use_threads(threads)
    if alternatives and not json:
        raise ConfigError(f"--alternatives {alternatives} are listed with --json only; add it, or leave them out.")
    pipeline = load(run, device or "auto", ensemble=ensemble or (), precision=precision, quantize=quantize)
    if isinstance(pipeline, Translator):
        if target is None:
            raise ConfigError(f"{run}: this is a translator; give a file of sources and one of translations.")
        if stride is not None or alternatives or as_one_text or score_eos:
            raise ConfigError(
                "--stride, --alternatives, --as-one-text and --score-eos are for language models; leave them out."
            )
        _print_pairs(pipeline.score(_pairs(source, target, inline), progress=progress(quiet)), json)
        return
    if not isinstance(pipeline, Generator):
        raise ConfigError(f"{run}: this model answers, and gives texts no probabilities; see regard evaluate.")
    if target is not None:
        raise ConfigError(f"{run}: this is a language model, which has no translations; give one file of text.")
    texts = _given(source) if inline else _texts(Path(source), as_one_text)
    scores = pipeline.score(texts, stride, alternatives, score_eos=score_eos, progress=progress(quiet))
    cost = None
    if quantize != "none":
        full = pipeline.score(texts, stride, score_eos=score_eos, full=True, progress=progress(quiet))
        cost = weights_cost(*([each.log_probabilities for each in found] for found in (full, scores)))
    _print_texts(scores, cost, json, source if as_one_text and not inline else None)


def _pairs(source: str, target: str, is_text: bool) -> list[Any]:
    from regard.data.sources.pairs import read_aligned

    return [(source, target)] if is_text else list(read_aligned(Path(source), Path(target)))


def _given(text: str) -> list[str]:
    from regard.errors import DataError

    if not text.strip():
        raise DataError(f'"{text}": there are no words here to score; give some after --inline.')
    return [text]


def _texts(path: Path, as_one_text: bool) -> list[str]:
    """Return the texts of a file."""
    from regard.data.sources.lines import read_lines, read_text
    from regard.errors import DataError

    found = [read_text(path)] if as_one_text else read_lines(path)
    if not any(each.strip() for each in found):
        raise DataError(f"{path}: there is no text here to score; write one text a line.")
    return found


def _print_pairs(found: list[Any], json: bool) -> None:
    from regard.cli.console import print_json, print_line, print_table
    from regard.metrics.perplexity import perplexity

    total = sum(each.log_probability for each in found)
    count = sum(len(each.tokens) for each in found)
    if json:
        names = ("source", "target", "log_probability", "perplexity", "tokens", "log_probabilities")
        sentences = [{name: getattr(each, name) for name in names} for each in found]
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


def _print_texts(found: list[Any], cost: Any, json: bool, name: str | None = None) -> None:
    """Print the figures of each text and of all; a whole file is called by its name."""
    from regard.cli.console import print_json, print_line, print_table
    from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity

    figures = {
        "log_probability": sum(each.log_probability for each in found),
        "tokens": sum(len(each.tokens) for each in found),
        "perplexity": perplexity(found),
        "word_perplexity": word_perplexity(found),
        "bits_per_byte": bits_per_byte(found),
    }
    if json:
        names = ("text", *(name for name in figures if name != "tokens"), "tokens", "ids", "log_probabilities")
        texts = [
            {name: getattr(each, name) for name in names}
            | ({"alternatives": each.alternatives} if each.alternatives else {})
            for each in found
        ]
        print_json(figures | ({} if cost is None else {"weights_cost": cost.plain()}) | {"texts": texts})
        return
    rows = [
        (
            f"{each.log_probability:.4f}",
            str(len(each.tokens)),
            f"{each.perplexity:.2f}" if each.tokens else "-",
            name or " ".join(each.text.split()),
        )
        for each in found
    ]
    print_table(("log probability", "tokens", "perplexity", "text"), rows, right=[0, 1, 2])
    print_line(
        f"perplexity {figures['perplexity']:.4f} over {figures['tokens']:,} tokens, by words "
        f"{figures['word_perplexity']:.4f}, {figures['bits_per_byte']:.4f} bits per byte, "
        f"log probability {figures['log_probability']:.4f}"
    )
    if cost is not None:
        print_line(str(cost))
