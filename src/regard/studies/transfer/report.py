"""The report of a transfer study: one self-contained page, and its plots as files."""

from pathlib import Path
from typing import Any

from regard.escaping import in_picture
from regard.studies.race.charts import COLORS, MARKERS, Chart, ChartTheme, plain_numbers
from regard.studies.race.elements import bullets, figure, html_table, machine_line, report_page, section, write_page
from regard.studies.transfer.methods import METHODS


def write_report(results: dict[str, Any], folder: Path) -> Path:
    """Write report.html and the PNGs, and return the page."""
    plots = draw_plots(results)
    captions = {
        "accuracy-size": "Accuracy on the test set by the number of training examples: the mean over seeds, with the "
        "minimum and maximum as error bars. Dashed: the majority baseline.",
        "accuracy-cost": "Accuracy on the test set by training time, without pretraining; one point for each run.",
    }
    figures = [figure(plot, captions[plot.name]) for plot in plots]
    sections = [
        section("Accuracy by training examples and training time", figures),
        section("Training cost", [], _cost(results)),
        section("ELMo layer weights (scalar mix, first seed)", [], bullets(_mixes(results))),
        section("Conditions", [], bullets(_conditions(results))),
    ]
    notices = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    if not results["is_finished"]:
        notices.append(f"{results['done']} of {results['of']} runs are finished; the same command resumes the study.")
    title = f"Transfer {results['name']}"
    subtitle = (
        f"{len(results['methods'])} methods on {results['data']}; the same training sets, and the same "
        f"{results['test_examples']:,} test examples; {results['seeds']} seeds."
    )
    return write_page(folder, plots, report_page(title, subtitle, notices, _table(results), sections))


def accuracy_table(results: dict[str, Any] | None) -> tuple[list[str], list[list[str]], str]:
    """Return a header, a row for each method, and how many runs are done."""
    if results is None:
        return [], [], ""
    header = ["method", *(size_name(size, results) for size in results["sizes"]), "seconds", "trainable parameters"]
    rows = []
    for row in results["table"]:
        seconds = [each["seconds"] for each in row["by_size"] if each["seconds"] is not None]
        trainable = row["trainable_parameters"]
        last = [f"{seconds[-1]:.1f}" if seconds else "", f"{trainable:,}" if trainable is not None else ""]
        rows.append([row["method"], *map(accuracy_words, row["by_size"]), *last])
    return header, rows, f"{results['done']} of {results['of']} runs"


