"""`regard bleu`: BLEU, and the counts it is computed from."""

from typing import Annotated

import typer

from regard.cli.options import Json


def bleu(
    hypothesis: Annotated[str, typer.Argument(metavar="HYP", help="File of hypotheses, one per line.")],
    references: Annotated[list[str], typer.Argument(metavar="REF...", help="Files of references, one per line.")],
    text: Annotated[bool, typer.Option("--inline", help="Treat HYP and REF as sentences, not files.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show n-gram counts, precisions and the brevity penalty.")
    ] = False,
    tokenize: Annotated[str, typer.Option(help="sacrebleu tokenizer: 13a, intl, zh, char or none.")] = "13a",
    lowercase: Annotated[bool, typer.Option(help="Lowercase hypotheses and references.")] = False,
    json: Json = False,
) -> None:
    """Score hypotheses against references: sacrebleu's corpus BLEU, and BLEU-1 to BLEU-4."""
    from pathlib import Path

    from regard.cli.console import print_json, print_line, print_table
    from regard.data.sources.lines import read_lines
    from regard.data.sources.pairs import check_same_length
    from regard.metrics.bleu_report import score_bleu

    sides = [[side] if text else read_lines(Path(side)) for side in (hypothesis, *references)]
    for name, side in zip(references, sides[1:], strict=True):
        check_same_length(Path(hypothesis), Path(name), sides[0], side)
    report = score_bleu(sides[0], list(zip(*sides[1:], strict=True)), tokenize, lowercase)
    if json:
        print_json(report.plain(with_matches=explain))
        return
    print_line(f"BLEU {report.corpus.value:.2f}  {report.corpus.signature}")
    parts = "  ".join(f"BLEU-{n} {report.parts.score(n):.3f}" for n in range(1, 5))
    print_line(f"{parts}  (as in the paper: unsmoothed, between 0 and 1)")
    if not explain:
        return
    print_line()
    rows = [
        (str(p.n), f"{p.matched:,}", f"{p.clipped:,}", f"{p.total:,}", f"{p.value:.4f}")
        for p in report.parts.precisions
    ]
    print_table(("n", "matched", "clipped", "total", "precision"), rows, right=range(5))
    c, r = report.parts.hypothesis_length, report.parts.reference_length
    rule = "c > r" if c > r else "e^(1 - r/c)"
    print_line(f"brevity penalty {report.parts.brevity_penalty:.4f} ({rule}), c = {c:,}, r = {r:,}")
    print_line(report.smoothing_note())
    for n, matches in report.matches.items():
        print_line()
        names = [f"in reference {number}" for number in range(1, len(references) + 1)]
        table = [(" ".join(m.ngram), str(m.count), *map(str, m.in_references), str(m.clipped)) for m in matches]
        print_table((f"{n}-gram", "in hypothesis", *names, "counts"), table, right=range(1, 3 + len(references)))
