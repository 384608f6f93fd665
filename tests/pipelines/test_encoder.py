"""A text encoder fills masks, and gives vectors of texts and tokens."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import regard
from encoder_folders import WORDS, bert_tokenizer, minilm, small_encoder_bundle, their_encoder
from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import Bundle, write_bundle
from regard.errors import ConfigError, DataError
from regard.models.base.settings import HeadSettings
from regard.models.heads import ModelWithHead
from regard.pipelines.encoder import Encoder
from regard.pipelines.inputs import SingleText
from regard.pipelines.mask_filling import MaskCandidate, MaskFilling
from regard.pipelines.pooling import cosine
from regard.progress import Progress
from regard.tasks.load import load, load_encoder

TEXTS = [WORDS[0], "dog", "", WORDS[1], "the cat sleeps", "the dog and the cat", "a ball", "dog"]
MASKED = [
    "The [MASK] sleeps in the [MASK].",
    "[MASK]",
    "the old [MASK] plays with the dog and the cat",
    "a[MASK]b [MASK]",
]


@pytest.fixture(scope="module")
def tokenizer():
    return bert_tokenizer()


@pytest.fixture(scope="module")
def encoder(tokenizer):
    return Encoder(small_encoder_bundle(tokenizer))


class Told(Progress):
    def __init__(self):
        self.told = []

    def warn(self, sentence):
        self.told.append(sentence)


def test_candidates_are_those_of_the_reference(tokenizer, tmp_path):
    import transformers

    their_encoder(tmp_path / "hf", "BertForMaskedLM", tokenizer)
    reference = transformers.pipeline("fill-mask", model=str(tmp_path / "hf"), top_k=4, device="cpu")
    encoder = regard.load(f"hf:{tmp_path / 'hf'}")
    for text in MASKED[:3]:
        expected = reference(text)
        expected = expected if isinstance(expected[0], list) else [expected]
        found = encoder.fill(text, top=4)
        assert [[each["token"] for each in mask] for mask in expected] == [
            [each.id for each in mask] for mask in found.masks
        ]
        for mask, scored in zip(found.masks, expected, strict=True):
            for mine, theirs in zip(mask, scored, strict=True):
                assert mine.probability == pytest.approx(theirs["score"], abs=1e-5)
                assert mine.token == tokenizer.tokens([theirs["token"]])[0]


def test_many_texts_are_filled_as_each_alone_in_their_order(encoder):
    together = encoder.fill(MASKED * 3)
    assert [each.row.text for each in together] == MASKED * 3
    assert [len(each.masks) for each in together] == [2, 1, 1, 2] * 3
    for found, alone in zip(together, [encoder.fill(text) for text in MASKED] * 3):
        for mask, expected in zip(found.masks, alone.masks, strict=True):
            assert [each.token for each in mask] == [each.token for each in expected]
            np.testing.assert_allclose([e.probability for e in mask], [e.probability for e in expected], atol=1e-5)
    assert encoder.fill([]) == []


def test_all_probabilities_add_up_to_one_and_words_may_be_given(encoder, tokenizer):
    everything = encoder.fill("the [MASK] sleeps", top=10_000).masks[0]
    assert len(everything) == tokenizer.size and sum(each.probability for each in everything) == pytest.approx(
        1, abs=1e-4
    )
    values = [each.probability for each in everything]
    assert values == sorted(values, reverse=True)
    candidates = encoder.fill("the [MASK] sleeps", candidates=["dog", "cat"]).masks[0]
    assert {each.token for each in candidates} == {"dog", "cat"}
    known = {each.token: each.probability for each in everything}
    assert all(each.probability == pytest.approx(known[each.token], abs=1e-6) for each in candidates)


def test_a_filling_says_its_text():
    dog, ing, cat = MaskCandidate("dog", 7, 0.5), MaskCandidate("##ing", 8, 0.4), MaskCandidate("cat", 9, 0.1)
    found = MaskFilling(SingleText("The [MASK] is play [MASK]."), ((dog, cat), (ing, cat)))
    assert found.filled == "The dog is playing."
    assert found.filled_with(0, cat) == "The cat is playing." and found.filled_with(1, cat) == "The dog is play cat."


def test_vectors_of_many_texts_are_those_of_each_alone(encoder):
    for pooling in ("mean", "cls", "max"):
        for layer in (-1, 0, 1):
            together = encoder.embed(TEXTS, pooling, layer)
            assert together.shape == (len(TEXTS), 16) and together.dtype == np.float32
            alone = np.stack([encoder.embed(text, pooling, layer) for text in TEXTS])
            np.testing.assert_allclose(together, alone, atol=1e-5)
            assert np.array_equal(together[1], together[7])
    assert encoder.embed([]).shape == (0, 16)


def test_vectors_are_made_of_those_of_tokens(encoder):
    for text, found in zip(TEXTS, encoder.tokens(TEXTS, layer=1), strict=True):
        assert found.tokens[0] == "[CLS]" and found.tokens[-1] == "[SEP]" and not found.is_truncated
        np.testing.assert_allclose(encoder.embed(text, "mean", 1), found.vectors.mean(0), atol=1e-5)
        np.testing.assert_allclose(encoder.embed(text, "cls", 1), found.vectors[0], atol=1e-5)
        np.testing.assert_allclose(encoder.embed(text, "max", 1), found.vectors.max(0), atol=1e-5)
        for token, (begin, end) in zip(found.tokens[1:-1], found.offsets[1:-1], strict=True):
            assert text[begin:end].lower() == token.removeprefix("##")
    lengths = np.linalg.norm(encoder.embed(TEXTS, is_normalized=True), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_layers_are_counted_from_the_embeddings_or_from_the_last(encoder):
    layers = [encoder.embed("the dog", layer=layer) for layer in (-3, -2, -1, 0, 1, 2)]
    for one, other in zip(layers[:3], layers[3:]):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert np.abs(layers[0] - layers[1]).max() > 0.1
    with pytest.raises(ConfigError) as error:
        encoder.embed("the dog", layer=3)
    assert str(error.value) == (
        "layer: 3 is out of range; this model has embeddings (0) and 2 blocks (1 to 2, or -1 for the last)."
    )


def test_texts_that_are_too_long_lose_their_ends_and_that_is_told(encoder):
    told = Told()
    text = "the dog and " * 30
    found = encoder.tokens([text, "dog"], progress=told)
    assert [len(each.tokens) for each in found] == [32, 3] and [each.is_truncated for each in found] == [True, False]
    encoder.embed([text, "dog"], progress=told)
    assert told.told == ["1 of 2 texts have more than 32 tokens, and were truncated."]
    np.testing.assert_allclose(encoder.embed(text), encoder.embed("the dog and " * 10), atol=1e-5)


def test_no_more_is_read_than_was_learned(tokenizer):
    encoder = Encoder(small_encoder_bundle(tokenizer, {"length": 8}))
    assert len(encoder.tokens("the dog and the cat and the ball").tokens) == 8
    with pytest.raises(DataError) as error:
        encoder.fill(["[MASK]", "[MASK] dog and the cat and the ball"])
    assert str(error.value) == "line 2 has 10 tokens, but this model takes 8 at most; shorten it."


def test_nothing_is_more_than_the_same():
    draw = np.random.default_rng(0)
    for width in range(2, 60):
        vector = draw.normal(size=width).astype(np.float32)
        assert 1 - 1e-5 < cosine(vector, 3 * vector) <= 1 and cosine(vector, -vector) >= -1


def test_similarities_are_cosines(encoder):
    one, other = ["the dog", "a cat", ""], ["the ball", "dog"]
    found = encoder.similar(one, other)
    assert found.shape == (3, 2)
    vectors = [[encoder.embed(text) for text in texts] for texts in (one, other)]
    for i, a in enumerate(vectors[0]):
        for j, b in enumerate(vectors[1]):
            expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
            assert found[i, j] == pytest.approx(expected, abs=1e-5)
            assert encoder.similar(one[i], other[j]) == pytest.approx(expected, abs=1e-5)
    assert encoder.similar("the dog", "the dog") == pytest.approx(1, abs=1e-5)
    assert encoder.similar("the dog", "a cat", pooling="cls", layer=1) != pytest.approx(
        encoder.similar("the dog", "a cat")
    )


def test_a_word_in_two_texts_is_another_in_each_but_not_in_the_table(encoder):
    one, other = "She went to the Bank of the river", "he went to the bank for money"
    found = encoder.similar_words((one, "bank"), (other, "BANK"))
    assert found.without_context == pytest.approx(1, abs=1e-5) and found.in_context < 0.99
    same = encoder.similar_words((one, "bank"), (one, "bank"))
    assert same.in_context == pytest.approx(1, abs=1e-5)
    words = encoder.similar_words((one, "river"), (other, "money"))
    assert words.without_context < 0.9
    with pytest.raises(DataError) as error:
        encoder.similar_words((one, "ban"), (other, "bank"))
    assert str(error.value) == f'There is no word "ban" in "{one}"; name one that is.'
    with pytest.raises(DataError) as error:
        encoder.similar_words(("the dog " * 30 + "bank", "bank"), (other, "bank"))
    assert str(error.value) == (
        'The word "bank" is after the part of "the dog the dog the dog the dog the dog …" that the model takes; '
        "shorten the text."
    )


def test_what_it_does_can_be_looked_at(encoder, tokenizer):
    trace = encoder.inspect("the [MASK] sleeps", "a dog")
    assert trace.tokens["text"] == ["[CLS]", "the", "[MASK]", "sleeps", "[SEP]", "a", "dog", "[SEP]"]
    assert trace.layers("self") == 2
    weights = trace.attention("self", layer=0)
    assert weights.shape == (4, 8, 8)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    states = encoder.inspect("the dog", probes=["embedded", "hidden.*"]).arrays
    assert list(states) == ["embedded", "hidden.0", "hidden.1"]
    np.testing.assert_allclose(states["hidden.1"].mean(0), encoder.embed("the dog"), atol=1e-5)
    segmented = encoder.inspect("the", "dog", probes=["embedded"]).arrays["embedded"]
    plain = encoder.inspect("the [MASK] dog", probes=["embedded"]).arrays["embedded"]
    assert np.abs(segmented[3] - plain[3]).max() > 0.1


def test_what_each_block_would_fill_in(encoder):
    trace = encoder.logit_lens("the [MASK] sleeps")
    last = encoder.fill("the [MASK] sleeps").masks[0]
    assert trace.tokens["blocks.1"][2] == last[0].token
    np.testing.assert_allclose(trace.arrays["blocks.1.probabilities"][2], [e.probability for e in last], atol=1e-5)
    assert trace.arrays["blocks.0.ids"].shape == (5, 5)
    assert not np.allclose(trace.arrays["blocks.0.probabilities"], trace.arrays["blocks.1.probabilities"])


MISTAKES = {
    "line 1: there is no [MASK] in it; put one at the position to predict.": lambda e: e.fill("the dog"),
    "line 7: there is no [MASK] in it; put one at the position to predict.": lambda e: e.fill(
        ["[MASK]", ""], where=["line 3", "line 7"]
    ),
    "line 1 is not UTF-8 text; convert it first.": lambda e: e.fill("[MASK] \ud800"),
    "line 2 is not UTF-8 text; convert it first.": lambda e: e.embed(["a", "\ud800"]),
    "line 1 has 42 tokens, but this model takes 32 at most; shorten it.": lambda e: e.fill("[MASK]" * 40),
    "top: 0 is out of range, it must be greater than or equal to 1 (from the call).": lambda e: e.fill(
        "[MASK]", top=0
    ),
    'pooling: "sum" is not one of cls, mean, max; choose one.': lambda e: e.embed("a", pooling="sum"),
    "inspect: the text has 42 tokens with special tokens, but this model takes 32 at most; shorten it.": lambda e: (
        e.inspect("dog " * 40)
    ),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_named(sentence, encoder):
    with pytest.raises((ConfigError, DataError)) as error:
        MISTAKES[sentence](encoder)
    assert str(error.value) == sentence


def test_a_word_of_several_tokens_is_no_choice(encoder):
    with pytest.raises(ConfigError) as error:
        encoder.fill("[MASK]", candidates=["dog", "doggedly"])
    assert str(error.value).startswith('candidates: "doggedly" is not one token of this model (dog ##')


def test_masks_need_a_head_and_a_token(tokenizer):
    encoder = Encoder(small_encoder_bundle(tokenizer, {"untrained": ["masked words"]}))
    for attempt in (encoder.fill, encoder.logit_lens):
        with pytest.raises(ConfigError) as error:
            attempt("the [MASK]")
        assert str(error.value) == (
            "fill: this model has no pretrained masked-LM head, so it cannot fill masks; use one with that head, "
            "such as a run of regard train masked-language-model."
        )
    plain = tokenizer_of("byte-level")
    encoder = Encoder(small_encoder_bundle(plain))
    with pytest.raises(ConfigError) as error:
        encoder.fill("the [MASK]")
    assert (
        str(error.value)
        == "This model's tokenizer has no [MASK], so it cannot fill masks; use a masked language model."
    )
    assert encoder.embed("the [MASK]").shape == (16,)


def test_a_head_above_the_encoder_is_left_aside(encoder, tokenizer, tmp_path):
    plain, head = encoder.bundle, HeadSettings(outputs=2)
    bundle = Bundle(
        "classify",
        ModelWithHead(plain.model, head),
        plain.settings,
        plain.vocabularies,
        plain.tokenizers,
        {"max_length": 9},
        head,
    )
    found = Encoder(bundle)
    np.testing.assert_allclose(found.embed("the dog"), encoder.embed("the dog"))
    assert found.max_length == 9


def test_models_of_other_families_and_tasks_are_refused(encoder, tmp_path):
    write_bundle(tmp_path / "gpt", language_bundle(tokenizer_of("byte-level"), window=24))
    with pytest.raises(ConfigError) as error:
        load_encoder(tmp_path / "gpt")
    assert str(error.value) == (
        f"{tmp_path / 'gpt'}: this is a language model of the family gpt, and only a text encoder such as BERT "
        f"embeds texts; use it with regard generate, score or regard evaluate."
    )
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "gpt", task="masked-language-model")
    assert str(error.value) == (
        f"{tmp_path / 'gpt'}: this is a language model, not a masked language model; use it with regard generate, "
        f"score or regard evaluate."
    )
    write_bundle(tmp_path / "bert", encoder.bundle)
    assert isinstance(load(tmp_path / "bert", task="masked-language-model"), Encoder)
    np.testing.assert_allclose(load_encoder(tmp_path / "bert").embed("dog"), encoder.embed("dog"))


def reference_vectors(folder, texts):
    """Return vectors as the page of the model tells: the mean of all tokens, normalized."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    batch = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch).last_hidden_state
    token_mask = batch["attention_mask"][:, :, None].float()
    return torch.nn.functional.normalize((states * token_mask).sum(1) / token_mask.sum(1), dim=1)


def test_minilm_finds_the_similarities_of_the_reference():
    texts = [*WORDS, "A man is playing a guitar.", "Somebody plays an instrument.", "word " * 300, "Ähnlich?"]
    encoder = regard.load(f"hf:{minilm()}")
    expected = reference_vectors(minilm(), texts)
    assert_close(torch.from_numpy(encoder.embed(texts)), expected, atol=1e-5, rtol=0)
    assert_close(torch.from_numpy(encoder.similar(texts, texts)), expected @ expected.T, atol=1e-5, rtol=0)
    found = encoder.similar_words(
        ("She sat on the bank of the river.", "bank"), ("She took the money to the bank.", "bank")
    )
    again = encoder.similar_words(
        ("She opened an account at the bank.", "bank"), ("She took the money to the bank.", "bank")
    )
    assert found.in_context + 0.05 < again.in_context < 0.99 and found.without_context == pytest.approx(1)
