"""A transfer as one page that needs nothing else, and its picture as a file."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.escaping import in_html, in_picture
from regard.studies.folder import REPORT
from regard.studies.race.charts import COLOURS, MARKERS, ChartTheme, Picture, plain_numbers
from regard.studies.transfer.methods import METHODS

TEMPLATE = resources.files("regard.studies.race") / "page.html"


def write_report(results: dict[str, Any], folder: Path) -> Path:
    """Write report.html and the PNGs, and return the page."""
    pictures = _pictures(results)
    for picture in pictures:
        picture.png(folder)
    write_text(folder / REPORT, page(results, pictures))
    return folder / REPORT


def page(results: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """Return the page: every picture and every style is in it."""
    captions = {
        "accuracy-size": "Share of the test examples that are labeled rightly, against the number of training "
        "examples; the mean over seeds, with the least and the most as bars.",
        "accuracy-cost": "The same accuracy against the seconds it took to learn the task, pretraining not counted.",
    }
    figures = "".join(
        f"<figure>{each.svg()}<figcaption>{in_html(captions[each.name])}</figcaption></figure>" for each in pictures
    )
    sections = [
        f'<section><h2>What each beginning buys</h2><div class="grid">{figures}</div></section>',
        f"<section><h2>Cost</h2>{_cost(results)}</section>",
        _mixes(results),
        f"<section><h2>Conditions</h2>{_list(_conditions(results))}</section>",
    ]
    notices = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    if not results["is_finished"]:
        notices.append(f"{results['done']} of {results['of']} runs are done; the same command goes on.")
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=in_html(f"Transfer {results['name']}"),
        subtitle=in_html(
            f"{len(results['methods'])} ways to begin on {results['data']}; all learn from the same examples, and "
            f"are scored on the same {results['test_examples']:,}; {results['seeds']} seeds."
        ),
        notices=_list(notices),
        table=_table(results),
        sections="\n".join(each for each in sections if each),
    )


def size_name(size: int | None, results: dict[str, Any]) -> str:
    """Return how many examples a column stands for."""
    return f"all {results['train_examples']:,}" if size is None else f"{size:,}"


def accuracy_words(found: dict[str, Any]) -> str:
    """Return an accuracy in percent, and how far seeds are apart."""
    if found["accuracy"] is None:
        return "–"
    spread = "" if found["spread"] is None else f" ± {100 * found['spread']:.1f}"
    return f"{100 * found['accuracy']:.1f}{spread}"


def _table(results: dict[str, Any]) -> str:
    head = ["method", *(size_name(size, results) for size in results["sizes"]), "parameters", "of them learned"]
    columns = list(zip(*(row["by_size"] for row in results["table"]), strict=True))
    best = [max((each["accuracy"] or 0.0 for each in column), default=0.0) for column in columns]
    rows = []
    for row in results["table"]:
        cells = [(f"{row['method']}: {row['about']}", False)]
        cells += [
            (accuracy_words(found), found["accuracy"] == most and most > 0)
            for found, most in zip(row["by_size"], best, strict=True)
        ]
        cells += [(_number(row[name]), False) for name in ("parameters", "learned_parameters")]
        rows.append("".join(f"<td{' class=best' if top else ''}>{in_html(text)}</td>" for text, top in cells))
    return _html_table(head, rows) + (
        "<small>Accuracy in percent: the mean over seeds ± their standard deviation.</small>"
    )


def _cost(results: dict[str, Any]) -> str:
    head = ["seconds of training", *(size_name(size, results) for size in results["sizes"]), "pretraining"]
    rows = []
    for row in results["table"]:
        pretrained = "; ".join(_pretrained(need, results) for need in METHODS[row["method"]].all_needs) or "–"
        seconds = ["–" if each["seconds"] is None else f"{each['seconds']:.1f}" for each in row["by_size"]]
        rows.append("".join(f"<td>{in_html(text)}</td>" for text in (row["method"], *seconds, pretrained)))
    return _html_table(head, rows)


def _pretrained(need: str, results: dict[str, Any]) -> str:
    """Return what it took to pretrain a start, or where it is from."""
    before, given = results["pretraining"].get(need, {}).get("seconds"), results["starts"].get(need)
    return f"{before:,.0f} s, once" if before else (f"given: {given}" if given else "–")


def _mixes(results: dict[str, Any]) -> str:
    found = [
        f"{row['method']}, {size_name(size, results)} examples: "
        + ", ".join(f"{name} {value:.3f}" for name, value in each["mix"].items())
        for row in results["table"]
        for size, each in zip(results["sizes"], row["by_size"], strict=True)
        if each["mix"]
    ]
    return (
        f"<section><h2>Learned weights of the ELMo's layers (first seed)</h2>{_list(found)}</section>"
        if found
        else ""
    )


def _conditions(results: dict[str, Any]) -> list[str]:
    machine = results["machine"]
    said = [
        f"{results['train_examples']:,} examples to learn from, {results['valid_examples']:,} watched (the best "
        f"checkpoint is taken by them), {results['test_examples']:,} tested on; a smaller set is drawn by the seed, "
        f"and is the same for every method.",
        "All but bert-tuned have the same network above them: an LSTM in both directions, the largest values of all "
        "words, a linear layer. Of parameters, those of words that an ELMo or BERT could say are counted too.",
    ]
    if machine:
        said.append(
            f"Machine: {machine['processor']}, {machine['device']}, {machine['threads']} threads, "
            f"{machine['precision']}, torch {machine['torch']}, regard {results['regard']}."
        )
    return said


def _html_table(head: Sequence[str], rows: Sequence[str]) -> str:
    names = "".join(f"<th>{in_html(name)}</th>" for name in head)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{in_html(line)}</li>' for line in lines)}</ul>" if lines else ""


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _pictures(results: dict[str, Any]) -> list[Picture]:
    def by_size(axes: Any, theme: ChartTheme) -> None:
        for number, method in enumerate(results["methods"]):
            points = _points(results, method)
            if not points:
                continue
            sizes = sorted(points)
            means = [sum(100 * each["accuracy"] for each in points[n]) / len(points[n]) for n in sizes]
            lows, highs = ([pick(100 * each["accuracy"] for each in points[n]) for n in sizes] for pick in (min, max))
            bars = [[m - low for m, low in zip(means, lows)], [high - m for m, high in zip(means, highs)]]
            style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            axes.errorbar(
                sizes, means, yerr=bars, label=in_picture(method), capsize=2, markersize=4, linewidth=1.4, **style
            )
        chance = max((each["majority_baseline"] for each in results["cells"]), default=0.0)
        axes.axhline(100 * chance, color=theme.rule, linewidth=1.2, linestyle="--")
        axes.set_xscale("log")
        sizes = [size or results["train_examples"] for size in results["sizes"]]
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.set(xlabel="training examples", ylabel="accuracy % (dashed: the commonest label)")
        _legend(axes)

    def by_cost(axes: Any, theme: ChartTheme) -> None:
        for number, method in enumerate(results["methods"]):
            own = [each for each in results["cells"] if each["method"] == method]
            style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            axes.scatter(
                [max(each["seconds"], 0.1) for each in own],
                [100 * each["accuracy"] for each in own],
                label=in_picture(method),
                s=18,
                **style,
            )
        axes.set_xscale("log")
        plain_numbers(axes.xaxis)
        axes.set(xlabel="seconds of training", ylabel="accuracy %")
        _legend(axes)

    return [
        Picture("accuracy-size", "Accuracy against the number of training examples", by_size),
        Picture("accuracy-cost", "Accuracy against seconds of training", by_cost),
    ]


def _legend(axes: Any) -> None:
    """Name the methods beside the picture: six of them would cover what they stand for."""
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _points(results: dict[str, Any], method: str) -> dict[int, list[dict[str, Any]]]:
    """Return the figures of a method by the number of examples."""
    found: dict[int, list[dict[str, Any]]] = {}
    for each in results["cells"]:
        if each["method"] == method:
            found.setdefault(each["size"] or results["train_examples"], []).append(each)
    return found
