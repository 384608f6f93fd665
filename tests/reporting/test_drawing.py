"""Plots show any text literally, without warnings, and leave the settings of matplotlib as they were."""

import io
import warnings

import matplotlib
import pytest

from nasty import NASTY
from regard.escaping import in_picture
from regard.reporting.drawing import literal_text, new_figure


def test_text_between_dollar_signs_is_no_formula_inside_and_settings_come_back():
    before = matplotlib.rcParams["text.parse_math"]
    with literal_text({"font.size": 7.0}):
        assert not matplotlib.rcParams["text.parse_math"] and matplotlib.rcParams["font.size"] == 7.0
    assert matplotlib.rcParams["text.parse_math"] == before and matplotlib.rcParams["font.size"] != 7.0


def test_any_label_can_be_drawn_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with literal_text():
            figure = new_figure(3, 2)
            axes = figure.add_subplot()
            axes.set_xticks(range(len(NASTY)), [in_picture(text) for text in NASTY])
            axes.set_title(r"$\frac{1}{$")
            image = io.BytesIO()
            figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")


def test_a_figure_has_the_size_in_inches_and_its_options():
    figure = new_figure(4, 2.5, layout="constrained")
    assert figure.get_size_inches().tolist() == [4, 2.5] and figure.get_layout_engine() is not None
    assert not figure.axes


def test_an_error_inside_passes_through_and_settings_come_back():
    before = matplotlib.rcParams["text.usetex"]
    with pytest.raises(ZeroDivisionError), literal_text({"text.usetex": True}):
        raise ZeroDivisionError
    assert matplotlib.rcParams["text.usetex"] == before
