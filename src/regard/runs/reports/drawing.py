"""Where every picture is made: names are drawn as they are, never as formulas, whatever letters the font lacks."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def words_as_they_are(settings: dict[str, Any] | None = None) -> Iterator[None]:
    """Draw tokens as text: no formulas between dollar signs, and no word about letters that the font lacks.

    Both what is drawn and its saving belong inside: axes make the texts of their ticks while they are drawn.
    """
    import matplotlib

    as_text = {"text.parse_math": False, "text.usetex": False} | (settings or {})
    with matplotlib.rc_context(as_text), warnings.catch_warnings():
        # Letters without a glyph, scripts without shaping, names too long for their axes: the picture is as good as
        # it can be all the same.
        warnings.simplefilter("ignore", UserWarning)
        yield


def new_figure(width: float, height: float, **options: Any) -> Any:
    """Return an empty picture of that size, in inches; draw it and save it inside `words_as_they_are`."""
    # matplotlib takes most of a second to load, and only a picture needs it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure
