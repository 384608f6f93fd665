"""The pictures of a race, each drawn once for paper (PNG) and once for a page that may be light or dark (SVG)."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.escaping import in_html, in_picture
from regard.reporting.drawing import literal_text, new_figure

COLOURS = ("#3b82c4", "#d9770b", "#1f9d6b", "#c2519b", "#8b6fd6", "#0e9aa7", "#d04a4a", "#8a8f2d")
FAINTEST = 1e-3
"""What less is shown as: nothing at all has no place on a logarithmic axis."""
MARKERS = "osD^vP*X"
"""Lines are told apart without colors too."""


@dataclass(frozen=True)
class ChartTheme:
    """The colors of what is no data."""

    ink: str
    rule: str
    paper: str


PAPER = ChartTheme("#222222", "#dddddd", "white")
PAGE = ChartTheme("#010203", "#040506", "none")
"""Colors that stand for the page's own, which are put in their place."""
IN_PAGE = {PAGE.ink: "currentColor", PAGE.rule: "var(--rule)"}


@dataclass(frozen=True)
class Picture:
    """A picture with its file name, what it shows in words, and what draws it into axes."""

    name: str
    title: str
    draw: Callable[[Any, ChartTheme], None]
    size: tuple[float, float] = (6.0, 3.7)

    def png(self, folder: Path) -> Path:
        """Write it as a file for people to use elsewhere."""
        path = folder / f"{self.name}.png"
        with literal_text():
            self._figure(PAPER).savefig(path, dpi=150, facecolor=PAPER.paper)
        return path

    def svg(self) -> str:
        """Return it as an element for a page, in the page's own colors."""
        written = io.StringIO()
        with literal_text({"svg.fonttype": "none", "svg.hashsalt": self.name}):
            self._figure(PAGE).savefig(written, format="svg", transparent=True, metadata={"Date": None})
        text = written.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        for color, own in IN_PAGE.items():
            text = text.replace(color, own)
        # Names inside one page must differ from picture to picture.
        text = re.sub(r'\bid="', f'id="{self.name}-', text)
        text = text.replace("url(#", f"url(#{self.name}-").replace('href="#', f'href="#{self.name}-')
        opening = f'role="img" aria-label="{in_html(self.title)}">'
        svg = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>')
        text = svg.sub(lambda found: f'<svg viewBox="{found[1]}" {opening}', text, count=1)
        return text.strip()

    def _figure(self, theme: ChartTheme) -> Any:
        figure = new_figure(*self.size, layout="constrained")
        axes = figure.subplots()
        axes.grid(visible=True, color=theme.rule, linewidth=0.6)
        axes.set_axisbelow(True)
        self.draw(axes, theme)
        axes.patch.set_alpha(0)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(theme.ink)
        axes.tick_params(colors=theme.ink, labelsize=8, which="both")
        for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
            label.set_color(theme.ink)
            label.set_fontsize(9)
        if legend := axes.get_legend():
            for text in legend.get_texts():
                text.set_color(theme.ink)
        return figure


def draw_pictures(results: Mapping[str, Any]) -> list[Picture]:
    """Return the pictures that the figures of a race of translators allow, in the order of the report."""
    members = results["members"]
    curves = [member for member in members if any(point["bleu"] is not None for point in member["curve"])]
    pictures = []
    if curves:
        pictures.append(Picture("bleu-time", "BLEU on validation against time", lambda *to: _over_time(curves, *to)))
    if len(members[0]["lengths"]) > 1:
        pictures.append(Picture("bleu-length", "BLEU by source length", lambda *to: _by_length(members, *to)))
    pictures += [_reach(members, side) for side in ("source", "target") if any(m["reach"][side] for m in members)]
    for name, key in (("training", "training_ms"), ("decoding", "decoding_ms")):
        what = "a training step" if name == "training" else "decoding a sentence"

        def draw(axes: Any, theme: ChartTheme, key: str = key, what: str = what) -> None:
            _times(members, key, what, axes)

        if any(member["times"]["by_length"][key] for member in members):
            pictures.append(Picture(f"time-{name}", f"Time of {what} against length", draw))
    pictures.append(Picture("ladder", "BLEU here and published", lambda *to: _ladder(results, *to), (6.0, 4.2)))
    return pictures + [_matrix(member) for member in members if member["alignment"]]


