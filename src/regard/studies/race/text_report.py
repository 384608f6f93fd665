"""Races of language models: the sections and plots of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.studies.race.charts import FLOOR, Chart, ChartTheme, draw_lines, minutes_or_seconds, plain_numbers
from regard.studies.race.disciplines import Discipline, Results
from regard.studies.race.elements import bullets, figure, reach_lines, section
from regard.studies.race.figures.loss_by_position import measure_text
from regard.studies.race.records import MeasuredText
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import text_report


def text_subtitle(results: Results) -> tuple[str, str]:
    """Return the training text of all members, and the number of tokens they are scored on."""
    train = results["data"]["train"]
    return (
        f"{train['documents']:,} documents of {train['tokens']:,} tokens in windows of {results['window']:,}",
        f"{results['tokens']:,} tokens",
    )


def text_note(results: Results) -> str:
    """Return the definition of the metrics in the table."""
    return (
        "Word perplexity and bits per byte do not depend on the tokenizer; perplexity and loss (nats) are per token. "
        f"The text is evaluated in windows of {results['window']:,} tokens; every token counts once, with at least "
        "half a window of context. Tokens/s: training throughput."
    )


def text_sections(results: Results, drawn: Mapping[str, Chart], captions: Mapping[str, str]) -> list[str]:
    """Return the sections below the table."""
    return [
        section("Loss over training time", [figure(drawn.get("loss-time"), captions["loss-time"])]),
        section(
            "Loss by position in the window",
            [figure(drawn.get("loss-position"), captions["loss-position"])],
            bullets(_position_lines(results["members"])),
        ),
        section(
            "Gradient norm by distance",
            [figure(drawn.get("gradient-text"), captions["gradient-text"])],
            bullets(reach_lines(results["members"], "text")) if "gradient-text" in drawn else "",
        ),
    ]


def _position_lines(members: Sequence[dict[str, Any]]) -> list[str]:
    """Return the loss of each member with the shortest and the longest context."""
    lines = []
    for each in members:
        first, last = each["positions"][0], each["positions"][-1]
        if first != last:
            lines.append(
                f"{each['name']}: {first['loss']:.2f} with one token of context, {last['loss']:.2f} with "
                f"{last['shortest']}–{last['longest']} ({last['loss'] - first['loss']:+.2f})."
            )
    return lines


def text_plots(results: Results) -> list[Chart]:
    """Return the plots for which there are measurements, in the order of the report."""
    members = results["members"]
    plots = [
        loss_plot(members),
        Chart("loss-position", "Loss by context length", lambda *to: _by_position(members, *to)),
    ]
    if any(each["reach"]["text"] for each in members):
        plots.append(Chart("gradient-text", "Gradient norm by distance", lambda *to: _reach(members, *to)))
    return plots


def loss_plot(members: Sequence[dict[str, Any]]) -> Chart:
    """Return the plot of the validation loss over time."""
    return Chart("loss-time", "Validation loss over training time", lambda *to: _over_time(members, *to))


def _over_time(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    longest = max((point["seconds"] for each in members for point in each["curve"]), default=0.0)
    unit, unit_name = minutes_or_seconds(longest)
    lines = [
        (each["name"], [point["seconds"] / unit for point in each["curve"]], [p["loss"] for p in each["curve"]])
        for each in members
    ]
    draw_lines(axes, lines)
    axes.set(xlabel=f"training time ({unit_name})", ylabel="validation loss", xlim=(0, None))


def _by_position(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    buckets = members[0]["positions"]
    positions = list(range(len(buckets)))
    draw_lines(axes, [(each["name"], positions, [b["loss"] for b in each["positions"]]) for each in members])
    names = [
        f"{b['shortest']}–{b['longest']}" if b["shortest"] != b["longest"] else str(b["longest"]) for b in buckets
    ]
    axes.set_xticks(positions, names, rotation=30)
    axes.set(xlabel="context length (tokens)", ylabel="loss per token (nats)")


def _reach(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    curves = [(each["name"], each["reach"]["text"]) for each in members if each["reach"]["text"]]
    shown = [[max(value, FLOOR) for value in curve["gradient"]] for _, curve in curves]
    draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
    axes.set_yscale("log")
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel="distance k (tokens)", ylabel="gradient norm / mean of the window")
    plain_numbers(axes.yaxis)


def facts(record: RunRecord, measured: dict[str, Any]) -> dict[str, Any]:
    """Return the number of tokens scored and the context window."""
    score: Any = next(iter(record.scores.values()))
    return {"tokens": score["tokens"], "window": text_report(record).window}


def member(record: RunRecord, metrics: Sequence[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's metrics and measurements."""
    scores: dict[str, Any] = dict(record.scores)
    score = next(iter(scores.values()))
    names = ("loss", "perplexity", "bits_per_byte", "word_perplexity")
    return {name: score[name] for name in names} | {
        "all_sets": {name: {key: each[key] for key in names} for name, each in scores.items()},
        "curve": loss_curve(metrics),
        "positions": measured["positions"],
        "reach": measured["reach"],
    }


def loss_curve(metrics: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the validation loss over steps and seconds."""
    return [
        {"step": line["step"], "seconds": line["seconds"], "loss": line["valid_loss"]}
        for line in metrics
        if {"valid_loss", "seconds"} <= line.keys()
    ]


TEXT = Discipline(MeasuredText, measure_text, facts, member, text_plots, text_sections, text_subtitle, text_note)
