"""A text encoder goes to Hugging Face and comes from there: the same hidden states, the same scores."""

import json
import shutil

import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

import regard
from encoder_folders import TEXTS, WORDS, bert_tokenizer, minilm, small_encoder_bundle, their_encoder
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.interop.huggingface.encoders import read_encoder, write_encoder
from regard.interop.huggingface.folder import read_config
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write
from regard.nn.probes.probe import listening, probes
from regard.progress import SILENT, Progress
from regard.text.settings import MaskedTextSettings
from regard.text.training import train_tokenizer

PARTS = {
    "BertForPreTraining": [],
    "BertForMaskedLM": ["pooler"],
    "BertForNextSentencePrediction": ["masked words"],
    "BertModel": ["masked words"],
}
"""What is drawn anew when such a folder is read."""


@pytest.fixture(scope="module")
def tokenizer():
    return bert_tokenizer()


def pairs(size, rows=3, length=20):
    """Return tokens, segments and what is no padding."""
    draw = torch.Generator().manual_seed(3)
    tokens = torch.randint(5, size, (rows, length), generator=draw)
    token_mask = torch.arange(length) < torch.tensor([length, 7, 13])[:, None]
    return torch.where(token_mask, tokens, 0), (torch.arange(length) >= 5).long().expand(rows, -1), token_mask


def every_layer(model, *inputs):
    """Return what the first block reads and what every block hands on."""
    seen = []
    found = [probe for name, probe in probes(model).items() if name == "embedded" or name.startswith("hidden.")]
    with torch.no_grad(), listening(dict.fromkeys(found, seen.append)):
        model.hidden_states(*inputs)
    return seen


def assert_the_same(ours, theirs, atol=1e-5):
    """Compare hidden states of every layer, and whatever heads theirs has."""
    tokens, segments, token_mask = pairs(theirs.config.vocab_size)
    with torch.no_grad():
        found = theirs(
            input_ids=tokens, token_type_ids=segments, attention_mask=token_mask.long(), output_hidden_states=True
        )
        layers = every_layer(ours, tokens, segments, token_mask)
        assert len(layers) == len(found.hidden_states) and found.hidden_states[-1].std() > 0.3
        for mine, expected in zip(layers, found.hidden_states):
            assert_close(mine[token_mask], expected[token_mask], atol=atol, rtol=0)
        hidden = ours.hidden_states(tokens, segments, token_mask)
        if getattr(found, "pooler_output", None) is not None:
            assert_close(ours.pool(hidden[:, 0]), found.pooler_output, atol=atol, rtol=0)
        words = found.get("prediction_logits", found.get("logits"))
        if words is not None and words.dim() == 3:
            assert_close(ours.project(hidden)[token_mask], words[token_mask], atol=10 * atol, rtol=0)
        follows = found.get("seq_relationship_logits", found.get("logits"))
        if follows is not None and follows.dim() == 2:
            assert_close(ours.next_sentence(ours.pool(hidden[:, 0])), follows, atol=atol, rtol=0)


def loaded(folder, missing=()):
    import transformers

    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    theirs, report = getattr(transformers, architecture).from_pretrained(folder, output_loading_info=True)
    assert set(report.pop("missing_keys")) == set(missing) and not any(report.values()), report
    return theirs.eval()


@pytest.mark.parametrize(
    "changes", [{}, {"activation": "relu", "has_bias": False}, {"activation": "gelu-tanh"}], ids=str
)
@pytest.mark.parametrize(
    "architecture, own, facts",
    [
        ("BertForPreTraining", {}, {}),
        ("BertForMaskedLM", {"next_sentence_head": False}, {}),
        ("BertForNextSentencePrediction", {}, {"untrained": ["masked words"]}),
        ("BertModel", {"next_sentence_head": False}, {"untrained": ["masked words"]}),
    ],
)
def test_what_is_written_gives_the_same_there_and_comes_back(architecture, own, facts, changes, tokenizer, tmp_path):
    bundle = small_encoder_bundle(tokenizer, facts, **own, **changes)
    form = write(bundle, tmp_path / "hf")
    assert (form.name, form.architecture) == ("BERT", architecture)
    assert_the_same(bundle.model, loaded(tmp_path / "hf"))
    back = read(tmp_path / "hf")
    assert back.facts.get("untrained", []) == PARTS[architecture]
    assert (back.task, back.vocabularies) == (bundle.task, bundle.vocabularies)
    assert back.settings.model_dump(exclude={"has_bias"}) == bundle.settings.model_dump(exclude={"has_bias"})
    assert json.loads(back.tokenizers["tokenizer"].to_json()) == json.loads(tokenizer.to_json())
    assert_the_same(back.model, loaded(tmp_path / "hf"))


def test_a_body_without_anything_above_it_is_written_as_such(tokenizer, tmp_path):
    facts = {"untrained": ["pooler", "masked words"]}
    bundle = small_encoder_bundle(tokenizer, facts, next_sentence_head=False)
    assert write(bundle, tmp_path / "hf").architecture == "BertModel"
    loaded(tmp_path / "hf", missing=["pooler.dense.weight", "pooler.dense.bias"])
    assert read(tmp_path / "hf").facts == facts