class ResultLines:
    """A line when a run has ended, for pipes and logs."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, results: dict[str, Any]) -> list[str]:
        """Return the line of results with more runs than before."""
        if results["done"] <= self.done:
            return []
        self.done, (_, rows, _) = results["done"], accuracy_table(results)
        return [f"{results['done']} of {results['of']}: " + "; ".join(" ".join(row) for row in rows)]


def size_name(size: int | None, results: dict[str, Any]) -> str:
    """Return the number of training examples of a column in words."""
    return f"all {results['train_examples']:,}" if size is None else f"{size:,}"


def accuracy_words(means: dict[str, Any]) -> str:
    """Return an accuracy in percent with its standard deviation over seeds."""
    if means["accuracy"] is None:
        return "–"
    spread = "" if means["spread"] is None else f" ± {100 * means['spread']:.1f}"
    return f"{100 * means['accuracy']:.1f}{spread}"


def _table(results: dict[str, Any]) -> str:
    head = ["method", *(size_name(size, results) for size in results["sizes"]), "parameters", "trainable"]
    columns = list(zip(*(row["by_size"] for row in results["table"]), strict=True))
    best = [max((each["accuracy"] or 0.0 for each in column), default=0.0) for column in columns]
    rows = []
    for row in results["table"]:
        cells = [(f"{row['method']}: {row['about']}", False)]
        cells += [
            (accuracy_words(each), each["accuracy"] == most and most > 0)
            for each, most in zip(row["by_size"], best, strict=True)
        ]
        cells += [(_number(row[name]), False) for name in ("parameters", "trainable_parameters")]
        rows.append(cells)
    return html_table(head, rows, "Test accuracy in percent: mean ± standard deviation over seeds.")


def _cost(results: dict[str, Any]) -> str:
    head = ["training time (s)", *(size_name(size, results) for size in results["sizes"]), "pretraining"]
    rows = []
    for row in results["table"]:
        pretrained = "; ".join(_pretrained(kind, results) for kind in METHODS[row["method"]].pretrained) or "–"
        seconds = ["–" if each["seconds"] is None else f"{each['seconds']:.1f}" for each in row["by_size"]]
        rows.append([(text, False) for text in (row["method"], *seconds, pretrained)])
    return html_table(head, rows)


def _pretrained(kind: str, results: dict[str, Any]) -> str:
    """Return the duration of pretraining, or the path of a given model."""
    seconds, given = results["pretraining"].get(kind, {}).get("seconds"), results["pretrained"].get(kind)
    return f"{seconds:,.0f} s, once" if seconds else (f"given: {given}" if given else "–")


def _mixes(results: dict[str, Any]) -> list[str]:
    return [
        f"{row['method']}, {size_name(size, results)} examples: "
        + ", ".join(f"{name} {value:.3f}" for name, value in each["mix"].items())
        for row in results["table"]
        for size, each in zip(results["sizes"], row["by_size"], strict=True)
        if each["mix"]
    ]


def _conditions(results: dict[str, Any]) -> list[str]:
    lines = [
        f"{results['train_examples']:,} training, {results['valid_examples']:,} validation (they select the best "
        f"checkpoint) and {results['test_examples']:,} test examples; a smaller training set is sampled by the seed, "
        f"and is the same for every method.",
        "All methods but bert-tuned have the same task network: a bidirectional LSTM, max pooling, a linear layer. "
        "The parameters of an ELMo or a BERT include those of its language-model head.",
    ]
    return [*lines, machine_line(results)] if results["machine"] else lines


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def draw_plots(results: dict[str, Any]) -> list[Chart]:
    """Return the plots of the report: accuracy by training examples, and by training time."""

    def by_size(axes: Any, theme: ChartTheme) -> None:
        for number, method in enumerate(results["methods"]):
            points = _points(results, method)
            if not points:
                continue
            sizes = sorted(points)
            means = [sum(100 * each["accuracy"] for each in points[n]) / len(points[n]) for n in sizes]
            lows, highs = ([pick(100 * each["accuracy"] for each in points[n]) for n in sizes] for pick in (min, max))
            bars = [[m - low for m, low in zip(means, lows)], [high - m for m, high in zip(means, highs)]]
            style = {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}
            axes.errorbar(
                sizes, means, yerr=bars, label=in_picture(method), capsize=2, markersize=4, linewidth=1.4, **style
            )
        baseline = max((each["majority_baseline"] for each in results["cells"]), default=0.0)
        axes.axhline(100 * baseline, color=theme.rule, linewidth=1.2, linestyle="--")
        axes.set_xscale("log")
        sizes = [size or results["train_examples"] for size in results["sizes"]]
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.set(xlabel="training examples", ylabel="accuracy (%; dashed: majority baseline)")
        _legend(axes)

    def by_cost(axes: Any, theme: ChartTheme) -> None:
        for number, method in enumerate(results["methods"]):
            own = [each for each in results["cells"] if each["method"] == method]
            style = {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}
            axes.scatter(
                [max(each["seconds"], 0.1) for each in own],
                [100 * each["accuracy"] for each in own],
                label=in_picture(method),
                s=18,
                **style,
            )
        axes.set_xscale("log")
        plain_numbers(axes.xaxis)
        axes.set(xlabel="training time (s)", ylabel="accuracy (%)")
        _legend(axes)

    return [
        Chart("accuracy-size", "Accuracy by number of training examples", by_size),
        Chart("accuracy-cost", "Accuracy by training time", by_cost),
    ]


def _legend(axes: Any) -> None:
    """Place the legend beside the axes, where it covers no data."""
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _points(results: dict[str, Any], method: str) -> dict[int, list[dict[str, Any]]]:
    """Return the metrics of a method's runs by the number of examples."""
    points: dict[int, list[dict[str, Any]]] = {}
    for each in results["cells"]:
        if each["method"] == method:
            points.setdefault(each["size"] or results["train_examples"], []).append(each)
    return points
