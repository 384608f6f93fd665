import regard
from regard.runs.planning.cluster_words import HEADER, cluster_values, given_words, strategy_rows


def test_a_row_has_a_value_under_each_word_of_the_header():
    words = {"model.preset": "gpt-tiny"}
    plan = regard.plan("language-model", words, cluster={"device": "h100", "gpus": 4, "tokens": 1e12}).cluster
    rows = strategy_rows(plan)
    assert [len(row) for row in rows] == [len(HEADER)] * len(plan.estimates)
    assert rows[0][0] == "replicate" and rows[-1][-1].endswith(" days")
    assert cluster_values(plan)["measured"].endswith("not measured on an h100")


def test_words_of_a_command_are_quoted_for_a_shell():
    words = given_words({"train.steps": 5, "data.train.paths": ["a b.txt"], "model.preset": "gpt2"})
    assert words == ["train.steps=5", """'data.train.paths=["a b.txt"]'""", "model.preset=gpt2"]
