"""`regard data`: the embedded data sets."""

from typing import Annotated

import typer

from regard.cli.options import LARGEST_SEED, Json
from regard.cli.verb import Verbs

app = Verbs(help="Print embedded data sets.", no_args_is_help=True)


@app.callback()
def _data() -> None:
    pass


@app.command("miniature")
def miniature(
    count: Annotated[int, typer.Option(min=1, help="Number of pairs, stories or examples.")] = 20,
    split: Annotated[
        str,
        typer.Option(
            help="Split: train, valid, test; for pairs also unseen-pairs, unseen-cases, unseen-depth; for entities "
            "also unseen-names."
        ),
    ] = "train",
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Random seed; splits are disjoint for all seeds.")
    ] = 0,
    stories: Annotated[
        bool, typer.Option("--stories", help="Print English stories, with a blank line after each.")
    ] = False,
    set_: Annotated[
        str | None,
        typer.Option(
            "--set",
            help="Data set: plots, reviews, opinions, paraphrases, likeness, probes (CSV), entities (CoNLL), "
            "questions (SQuAD JSON), senses (JSON lines), or raw text: stories, news, retellings, mixed "
            "(default: sentence pairs).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print data of the embedded miniature world: sentence pairs (German TAB English), stories, or labeled examples.

    Examples: regard data miniature --set reviews --count 1000 > reviews.csv · regard data miniature --set entities
    """
    from regard.cli.console import print_json, print_line
    from regard.miniature import documents, pairs
    from regard.miniature.export import exported

    if set_ is not None:
        for line in exported(set_, split, count, seed, as_rows=json):
            print_line(line)
        return
    if stories:
        for text in documents(split, count, seed):
            if json:
                print_json({"text": text}, indent=None)
            else:
                print_line(f"{text}\n")
        return
    for pair in pairs(split, count, seed):
        if json:
            print_json(pair._asdict(), indent=None)
        else:
            print_line(f"{pair.source}\t{pair.target}")
