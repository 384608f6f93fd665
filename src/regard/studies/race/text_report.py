"""What the report of a race says about language models, and its pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.studies.race.charts import FAINTEST, ChartTheme, Picture, draw_lines, minutes_or_seconds, plain_numbers
from regard.studies.race.elements import bullets, figure, section


def text_subtitle(results: dict[str, Any]) -> tuple[str, str]:
    """Return what all members learned from, and how much they are scored on."""
    train = results["data"]["train"]
    return (
        f"{train['documents']:,} documents of {train['tokens']:,} tokens in windows of {results['window']:,}",
        f"{results['tokens']:,} tokens",
    )


def text_note(results: dict[str, Any]) -> str:
    """Return how the figures in the table were found."""
    return (
        "The perplexity of a word and bits per byte do not depend on the tokenizer; perplexity and loss (in nats) "
        f"are those of a token. The text is read in windows of {results['window']:,} tokens, each one counted once, "
        "with at least half a window before it. Tokens/s are those of training."
    )


def text_sections(results: dict[str, Any], drawn: Mapping[str, Picture], captions: Mapping[str, str]) -> list[str]:
    """Return what is shown under the table."""
    return [
        section("Who learns fastest", [figure(drawn.get("loss-time"), captions["loss-time"])]),
        section(
            "What context is worth: loss by position",
            [figure(drawn.get("loss-position"), captions["loss-position"])],
            bullets(_position_words(results["members"])),
        ),
        section(
            "Vanishing gradients: how far back a token is still felt",
            [figure(drawn.get("gradient-text"), captions["gradient-text"])],
        ),
    ]


def _position_words(members: Sequence[dict[str, Any]]) -> list[str]:
    """Say for each member what a long context gains."""
    words = []
    for each in members:
        first, last = each["positions"][0], each["positions"][-1]
        if first != last:
            words.append(
                f"{each['name']}: {first['loss']:.2f} with one token before, {last['loss']:.2f} with "
                f"{last['shortest']}–{last['longest']} ({last['loss'] - first['loss']:+.2f})."
            )
    return words


def text_pictures(results: dict[str, Any]) -> list[Picture]:
    """Return the pictures that the figures allow, in the order of the report."""
    members = results["members"]
    pictures = [
        Picture("loss-time", "Loss on validation against time", lambda *to: _over_time(members, *to)),
        Picture("loss-position", "Loss by position in the window", lambda *to: _by_position(members, *to)),
    ]
    if any(each["reach"]["text"] for each in members):
        pictures.append(Picture("gradient-text", "Gradient k tokens back", lambda *to: _reach(members, *to)))
    return pictures


def _over_time(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    longest = max((point["seconds"] for each in members for point in each["curve"]), default=0.0)
    unit, word = minutes_or_seconds(longest)
    lines = [
        (each["name"], [point["seconds"] / unit for point in each["curve"]], [p["loss"] for p in each["curve"]])
        for each in members
    ]
    draw_lines(axes, lines)
    axes.set(xlabel=f"{word} of training", ylabel="loss of a token (validation)", xlim=(0, None))


def _by_position(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    buckets = members[0]["positions"]
    places = list(range(len(buckets)))
    draw_lines(axes, [(each["name"], places, [b["loss"] for b in each["positions"]]) for each in members])
    names = [
        f"{b['shortest']}–{b['longest']}" if b["shortest"] != b["longest"] else str(b["longest"]) for b in buckets
    ]
    axes.set_xticks(places, names, rotation=30)
    axes.set(xlabel="tokens before, in the window", ylabel="loss of a token")


def _reach(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    curves = [(each["name"], each["reach"]["text"]) for each in members if each["reach"]["text"]]
    shown = [[max(value, FAINTEST) for value in curve["gradient"]] for _, curve in curves]
    draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
    axes.set_yscale("log")
    axes.set(xlabel="tokens back (k)", ylabel="gradient norm / mean of the window")
    plain_numbers(axes.yaxis)
