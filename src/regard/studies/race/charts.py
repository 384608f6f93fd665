"""The plots of a race, each as a PNG file and as an SVG for a page with a light or a dark theme."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.escaping import in_html, in_picture
from regard.reporting.drawing import literal_text, new_figure
from regard.tasks.evaluation import Values

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
Draw = Callable[[Any, ChartTheme], None]
"""Draws into axes, in the colors of a theme."""
IN_PAGE = {PAGE.ink: "currentColor", PAGE.rule: "var(--rule)"}


@dataclass(frozen=True)
class Chart:
    """A plot: its file name, its title, and the function that draws it into axes."""

    name: str
    title: str
    draw: Draw
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


def translation_plots(results: Values) -> list[Chart]:
    """Return the plots of a race of translators for which there are measurements, in the order of the report."""
    members = results["members"]
    curves = [member for member in members if any(point["bleu"] is not None for point in member["curve"])]
    plots = []
    if curves:
        draw = over_time(curves, "bleu", "validation BLEU (greedy)", ylim=(0, None))
        plots.append(Chart("bleu-time", "Validation BLEU over training time", draw))
    if len(members[0]["lengths"]) > 1:
        labels: Any = {"xlabel": "source length (tokens)", "ylabel": "BLEU", "ylim": (0, None)}
        plots.append(Chart("bleu-length", "BLEU by source length", by_bucket(members, "lengths", "bleu", **labels)))
    sides = [side for side in ("source", "target") if any(each["reach"][side] for each in members)]
    plots += [reach_chart(members, side, "sentence") for side in sides]
    for name, key in (("training", "training_ms"), ("decoding", "decoding_ms")):
        what = "training step" if name == "training" else "decoded sentence"
        if any(member["times"]["by_length"][key] for member in members):
            plots.append(Chart(f"time-{name}", f"Time per {what} by length", _times(members, key, what)))
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


def over_time(members: Sequence[Values], key: str, label: str, **limits: tuple[float, None]) -> Draw:
    """Return the drawing of a validation metric of each member over its training time."""

    def draw(axes: Any, theme: ChartTheme) -> None:
        curves = {each["name"]: [point for point in each["curve"] if point[key] is not None] for each in members}
        longest = max((point["seconds"] for curve in curves.values() for point in curve), default=0.0)
        unit, unit_name = (60.0, "min") if longest > 180 else (1.0, "s")
        lines = [
            (name, [p["seconds"] / unit for p in curve], [p[key] for p in curve]) for name, curve in curves.items()
        ]
        draw_lines(axes, lines)
        axes.set(xlabel=f"training time ({unit_name})", ylabel=label, xlim=(0, None), **limits)

    return draw


def by_bucket(members: Sequence[Values], group: str, key: str, **labels: Any) -> Draw:
    """Return the drawing of a metric of each member in buckets of `shortest` to `longest` tokens."""

    def draw(axes: Any, theme: ChartTheme) -> None:
        buckets = [(each["shortest"], each["longest"]) for each in members[0][group]]
        positions = list(range(len(buckets)))
        draw_lines(axes, [(each["name"], positions, [b[key] for b in each[group]]) for each in members])
        names = [str(last) if first == last else f"{first}–{last}" for first, last in buckets]
        axes.set_xticks(positions, names, rotation=30 if len(names) > 6 else 0)
        axes.set(**labels)

    return draw


def reach_chart(members: Sequence[Values], side: str, whole: str) -> Chart:
    """Return the plot of the gradient norm by the distance to tokens of a side of a `whole`: a sentence, a window."""

    def draw(axes: Any, theme: ChartTheme) -> None:
        curves = [(each["name"], each["reach"][side]) for each in members if each["reach"][side]]
        shown = [[max(value, FLOOR) for value in curve["gradient"]] for _, curve in curves]
        draw_lines(axes, [(name, curve["distance"], y) for (name, curve), y in zip(curves, shown, strict=True)])
        axes.set_yscale("log")
        axes.locator_params(axis="x", integer=True)
        axes.set(
            xlabel=f"distance k to a token of the {side} (tokens)", ylabel=f"gradient norm / mean of the {whole}"
        )
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.3), max(high, 3.0))  # small differences stay small in the plot
        plain_numbers(axes.yaxis)

    return Chart(f"gradient-{side}", f"Gradient norm by distance in the {side}", draw)


def _times(members: Sequence[Values], key: str, what: str) -> Draw:
    def draw(axes: Any, theme: ChartTheme) -> None:
        times = [(each["name"], each["times"]["by_length"]) for each in members]
        draw_lines(axes, [(name, each["lengths"][: len(each[key])], each[key]) for name, each in times])
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        lengths = max((each["lengths"] for _, each in times), key=len)
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.set(xlabel="source and target length (tokens)", ylabel=f"time per {what} (ms)")
        plain_numbers(axes.yaxis)

    return draw


def plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers (20, 0.5) instead of powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _ladder(results: Values, axes: Any, theme: ChartTheme) -> None:
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


def _matrix(member: Values) -> Chart:
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
