"""`regard data`: looking at data before training on it."""

from typing import Annotated

import typer

from regard.cli.options import LARGEST_SEED, Json
from regard.cli.verb import Verbs

app = Verbs(help="Look at data.", no_args_is_help=True)


@app.callback()
def _data() -> None:
    pass


@app.command("miniature")
def miniature(
    count: Annotated[int, typer.Option(min=1, help="How many pairs, stories or examples.")] = 20,
    split: Annotated[
        str,
        typer.Option(
            help="train, valid, test; for pairs also unseen-pairs, unseen-cases, unseen-depth; for entities also "
            "unseen-names."
        ),
    ] = "train",
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Another seed, other sentences; the split stays the split.")
    ] = 0,
    stories: Annotated[
        bool, typer.Option("--stories", help="English stories, with a blank line after each.")
    ] = False,
    set_: Annotated[
        str | None,
        typer.Option(
            "--set",
            help="Examples instead: plots, reviews, opinions, paraphrases, likeness, probes (CSV), entities (CoNLL), "
            "questions (SQuAD JSON), senses (JSON lines); or texts: stories, news, retellings, mixed.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print sentence pairs of the embedded miniature world, German TAB English, or stories, or examples for a task.

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
