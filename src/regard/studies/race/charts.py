"""The plots of a race, each as a PNG file and as an SVG for a page with a light or a dark theme."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.escaping import in_html, in_picture
from regard.reporting.drawing import literal_text, new_figure

COLORS = ("#3b82c4", "#d9770b", "#1f9d6b", "#c2519b", "#8b6fd6", "#0e9aa7", "#d04a4a", "#8a8f2d")
FLOOR = 1e-3
"""The smallest value of a logarithmic axis: smaller ones are plotted at it."""
MARKERS = "osD^vP*X"
"""Lines differ by marker as well as by color."""


@dataclass(frozen=True)
class ChartTheme:
    """The colors of text, grid and background."""

    ink: str
    rule: str
    paper: str


PAPER = ChartTheme("#222222", "#dddddd", "white")
PAGE = ChartTheme("#010203", "#040506", "none")
"""Placeholder colors, which are replaced by those of the page."""
IN_PAGE = {PAGE.ink: "currentColor", PAGE.rule: "var(--rule)"}


@dataclass(frozen=True)
class Chart:
    """A plot: its file name, its title, and the function that draws it into axes."""

    name: str
    title: str
    draw: Callable[[Any, ChartTheme], None]
    size: tuple[float, float] = (6.0, 3.7)

    def png(self, folder: Path) -> Path:
        """Write it as a PNG file and return its path."""
        path = folder / f"{self.name}.png"
        with literal_text():
            self._figure(PAPER).savefig(path, dpi=150, facecolor=PAPER.paper)
        return path

    def svg(self) -> str:
        """Return it as an SVG element in the colors of the page."""
        buffer = io.StringIO()
        with literal_text({"svg.fonttype": "none", "svg.hashsalt": self.name}):
            self._figure(PAGE).savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
        text = buffer.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        for placeholder, color in IN_PAGE.items():
            text = text.replace(placeholder, color)
        # Ids must be unique in the page.
        text = re.sub(r'\bid="', f'id="{self.name}-', text)
        text = text.replace("url(#", f"url(#{self.name}-").replace('href="#', f'href="#{self.name}-')
        opening = f'role="img" aria-label="{in_html(self.title)}">'
        svg = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>')
        text = svg.sub(lambda match: f'<svg viewBox="{match[1]}" {opening}', text, count=1)
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


def translation_plots(results: Mapping[str, Any]) -> list[Chart]:
    """Return the plots of a race of translators for which there are measurements, in the order of the report."""
    members = results["members"]
    curves = [member for member in members if any(point["bleu"] is not None for point in member["curve"])]
    plots = []
    if curves:
        plots.append(Chart("bleu-time", "Validation BLEU over training time", lambda *to: _over_time(curves, *to)))
    if len(members[0]["lengths"]) > 1:
        plots.append(Chart("bleu-length", "BLEU by source length", lambda *to: _by_length(members, *to)))
    plots += [_reach(members, side) for side in ("source", "target") if any(m["reach"][side] for m in members)]
    for name, key in (("training", "training_ms"), ("decoding", "decoding_ms")):
        what = "training step" if name == "training" else "decoded sentence"

        def draw(axes: Any, theme: ChartTheme, key: str = key, what: str = what) -> None:
            _times(members, key, what, axes)

        if any(member["times"]["by_length"][key] for member in members):
            plots.append(Chart(f"time-{name}", f"Time per {what} by length", draw))
    plots.append(
        Chart("ladder", "BLEU of this race and published BLEU", lambda *to: _ladder(results, *to), (6.0, 4.2))
    )
    return plots + [_matrix(member) for member in members if member["alignment"]]


def draw_lines(axes: Any, lines: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> None:
    """Chart a line for each (name, x, y), with a legend."""
    for number, (name, x, y) in enumerate(lines):
        style = {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}
        dashes = "-" if number < len(COLORS) else "--"
        axes.plot(x, y, dashes, label=in_picture(name), markersize=4, linewidth=1.4, **style)
    axes.legend(fontsize=8, frameon=False)


def minutes_or_seconds(longest: float) -> tuple[float, str]:
    """Return the unit of a time axis up to `longest` seconds: its length in seconds, and its name."""
    return (60.0, "min") if longest > 180 else (1.0, "s")


def _over_time(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    points = [(each["name"], [point for point in each["curve"] if point["bleu"] is not None]) for each in members]
    longest = max((point["seconds"] for _, curve in points for point in curve), default=0.0)
    unit, unit_name = minutes_or_seconds(longest)
    draw_lines(
        axes, [(name, [p["seconds"] / unit for p in curve], [p["bleu"] for p in curve]) for name, curve in points]
    )
    axes.set(xlabel=f"training time ({unit_name})", ylabel="validation BLEU (greedy)", ylim=(0, None), xlim=(0, None))


def _by_length(members: Sequence[dict[str, Any]], axes: Any, theme: ChartTheme) -> None:
    buckets = members[0]["lengths"]
    positions = list(range(len(buckets)))
    draw_lines(axes, [(each["name"], positions, [bucket["bleu"] for bucket in each["lengths"]]) for each in members])
    names = [
        f"{b['shortest']}–{b['longest']}" if b["shortest"] != b["longest"] else str(b["longest"]) for b in buckets
    ]
    axes.set_xticks(positions, names)
    axes.set(xlabel="source length (tokens)", ylabel="BLEU", ylim=(0, None))


def _reach(members: Sequence[dict[str, Any]], side: str) -> Chart:
    def draw(axes: Any, theme: ChartTheme) -> None:
        curves = [(each["name"], each["reach"][side]) for each in members if each["reach"][side]]
        shown = [[max(value, FLOOR) for value in curve["gradient"]] for _, curve in curves]
        draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
        axes.set_yscale("log")
        axes.locator_params(axis="x", integer=True)
        axes.set(xlabel=f"distance k to a {side} token (tokens)", ylabel="gradient norm / mean of the sentence")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.3), max(high, 3.0))  # small differences stay small in the plot
        plain_numbers(axes.yaxis)

    return Chart(f"gradient-{side}", f"Gradient norm by distance in the {side}", draw)


def _times(members: Sequence[dict[str, Any]], key: str, what: str, axes: Any) -> None:
    times = [(each["name"], each["times"]["by_length"]) for each in members]
    draw_lines(axes, [(name, each["lengths"][: len(each[key])], each[key]) for name, each in times])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    lengths = max((each["lengths"] for _, each in times), key=len)
    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.set(xlabel="source and target length (tokens)", ylabel=f"time per {what} (ms)")
    plain_numbers(axes.yaxis)


def plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers (20, 0.5) instead of powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _ladder(results: Mapping[str, Any], axes: Any, theme: ChartTheme) -> None:
    published = results["published"]
    members = [(each["name"], each["bleu"]) for each in results["members"]]
    papers = [(rung["name"], rung["bleu"]) for rung in published["rungs"]]
    rows = [*members, *papers]
    positions = [*range(len(members)), *range(len(members) + 1, len(rows) + 1)]  # a gap between the two groups
    colors = [COLORS[number % len(COLORS)] for number in range(len(members))] + [theme.rule] * len(papers)
    axes.barh(positions, [value for _, value in rows], color=colors)
    for position, (_, value) in zip(positions, rows, strict=True):
        axes.text(value, position, f" {value:.1f}", va="center", fontsize=8, color=theme.ink)
    labels = [in_picture(name) for name, _ in members] + [f"{name} ({published['title']})" for name, _ in papers]
    axes.set_yticks(positions, labels)
    axes.invert_yaxis()
    axes.set(xlabel=f"BLEU: this race on {in_picture(results['set'])}; {published['title']}", xlim=(0, None))
    axes.margins(x=0.12)


def _matrix(member: dict[str, Any]) -> Chart:
    attention = member["alignment"]
    rows, columns = len(attention["target"]), len(attention["source"])

    def draw(axes: Any, theme: ChartTheme) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        # From transparent to opaque: a weight of 0 has the color of the page.
        colors = LinearSegmentedColormap.from_list("weights", [(0.23, 0.51, 0.77, 0.0), (0.23, 0.51, 0.77, 1.0)])
        axes.grid(visible=False)
        axes.pcolormesh(attention["weights"], cmap=colors, vmin=0, vmax=1)
        axes.set_xticks(
            [column + 0.5 for column in range(columns)],
            [*map(in_picture, attention["source"])],
            rotation=60,
            ha="right",
        )
        axes.set_yticks([row + 0.5 for row in range(rows)], [*map(in_picture, attention["target"])])
        axes.set_xlim(0, columns)
        axes.set_ylim(rows, 0)
        axes.set(xlabel="source token (key)", ylabel="target token (query)")

    size = (1.6 + 0.33 * columns, 1.4 + 0.27 * rows)
    return Chart(f"alignment-{member['name']}", f"Cross-attention weights of {member['name']}", draw, size)