def test_a_round_trip_changes_nothing(tokenizer, tmp_path):
    bundle = small_encoder_bundle(tokenizer)
    form = write_encoder(bundle, bundle.settings, tmp_path / "one", SILENT)
    back = read_encoder(tmp_path / "one", read_config(tmp_path / "one"), form)
    assert (back.settings, back.facts) == (bundle.settings, bundle.facts)
    weights = back.model.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in bundle.model.state_dict().items())
    write(back, tmp_path / "two")
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


THEIRS = [
    ("BertModel", {}),
    ("BertModel", {"hidden_act": "gelu_new", "type_vocab_size": 3, "layer_norm_eps": 1e-5}),
    ("BertForPreTraining", {"hidden_act": "swish"}),
    ("BertForMaskedLM", {"vocab_size": 640}),
    ("BertForMaskedLM", {"tie_word_embeddings": False}),
    ("BertForPreTraining", {"tie_word_embeddings": False}),
    ("BertForNextSentencePrediction", {"num_attention_heads": 2}),
]


@pytest.mark.parametrize("architecture, changes", THEIRS, ids=str)
def test_what_is_read_gives_their_hidden_states_and_goes_back(architecture, changes, tokenizer, tmp_path):
    theirs = their_encoder(tmp_path / "theirs", architecture, tokenizer, **changes)
    bundle = read(tmp_path / "theirs")
    assert_the_same(bundle.model, theirs)
    assert bundle.facts.get("untrained", []) == PARTS[architecture]
    assert bundle.task == regard.tasks.load.read_task(f"hf:{tmp_path / 'theirs'}") == "masked-language-model"
    write(bundle, tmp_path / "ours")
    assert_the_same(bundle.model, loaded(tmp_path / "ours"))
    write_bundle(tmp_path / "checkpoint", bundle)
    again = read_bundle(tmp_path / "checkpoint")
    assert (again.settings, again.facts) == (bundle.settings, bundle.facts)
    assert_the_same(again.model, theirs)


def test_parts_that_are_missing_are_drawn_alike_whatever_was_drawn_before(tokenizer, tmp_path):
    their_encoder(tmp_path / "theirs", "BertForMaskedLM", tokenizer)
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one = read(tmp_path / "theirs").model.pooler.weight
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    assert torch.equal(read(tmp_path / "theirs").model.pooler.weight, one) and one.any()


def test_the_authors_own_names_of_norms_are_read(tokenizer, tmp_path):
    theirs = their_encoder(tmp_path / "theirs", "BertForPreTraining", tokenizer)
    path = tmp_path / "theirs" / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = {}
    for name, value in tensors.items():
        for new, former in old.items():
            name = name.replace(new, former)
        renamed[name] = value
    renamed["bert.embeddings.position_ids"] = torch.arange(32)[None]
    renamed["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].clone()
    renamed["cls.predictions.decoder.bias"] = renamed.pop("cls.predictions.bias")
    assert any("gamma" in name for name in renamed)
    safetensors.torch.save_file(renamed, path)
    assert_the_same(read(tmp_path / "theirs").model, theirs)


def test_half_precision_and_parts_of_weights_are_read(tokenizer, tmp_path):
    theirs = their_encoder(tmp_path / "theirs", "BertForPreTraining", tokenizer)
    theirs.half().save_pretrained(tmp_path / "half", max_shard_size="20KB")
    assert len(list((tmp_path / "half").glob("*.safetensors"))) > 1
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tmp_path / "theirs" / name, tmp_path / "half" / name)
    assert_the_same(read(tmp_path / "half").model, theirs.float())


class Told(Progress):
    def __init__(self):
        self.told = []

    def warn(self, sentence):
        self.told.append(sentence)


def test_dropout_that_cannot_be_said_there_is_told(tokenizer, tmp_path):
    told = Told()
    write(small_encoder_bundle(tokenizer, embedding_dropout=0.3, feed_forward_dropout=0.2), tmp_path / "hf", told)
    assert told.told == [
        "model.embedding_dropout: 0.3 is not written, BERT has no such setting.",
        "model.feed_forward_dropout: 0.2 is not written, BERT has no such setting.",
    ]


@pytest.mark.parametrize("kind", ["bpe", "word"])
def test_another_tokenizer_goes_along_too(kind, tmp_path):
    from transformers import AutoTokenizer

    settings = MaskedTextSettings(kind=kind, size=400)
    tokenizer = train_tokenizer(TEXTS, settings)
    write(small_encoder_bundle(tokenizer), tmp_path / "hf")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "hf")
    for text in WORDS:
        assert theirs(text)["input_ids"] == [tokenizer.bos_id, *tokenizer.encode(text).ids, tokenizer.eos_id]
    assert read(tmp_path / "hf").tokenizers["tokenizer"].encode(WORDS[0]) == tokenizer.encode(WORDS[0])


def test_minilm_gives_the_hidden_states_of_the_reference():
    from transformers import AutoModel

    folder = minilm()
    bundle = read(folder)
    assert bundle.facts["untrained"] == ["masked words"]
    assert bundle.facts["embed"] == {"pooling": "mean", "is_normalized": True, "max_length": 256}
    theirs = AutoModel.from_pretrained(folder).eval()
    assert_the_same(bundle.model, theirs)
    tokens = torch.tensor([[101, *bundle.tokenizers["tokenizer"].encode(text).ids[:40], 102] for text in WORDS[:1]])
    with torch.no_grad():
        assert_close(bundle.model.hidden_states(tokens), theirs(tokens).last_hidden_state, atol=1e-5, rtol=0)
