"""What recurrent and convolutional models promise: the same as the Transformer, whatever their settings."""

import pytest
import torch
from torch.testing import assert_close

from promises import (
    assert_causal,
    assert_hypotheses_see_their_own_past,
    assert_padding_changes_nothing,
    assert_steps_equal_the_whole,
    everything,
)
from regard.decoding.settings import TranslationDecoding
from regard.decoding.steppers.interface import SpecialTokens
from regard.errors import ConfigError, DataError
from regard.models.base.settings import Vocabularies
from regard.models.convolutional import ConvolutionalSettings
from regard.models.families import build_model, family
from regard.models.recurrent.seq2seq import RecurrentSettings
from regard.nn.probes.probe import listening, probes
from small import ENDS, VOCABULARY, decode, log_probability, random_tokens, sources

SCORES = ["cosine", "additive", "location", "general", "dot", "scaled-dot"]
PLAIN = [
    *({"cell": cell} for cell in ("rnn", "lstm", "gru")),
    {"context": "once", "encoder_layers": 2, "decoder_layers": 2, "cell": "lstm"},
    {"bidirectional": "no", "summary": "learned"},
    {"bidirectional": "sum", "decoder_layers": 3},
    {"bidirectional": "layer", "embedding_width": 12},
]
ATTENTIVE = [
    *({"alignment": score} for score in SCORES),
    *({"alignment": score, "attends": "after"} for score in SCORES),
    {"alignment": "general", "attends": "after", "has_input_feeding": True, "cell": "lstm", "decoder_layers": 2},
    {"alignment": "additive", "attends": "after", "has_input_feeding": True, "embedding_width": 12},
    {"alignment": "additive", "cell": "lstm", "encoder_layers": 2, "decoder_layers": 2, "embedding_width": 12},
    {"alignment": "additive", "cell": "rnn", "bidirectional": "no", "summary": "learned", "alignment_width": 7},
]
CONVOLUTIONAL = [{"kernel": 3}, {"kernel": 5, "embedding_width": 12}, {"kernel": 1}]
VARIANTS = [*PLAIN, *ATTENTIVE, *CONVOLUTIONAL]


def settings_of(**changes):
    if "kernel" in changes:
        return ConvolutionalSettings(**({"width": 16, "encoder_layers": 2, "decoder_layers": 3} | changes))
    return RecurrentSettings(**({"width": 16, "max_positions": 20} | changes))


def small(seed=0, **changes):
    """Return a small model whose outputs are far from uniform, so that comparisons mean something."""
    torch.manual_seed(seed)
    model = build_model(settings_of(**changes), Vocabularies(VOCABULARY, VOCABULARY, True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.1 if "kernel" in changes else 0.3))
    return model.eval()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_later_tokens_do_not_change_earlier_outputs(variant):
    assert_causal(small(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_padding_changes_nothing(variant):
    assert_padding_changes_nothing(small(**variant), 1e-5)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_decoding_step_by_step_equals_decoding_at_once(variant):
    assert_steps_equal_the_whole(small(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("tokens_a_step", [1, 2])
def test_hypotheses_that_branch_and_swap_see_their_own_past_only(variant, tokens_a_step):
    assert_hypotheses_see_their_own_past(small(**variant), tokens_a_step)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize(
    "method", [{"beam_size": 1}, {"beam_size": 4}, {"method": "sample", "num_samples": 2}], ids=str
)
def test_batched_output_equals_single_output(variant, method):
    model = small(**variant)
    lengths = [9, 3, 5, 1]
    source, token_mask = sources(lengths)
    settings = TranslationDecoding(max_length_ratio=1, max_length_extra=4, **method)
    together = decode(model, source, token_mask, ENDS, settings)
    for row, length in enumerate(lengths):
        alone = decode(
            model, source[row : row + 1, :length], token_mask[row : row + 1, :length], ENDS, settings, lines=[row]
        )
        assert [found.ids for found in alone[0]] == [found.ids for found in together[row]]
        for found in together[row]:
            expected = log_probability(model, source[row, :length], found.ids, (found.finish_reason != "length"))
            assert abs(found.log_probability - expected) < 1e-4


@pytest.mark.parametrize("variant", [*ATTENTIVE, *CONVOLUTIONAL], ids=str)
def test_listeners_see_attention_over_the_whole_target_and_change_nothing(variant):
    model = small(**variant)
    source, token_mask = sources([6, 4])
    target = random_tokens(2, 5, seed=1)
    found = {name: probe for name, probe in probes(model).items() if name.endswith(".cross.weights")}
    assert len(found) == (3 if "kernel" in variant else 1)
    seen = []
    with torch.no_grad(), listening(dict.fromkeys(found.values(), seen.append)):
        heard = model(source, token_mask, target)
    assert_close(heard, model(source, token_mask, target))
    for weights in seen:
        assert weights.shape == (2, 1, 5, 6)
        assert_close(weights.sum(-1), torch.ones(2, 1, 5))
        assert not weights[1, ..., 4:].any()


@pytest.mark.parametrize("variant", [ATTENTIVE[1], ATTENTIVE[9], ATTENTIVE[12], CONVOLUTIONAL[0]], ids=str)
def test_a_coverage_penalty_works_in_beam_search(variant):
    model = small(**variant)
    source, token_mask = sources([6, 3])
    settings = TranslationDecoding(beam_size=3, coverage_penalty=0.4, max_length_ratio=1, max_length_extra=2)
    together = decode(model, source, token_mask, ENDS, settings)
    alone = decode(model, source[1:, :3], token_mask[1:, :3], ENDS, settings)
    assert [found.ids for found in alone[0]] == [found.ids for found in together[1]]
    assert abs(alone[0][0].score - together[1][0].score) < 1e-4


def test_without_attention_there_is_no_coverage():
    source, token_mask = sources([6])
    with pytest.raises(ConfigError, match="coverage_penalty: this model has no cross-attention"):
        decode(small(cell="gru"), source, token_mask, ENDS, TranslationDecoding(coverage_penalty=0.4))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_parameter_learns(variant):
    model = small(**variant).train()
    source, token_mask = sources([6, 4])
    model(source, token_mask, random_tokens(2, 5, seed=1)).square().sum().backward()
    assert not [name for name, each in model.named_parameters() if each.grad is None or not each.grad.any()]


@pytest.mark.parametrize("variant", [PLAIN[0], *ATTENTIVE[1::6], ATTENTIVE[12], CONVOLUTIONAL[0]], ids=str)
def test_hypotheses_of_one_sentence_send_their_gradients_together(variant):
    model = small(**variant)
    (source, token_mask), target = sources([6, 4]), random_tokens(6, 5, seed=1)
    parameters = list(model.parameters())
    memory = model.encode(source, token_mask)
    copies = model.encode(source, token_mask).select(torch.tensor([0, 0, 0, 1, 1, 1]))
    found, expected = (
        torch.autograd.grad(model.decode(target, each).square().sum(), parameters, allow_unused=True)
        for each in (memory, copies)
    )
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None) and (one is None or torch.allclose(one, other, atol=1e-3, rtol=1e-4))


@pytest.mark.parametrize("variant", [PLAIN[0], PLAIN[3], ATTENTIVE[0], ATTENTIVE[8], ATTENTIVE[12]], ids=str)
def test_own_words_are_read_in_training_only(variant):
    model = small(teacher_forcing=0.0, dropout=0.0, embedding_dropout=0.0, **variant)
    source, token_mask = sources([6, 4])
    target = random_tokens(2, 5, seed=1)
    with torch.no_grad():
        forced = model(source, token_mask, target)
        model.train()
        free = model(source, token_mask, target)
        ids = target[:, :1]
        for _ in range(4):
            ids = torch.cat((ids, model.eval()(source, token_mask, ids)[:, -1:].argmax(-1)), 1)
        expected = model(source, token_mask, ids)
    assert_close(free, expected, atol=1e-4, rtol=0)
    assert not torch.allclose(free, forced)


def test_the_share_of_right_words_follows_training():
    model = small(final_teacher_forcing=0.0, alignment="dot", dropout=0.0, embedding_dropout=0.0).train()
    source, token_mask = sources([6, 4])
    target = random_tokens(2, 5, seed=1)
    with torch.no_grad():
        forced, at_first = model.eval()(source, token_mask, target), model.train()(source, token_mask, target)
        model.advance(1.0)
        at_last = model(source, token_mask, target)
    assert_close(forced, at_first, atol=1e-5, rtol=0)
    assert not torch.allclose(at_first, at_last)


@pytest.mark.parametrize("variant", [{"cell": "lstm"}, {"alignment": "dot"}, {"kernel": 3}], ids=str)
def test_every_dropout_acts_in_training_and_only_there(variant):
    for name in ("dropout", "embedding_dropout"):
        model = small(**({"dropout": 0.0, "embedding_dropout": 0.0} | variant | {name: 0.5}))
        source, target = random_tokens(2, 6), random_tokens(2, 5, seed=1)
        with torch.no_grad():
            calm = model(source, everything(2, 6), target)
            assert torch.equal(model(source, everything(2, 6), target), calm)
            assert not torch.allclose(model.train()(source, everything(2, 6), target), calm), name


@pytest.mark.parametrize("kind", ["recurrent", "convolutional"])
def test_embeddings_are_shared_as_the_setting_says(kind):
    for embeddings, tables in (("shared", 1), ("target", 2), ("separate", 3)):
        settings = family(kind).settings(width=16, embeddings=embeddings)
        model = build_model(settings, Vocabularies(30, 30, True))
        found = {model.encoder.embedding.table.weight, model.decoder.embedding.table.weight, model.head.weight}
        assert len(found) == tables
    with pytest.raises(ConfigError, match='model.embeddings: "shared" needs one vocabulary for both languages'):
        build_model(family(kind).settings(width=16), Vocabularies(30, 40, False))


def test_learned_places_bound_source_and_output():
    model = small(alignment="location", max_positions=7)
    assert model.max_positions == 7 and small(alignment="dot", max_positions=7).max_positions is None
    source, token_mask = sources([6])
    (found,) = decode(model, source, token_mask, SpecialTokens(2, 3, (0, 1, 2, 3)), TranslationDecoding(beam_size=2))
    assert len(found[0].ids) == 7
    with pytest.raises(DataError, match="A source of 8 tokens goes past the 7 positions"):
        model.encode(*sources([8]))
    with pytest.raises(DataError, match="A sequence of 8 tokens goes past the 7 positions this model has learned"):
        small(kernel=3, max_positions=7).encode(*sources([8]))


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"width": 15}, "width: 15 is an odd number, but each direction computes half of it; choose an even one"),
        ({"alignment": "dot", "context": "once"}, 'context: "once" applies to models without attention'),
        ({"has_input_feeding": True}, "has_input_feeding: true needs attention after the step"),
        ({"has_input_feeding": True, "alignment": "dot"}, "has_input_feeding: true needs attention after the step"),
        ({"kernel": 4}, "kernel: 4 is even, but convolutions are centered; choose an odd number"),
    ],
    ids=str,
)
def test_choices_that_do_not_fit_are_refused_in_words(changes, text):
    with pytest.raises(ValueError, match=text):
        small(**changes)