def draw_lines(axes: Any, lines: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> None:
    """Draw a line with a name for each member."""
    for number, (name, x, y) in enumerate(lines):
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
        dashes = "-" if number < len(COLOURS) else "--"
        axes.plot(x, y, dashes, label=in_picture(name), markersize=4, linewidth=1.4, **style)
    axes.legend(fontsize=8, frameon=False)


def minutes_or_seconds(longest: float) -> tuple[float, str]:
    """Return the unit in which times up to so many seconds are shown."""
    return (60.0, "minutes") if longest > 180 else (1.0, "seconds")


def _over_time(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    points = [(each["name"], [point for point in each["curve"] if point["bleu"] is not None]) for each in members]
    longest = max((point["seconds"] for _, curve in points for point in curve), default=0.0)
    unit, word = minutes_or_seconds(longest)
    draw_lines(
        axes, [(name, [p["seconds"] / unit for p in curve], [p["bleu"] for p in curve]) for name, curve in points]
    )
    axes.set(xlabel=f"{word} of training", ylabel="BLEU (validation, greedy)", ylim=(0, None), xlim=(0, None))


def _by_length(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    buckets = members[0]["lengths"]
    places = list(range(len(buckets)))
    draw_lines(axes, [(each["name"], places, [bucket["bleu"] for bucket in each["lengths"]]) for each in members])
    names = [
        f"{b['shortest']}–{b['longest']}" if b["shortest"] != b["longest"] else str(b["longest"]) for b in buckets
    ]
    axes.set_xticks(places, names)
    axes.set(xlabel="source tokens", ylabel="BLEU", ylim=(0, None))


def _reach(members: Sequence[dict[str, Any]], side: str) -> Picture:
    def draw(axes: Any, theme: ChartTheme) -> None:
        curves = [(each["name"], each["reach"][side]) for each in members if each["reach"][side]]
        shown = [[max(value, FAINTEST) for value in curve["gradient"]] for _, curve in curves]
        draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
        axes.set_yscale("log")
        axes.set(xlabel=f"tokens back to a {side} token (k)", ylabel="gradient norm / mean of the sentence")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.3), max(high, 3.0))  # a flat line looks flat
        plain_numbers(axes.yaxis)

    return Picture(f"gradient-{side}", f"Gradient k tokens back in the {side}", draw)


def _times(members: Sequence[dict[str, Any]], key: str, what: str, axes: Any) -> None:
    times = [(each["name"], each["times"]["by_length"]) for each in members]
    draw_lines(axes, [(name, found["lengths"][: len(found[key])], found[key]) for name, found in times])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    lengths = max((found["lengths"] for _, found in times), key=len)
    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.set(xlabel="tokens on each side", ylabel=f"milliseconds for {what}")
    plain_numbers(axes.yaxis)


def plain_numbers(axis: Any) -> None:
    """Write 20 and 0.5 on a logarithmic axis, and not powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _ladder(results: Mapping[str, Any], axes: Any, theme: ChartTheme) -> None:
    published = results["published"]
    ours = [(each["name"], each["bleu"]) for each in results["members"]]
    theirs = [(rung["name"], rung["bleu"]) for rung in published["rungs"]]
    rows = [*ours, *theirs]
    places = [*range(len(ours)), *range(len(ours) + 1, len(rows) + 1)]  # a gap between what cannot be compared
    colors = [COLOURS[number % len(COLOURS)] for number in range(len(ours))] + [theme.rule] * len(theirs)
    axes.barh(places, [value for _, value in rows], color=colors)
    for place, (_, value) in zip(places, rows, strict=True):
        axes.text(value, place, f" {value:.1f}", va="center", fontsize=8, color=theme.ink)
    labels = [in_picture(name) for name, _ in ours] + [f"{name} ({published['title']})" for name, _ in theirs]
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set(xlabel=f"BLEU: this race on {in_picture(results['set'])}; {published['title']}", xlim=(0, None))
    axes.margins(x=0.12)


def _matrix(member: dict[str, Any]) -> Picture:
    found = member["alignment"]
    rows, columns = len(found["target"]), len(found["source"])

    def draw(axes: Any, theme: ChartTheme) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        # From see-through to the color: no weight shows the page, whatever its color.
        colors = LinearSegmentedColormap.from_list("weights", [(0.23, 0.51, 0.77, 0.0), (0.23, 0.51, 0.77, 1.0)])
        axes.grid(visible=False)
        axes.pcolormesh(found["weights"], cmap=colors, vmin=0, vmax=1)
        axes.set_xticks(
            [place + 0.5 for place in range(columns)], [*map(in_picture, found["source"])], rotation=60, ha="right"
        )
        axes.set_yticks([place + 0.5 for place in range(rows)], [*map(in_picture, found["target"])])
        axes.set_xlim(0, columns)
        axes.set_ylim(rows, 0)
        axes.set(ylabel="said", xlabel="looked at")

    size = (1.6 + 0.33 * columns, 1.4 + 0.27 * rows)
    return Picture(f"alignment-{member['name']}", f"Alignment of {member['name']}", draw, size)
