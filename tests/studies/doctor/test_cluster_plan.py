import pytest

from regard.errors import ConfigError
from regard.runs.planning.recipes import chosen_recipe
from regard.runs.planning.settings import ClusterSettings
from regard.studies.doctor.cluster import plan_for


def test_a_given_speed_is_taken_and_nothing_is_measured(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b c d e f . " * 3000)
    words = {"data.train.paths": [str(text)], "model.preset": "gpt-tiny", "model.width": 16, "text.size": 300}
    cluster = ClusterSettings(gpus=2, tokens_per_second=1000)
    plan = plan_for(chosen_recipe("language-model"), words, cluster)
    assert plan.updates_per_epoch and plan.cluster.tokens_per_second == 1000
    assert plan.cluster.device.type == "cpu" and plan.cluster.measured == "given"


def test_word_vectors_are_refused():
    with pytest.raises(ConfigError, match="^vectors: such models train in one process"):
        plan_for(chosen_recipe("vectors-miniature"), {}, ClusterSettings())
