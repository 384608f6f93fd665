"""The tree holds every candidate of the search itself, and its finished nodes are the hypotheses."""

from dataclasses import replace

import pytest

from regard.decoding.generate import generate
from regard.decoding.session import GenerationJob
from regard.decoding.settings import MaskPredictDecoding, TranslationDecoding
from regard.decoding.steppers.interface import Request
from regard.decoding.tree import mask_predict_passes, search_tree
from regard.text.prefix import exact_prefix
from small import ENDS, ending_model, small_mask_predict


def job_of(**settings):
    return GenerationJob([ending_model()], ENDS, TranslationDecoding(**settings))


REQUEST = Request([5, 6, 7, 8, 3], 12)


def paths(tree):
    return {node.id: (*(tree_path(tree, node.parent)), node.token) for node in tree.nodes}


def tree_path(tree, number):
    return () if number < 0 else (*tree_path(tree, tree.nodes[number].parent), tree.nodes[number].token)


@pytest.mark.parametrize(
    "settings", [{}, {"length_penalty": "gnmt"}, {"coverage_penalty": 0.4}, {"repetition_penalty": 1.5}]
)
def test_finished_nodes_are_the_hypotheses_of_the_search(settings):
    job = job_of(beam_size=4, **settings)
    tree, expected = search_tree(job, REQUEST), generate(job, [REQUEST])[0]
    assert [each.ids for each in tree.hypotheses] == [each.ids for each in expected]
    assert [each.score for each in tree.hypotheses] == pytest.approx([each.score for each in expected], abs=1e-5)
    ended = [each for each in expected if each.finish_reason == "eos"]
    found = paths(tree)
    finished = {found[node.id][:-1]: node for node in tree.nodes if node.fate == "finished"}
    for each in ended:
        assert finished[tuple(each.ids)].score == pytest.approx(each.score, abs=1e-5)


def test_every_step_keeps_as_many_as_the_beam_and_prunes_worse_ones():
    tree = search_tree(job_of(beam_size=3), REQUEST)
    for step in range(1, 1 + max(node.step for node in tree.nodes)):
        level = [node for node in tree.nodes if node.step == step]
        kept = [node for node in level if node.fate in ("kept", "stopped")]
        pruned = [node for node in level if node.fate == "pruned" and node.token != ENDS.eos_id]
        assert len(kept) <= 3
        if pruned:
            assert min(node.log_probability for node in kept) >= max(node.log_probability for node in pruned)
    parents = {node.parent for node in tree.nodes} - {-1}
    assert all(tree.nodes[number].fate == "kept" for number in parents)


def test_a_forced_prefix_is_on_every_path():
    tree = search_tree(job_of(beam_size=3), replace(REQUEST, prefix=exact_prefix([9, 4])))
    assert all(each.ids[:2] == [9, 4] for each in tree.hypotheses)


def test_greedy_search_and_samples_are_a_path_each():
    greedy = search_tree(job_of(beam_size=1), REQUEST)
    assert len(greedy.hypotheses) == 1 and [node.parent for node in greedy.nodes] == list(
        range(-1, len(greedy.nodes) - 1)
    )
    assert greedy.nodes[-1].log_probability == pytest.approx(greedy.hypotheses[0].log_probability, abs=1e-5)
    sampled = search_tree(job_of(method="sample", num_samples=1), REQUEST)
    assert [node.token for node in sampled.nodes][: len(sampled.hypotheses[0].ids)] == sampled.hypotheses[0].ids


def test_passes_of_mask_predict_end_in_the_hypotheses():
    model = small_mask_predict()
    job = GenerationJob([model.eval()], ENDS, MaskPredictDecoding(iterations=3, length_candidates=2))
    passes, hypotheses = mask_predict_passes(job, REQUEST)
    assert {(each.iteration, each.candidate) for each in passes} == {(i, c) for i in (1, 2, 3) for c in (0, 1)}
    assert all(all(each.masked) for each in passes if each.iteration == 1)
    last = [each.tokens for each in passes if each.iteration == 3]
    assert all(each.ids in last for each in hypotheses)
