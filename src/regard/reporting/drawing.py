"""Plots with matplotlib, with tokens as literal text: no formulas, no warnings of missing glyphs."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.image import AxesImage as AxesImage


@contextmanager
def literal_text(settings: dict[str, Any] | None = None) -> Iterator[None]:
    """Render tokens as text: no formulas between dollar signs, no warnings of characters that the font lacks.

    Plotting and saving both belong inside: axes create the labels of their ticks while they are rendered.
    """
    import matplotlib

    as_text = {"text.parse_math": False, "text.usetex": False} | (settings or {})
    with matplotlib.rc_context(as_text), warnings.catch_warnings():
        # Characters without a glyph, scripts without shaping, names too long for their axes: the plot is still the
        # best there is.
        warnings.simplefilter("ignore", UserWarning)
        yield


def new_figure(width: float, height: float, **options: Any) -> "Figure":
    """Return an empty matplotlib figure of that size in inches; fill and save it inside `literal_text`."""
    # matplotlib takes most of a second to load, and only a plot needs it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure
