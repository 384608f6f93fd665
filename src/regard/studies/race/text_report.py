"""Races of language models: what the report shows of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.studies.race.charts import FAINTEST, ChartTheme, Picture, draw_lines, minutes_or_seconds, plain_numbers
from regard.studies.race.disciplines import Discipline, Results
from regard.studies.race.elements import bullets, figure, section
from regard.studies.race.figures.loss_by_position import measure_text
from regard.studies.race.records import MeasuredText
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import text_report


def text_subtitle(results: Results) -> tuple[str, str]:
    """Return what all members were trained on, and how much they are scored on."""
    train = results["data"]["train"]
    return (
        f"{train['documents']:,} documents of {train['tokens']:,} tokens in windows of {results['window']:,}",
        f"{results['tokens']:,} tokens",
    )


def text_note(results: Results) -> str:
    """Return how the metrics in the table were computed."""
    return (
        "Word perplexity and bits per byte do not depend on the tokenizer; perplexity and loss (in nats) are per token. "
        f"The text is evaluated in windows of {results['window']:,} tokens, each token counted once, with at least half "
        "a window of context. Tokens/s are those of training."
    )


def text_sections(results: Results, plots: Mapping[str, Picture], captions: Mapping[str, str]) -> list[str]:
    """Return the sections under the table."""
    return [
        section("Loss over training time", [figure(plots.get("loss-time"), captions["loss-time"])]),
        section(
            "The value of context: loss by position",
            [figure(plots.get("loss-position"), captions["loss-position"])],
            bullets(_position_lines(results["members"])),
        ),
        section(
            "Vanishing gradients: gradient norm by distance",
            [figure(plots.get("gradient-text"), captions["gradient-text"])],
        ),
    ]


def _position_lines(members: Sequence[dict[str, Any]]) -> list[str]:
    """Return for each member what a long context gains."""
    lines = []
    for each in members:
        first, last = each["positions"][0], each["positions"][-1]
        if first != last:
            lines.append(
                f"{each['name']}: {first['loss']:.2f} with one token before, {last['loss']:.2f} with "
                f"{last['shortest']}–{last['longest']} ({last['loss'] - first['loss']:+.2f})."
            )
    return lines


def text_pictures(results: Results) -> list[Picture]:
    """Return the plots that the results allow, in the order of the report."""
    members = results["members"]
    pictures = [
        loss_picture(members),
        Picture("loss-position", "Loss by position in the window", lambda *to: _by_position(members, *to)),
    ]
    if any(each["reach"]["text"] for each in members):
        pictures.append(Picture("gradient-text", "Gradient k tokens back", lambda *to: _reach(members, *to)))
    return pictures


def loss_picture(members: Sequence[dict[str, Any]]) -> Picture:
    """Return the plot of the validation loss over time."""
    return Picture("loss-time", "Validation loss over time", lambda *to: _over_time(members, *to))


def _over_time(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    longest = max((point["seconds"] for each in members for point in each["curve"]), default=0.0)
    unit, word = minutes_or_seconds(longest)
    lines = [
        (each["name"], [point["seconds"] / unit for point in each["curve"]], [p["loss"] for p in each["curve"]])
        for each in members
    ]
    draw_lines(axes, lines)
    axes.set(xlabel=f"{word} of training", ylabel="loss per token (validation)", xlim=(0, None))


def _by_position(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    buckets = members[0]["positions"]
    positions = list(range(len(buckets)))
    draw_lines(axes, [(each["name"], positions, [b["loss"] for b in each["positions"]]) for each in members])
    names = [
        f"{b['shortest']}–{b['longest']}" if b["shortest"] != b["longest"] else str(b["longest"]) for b in buckets
    ]
    axes.set_xticks(positions, names, rotation=30)
    axes.set(xlabel="tokens of context", ylabel="loss per token")


def _reach(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    curves = [(each["name"], each["reach"]["text"]) for each in members if each["reach"]["text"]]
    shown = [[max(value, FAINTEST) for value in curve["gradient"]] for _, curve in curves]
    draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
    axes.set_yscale("log")
    axes.set(xlabel="tokens back (k)", ylabel="gradient norm / mean of the window")
    plain_numbers(axes.yaxis)


def facts(record: RunRecord, measured: dict[str, Any]) -> dict[str, Any]:
    """Return what the report tells of the text of a race."""
    score: Any = next(iter(record.scores.values()))
    return {"tokens": score["tokens"], "window": text_report(record).window}


def member(record: RunRecord, metrics: Sequence[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's own values."""
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


TEXT = Discipline(MeasuredText, measure_text, facts, member, text_pictures, text_sections, text_subtitle, text_note)
