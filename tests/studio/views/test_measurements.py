from regard.studies.race.records import MeasuredRecord, MeasuredText
from regard.studio.views.measurements import FLOOR, measured_panels

REACH = {"text": {"distance": [1.0, 2.0], "gradient": [1.5, 0.0]}}
POSITIONS = [{"shortest": 0, "longest": 0, "loss": 6.0}, {"shortest": 1, "longest": 7, "loss": 4.5}]


def test_language_models_are_compared_by_their_loss_at_each_position_and_their_reach():
    text = MeasuredText.model_validate({"checkpoint": "1", "reach": REACH, "positions": POSITIONS})
    by_title = {each.title: each for each in measured_panels({"gpt": text, "lstm": None})}
    positions = by_title["loss by position in the window"]
    assert positions.ranges == ["0", "1–7"] and positions.lines[0].values == [6.0, 4.5]
    reach = by_title["gradient reach in the text"]
    assert reach.is_logarithmic and reach.lines[0].values == [1.5, FLOOR]  # a logarithm of 0 could not be drawn
    assert [each.name for each in reach.lines] == ["gpt"] and set(by_title) == {positions.title, reach.title}


def test_members_without_measurements_have_no_panels():
    assert measured_panels({"bert": MeasuredRecord.model_validate({"checkpoint": "1", "reach": {}})}) == []
