"""HTML elements of reports."""

import pytest

from regard.studies.race.charts import Chart, draw_lines
from regard.studies.race.elements import (
    bullets,
    duration,
    figure,
    html_table,
    reach_lines,
    report_page,
    sample_table,
    section,
)

PLOT = Chart("p", "A & B", lambda axes, theme: draw_lines(axes, [("a", [0, 1], [1, 2])]))


def test_a_section_without_plots_and_text_is_left_out():
    assert section("Loss", ["", figure(None, "caption")]) == ""
    assert section("Loss", [], "<p>x</p>") == "<section><h2>Loss</h2><p>x</p></section>"


def test_several_plots_are_a_grid_and_one_is_not():
    one = section("Loss & time", [figure(PLOT, "1 < 2"), ""])
    assert one.startswith("<section><h2>Loss &amp; time</h2><figure><svg ") and 'class="grid"' not in one
    assert "<figcaption>1 &lt; 2</figcaption></figure>" in one and 'aria-label="A &amp; B"' in one
    assert section("Loss", ["a", "b"]) == '<section><h2>Loss</h2><div class="grid">ab</div></section>'


def test_lines_are_escaped_in_a_list():
    assert bullets([]) == "" and bullets(["a", "<b>"]) == "<ul><li>a</li><li>&lt;b&gt;</li></ul>"


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0:00"), (61, "1:01"), (3599.6, "1:00:00"), (7325, "2:02:05")])
def test_a_duration_has_hours_where_it_needs_them(seconds, shown):
    assert duration(seconds) == shown


def test_a_gradient_is_said_to_vanish_only_where_it_does():
    members = [
        {"name": name, "reach": {"text": {"distance": [1.0, 40.0], "gradient": gradient}}}
        for name, gradient in (("lstm", [3.0, 0.01]), ("gpt", [1.5, 0.5]))
    ]
    assert reach_lines([*members, {"name": "x", "reach": {"text": None}}], "text") == [
        "lstm: 3 at a distance of 1, 0.01 at 40: it vanishes with the distance.",
        "gpt: 1.5 at a distance of 1, 0.5 at 40: it does not vanish in this range.",
    ]


def test_samples_have_a_row_for_each_member():
    sample = {"source": "Ja.", "reference": "Yes.", "output": "<Yes>"}
    table = sample_table([{"name": "a", "samples": [sample]}, {"name": "b", "samples": [sample | {"output": "No."}]}])
    assert (
        table.count("<tr>") == 4
        and "&lt;Yes&gt;" in table
        and "<th scope=row>b</th><td>No.</td>" in table
        and table.count("<tbody>") == 1
    )
    assert sample_table([]) == sample_table([{"name": "a", "samples": []}]) == ""


def test_a_table_marks_the_best_and_has_a_note_where_one_is_given():
    shown = html_table(["model", "F1 <"], [[("a&b", False), ("0.9", True)]], "in %")
    assert "<th>F1 &lt;</th>" in shown and "<td>a&amp;b</td><td class=best>0.9</td>" in shown
    assert shown.endswith("</table></div><small>in %</small>") and "<small>" not in html_table(["model"], [])


def test_a_page_leaves_out_empty_sections_and_shows_texts_as_they_are():
    shown = report_page("<Race>", "2 & 3", ["a < b"], "<table></table>", ["", "<section>$x</section>"])
    assert "&lt;Race&gt;" in shown and "2 &amp; 3" in shown and "<li>a &lt; b</li>" in shown
    assert "<section>$x</section>" in shown and "<table></table>" in shown
