import math

import pytest

from regard.errors import ConfigError
from regard.studio.views.tree import AlternativesRequest, TreeRequest, show_alternatives, show_tree

SENTENCE = "Der kleine Hund schläft im Garten."


def test_hypotheses_are_those_of_the_call_and_probabilities_multiply_to_them(translator):
    view = show_tree(translator, TreeRequest(model="m", text=SENTENCE, options={"beam_size": 3}))
    expected = translator(SENTENCE, beam_size=3).candidates
    assert [each.text for each in view.hypotheses] == [each.text for each in expected]
    assert [each.score for each in view.hypotheses] == pytest.approx([each.score for each in expected], abs=1e-5)
    best = next(each for each in view.nodes if each.fate == "finished")
    product, node = 0.0, best
    while node is not None:
        product += math.log(node.probability)
        node = view.nodes[node.parent] if node.parent >= 0 else None
    assert product == pytest.approx(best.log_probability, abs=1e-4)
    assert view.method == "beam" and view.beam_size == 3 and not view.passes


def test_another_token_may_be_taken_and_the_search_continues_from_it(translator):
    first = show_tree(translator, TreeRequest(model="m", text=SENTENCE, options={"beam_size": 2}))
    ids = first.hypotheses[0].token_ids
    others = show_alternatives(translator, AlternativesRequest(model="m", text=SENTENCE, prefix=ids[:1])).candidates
    values = [each.probability for each in others]
    assert values == sorted(values, reverse=True) and sum(values) <= 1.0001
    taken = next(each for each in others if each.id != ids[1] and each.id not in translator.special_tokens.never)
    forced = TreeRequest(model="m", text=SENTENCE, options={"beam_size": 2}, prefix=(ids[0], taken.id))
    view = show_tree(translator, forced)
    assert view.forced == 2 and all(each.token_ids[:2] == [ids[0], taken.id] for each in view.hypotheses)


def test_alternatives_are_those_of_the_pipeline(translator):
    ours = show_alternatives(translator, AlternativesRequest(model="m", text=SENTENCE, prefix=(), top=4)).candidates
    theirs = translator.alternatives(SENTENCE, count=3)
    by_token = {each.id: each.probability for each in ours}
    for each in theirs:
        number = translator.tokenizer.backend.token_to_id(each.token)
        if number in by_token:
            assert by_token[number] == pytest.approx(each.probability, abs=1e-5)
    assert len(by_token) == 4


def test_language_models_have_trees_too_and_mask_predict_has_passes(pipeline_of, masked_run):
    options = {"method": "beam", "beam_size": 3, "max_new_tokens": 4}
    view = show_tree(pipeline_of("language-model"), TreeRequest(model="m", text="Anna", options=options))
    assert view.nodes and max(each.step for each in view.nodes) <= 4
    from regard.tasks.load import load

    passes = show_tree(load(masked_run.path), TreeRequest(model="m", text=SENTENCE, options={"iterations": 2})).passes
    assert {each.iteration for each in passes} == {1, 2}


def test_a_model_that_generates_nothing_is_refused(pipeline_of):
    with pytest.raises(ConfigError, match="generates no text"):
        show_tree(pipeline_of("classify"), TreeRequest(model="m", text="x"))
