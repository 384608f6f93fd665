"""A model written for Hugging Face computes, searches and spells the same there, and comes back unchanged."""

import json
import shutil

import pytest
import torch
from torch.testing import assert_close

import regard
from bundles import small_bundle
from regard import miniature
from regard.checkpoint.bundle import Bundle, read_bundle
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write
from regard.models.families import build_model
from regard.models.recurrent.seq2seq import RecurrentSettings
from regard.progress import Progress
from regard.tasks.translate.pipeline import Translator
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

FORMS = {
    "Marian": {"norm_order": "post"},
    "Pegasus": {"norm_order": "pre"},
    "Blenderbot": {"norm_order": "pre", "positions": "learned", "max_positions": 64},
}
VARIANTS = [
    *(("Marian", {"embeddings": embeddings}) for embeddings in ("shared", "target", "separate")),
    *(("Pegasus", {"embeddings": embeddings}) for embeddings in ("shared", "target", "separate")),
    ("Blenderbot", {}),
    ("Marian", {"activation": "silu", "has_output_bias": True, "scales_embeddings": False}),
    ("Pegasus", {"activation": "gelu", "has_bias": False, "encoder_layers": 1, "head_width": 4}),
]


@pytest.fixture(scope="module")
def tokenizer(pairs):
    return train_tokenizer([text for pair in pairs for text in pair], TokenizerSettings(size=300))


def tokens(bundle, rows=3, source=7, target=6):
    draw = torch.Generator().manual_seed(2)
    vocabularies = bundle.vocabularies
    return (
        torch.randint(4, vocabularies.source, (rows, source), generator=draw),
        torch.arange(source) < torch.tensor([[source], [4], [2]]),
        torch.randint(4, vocabularies.target, (rows, target), generator=draw),
    )


def logits(bundle):
    with torch.no_grad():
        return bundle.model(*tokens(bundle))


@pytest.mark.parametrize("form, changes", VARIANTS, ids=str)
def test_logits_are_equal_there_and_back(form, changes, tokenizer, tmp_path):
    from transformers import AutoModelForSeq2SeqLM

    bundle = small_bundle({"tokenizer": tokenizer}, **(FORMS[form] | changes))
    assert write(bundle, tmp_path / "hf").name == form
    theirs, report = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf", output_loading_info=True)
    assert type(theirs).__name__.startswith(form) and not any(report.values())
    source, token_mask, target = tokens(bundle)
    with torch.no_grad():
        found = theirs.eval()(input_ids=source, attention_mask=token_mask.long(), decoder_input_ids=target).logits
    assert_close(found, logits(bundle), atol=1e-4, rtol=0)
    back = read(tmp_path / "hf")
    assert_close(logits(back), logits(bundle), atol=0, rtol=0)
    shape = {"embeddings", "activation", "positions", "norm_order", "has_output_bias", "scales_embeddings"}
    assert back.settings.model_dump(include=shape) == bundle.settings.model_dump(include=shape)


TRAINED = {
    "model": {
        "width": 32,
        "heads": 2,
        "feed_forward_width": 64,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.1,
    },
    "text.size": 300,
    "train": {"steps": 100, "learning_rate": 6e-3, "warmup": 10, "tokens_per_update": 1000, "validate_every": 100},
    "validation.bleu_sentences": 0,
    "decode": {"beam_size": 4, "length_penalty_alpha": 0.6},
}


@pytest.mark.parametrize("form", FORMS)
def test_generate_and_a_round_trip_give_the_same_translations(form, tmp_path):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    pairs = [pair for pair in miniature.pairs("train", 2000) if len(pair.source) < 45]
    run = regard.train(
        "translate", TRAINED | {"model": TRAINED["model"] | FORMS[form]}, data=pairs, out=tmp_path / "run"
    )
    bundle = read_bundle(run.best)
    assert write(bundle, tmp_path / "hf").name == form
    texts = [pair.source for pair in pairs[:24]]
    ours = Translator(bundle)(texts)
    reader = AutoTokenizer.from_pretrained(tmp_path / "hf")
    theirs = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf").eval()
    found = theirs.generate(**reader(texts, return_tensors="pt", padding=True), max_length=64)
    found = reader.decode(found, skip_special_tokens=True)
    # One that is cut off at the length limit is the last resort here, and competes with the others there.
    ended = [place for place, answer in enumerate(ours) if answer.candidates[0].finish_reason != "length"]
    assert len(ended) >= 12 and len({ours[place].text for place in ended}) >= 6
    assert [found[place] for place in ended] == [ours[place].text for place in ended]
    back = regard.load(f"hf:{tmp_path / 'hf'}", "cpu")(texts)
    assert [(answer.text, answer.score) for answer in back] == [(answer.text, answer.score) for answer in ours]


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "bpe"},
        {"kind": "bpe", "pretokenizer": "byte-level"},
        {"kind": "unigram"},
        {"kind": "wordpiece", "lowercase": True},
        {"kind": "word"},
        {"kind": "char"},
    ],
    ids=str,
)
def test_the_tokenizer_spells_the_same_there(settings, pairs, tmp_path):
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    ours = train_tokenizer([text for pair in pairs for text in pair], TokenizerSettings(size=600, **settings))
    write(small_bundle({"tokenizer": ours}), tmp_path / "hf")
    texts = [pair.source for pair in pairs[:5]] + ["Ja,  nein </s> <pad> ü🙂."]
    for kind in (AutoTokenizer, PreTrainedTokenizerFast):
        theirs = kind.from_pretrained(tmp_path / "hf")
        assert theirs(texts)["input_ids"] == [[*ids, ours.eos_id] for ids in ours.encode_batch(texts)]
        assert "token_type_ids" not in theirs(texts)
        assert (theirs.pad_token_id, theirs.unk_token_id, theirs.bos_token_id, theirs.eos_token_id) == (0, 1, 2, 3)
        for text in (pair.target for pair in pairs[:40]):
            ids = ours.encode(text).ids
            if ours.unk_id in ids:  # shown as ⁇ here and dropped there, and never said by a model
                continue
            assert theirs.decode([*ids, ours.eos_id], skip_special_tokens=True) == ours.decode(ids)


def test_two_vocabularies_are_two_tokenizers(pairs, tmp_path):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizers = {
        side: train_tokenizer([getattr(pair, side) for pair in pairs], TokenizerSettings(size=size))
        for side, size in (("source", 250), ("target", 200))
    }
    bundle = small_bundle(tokenizers, embeddings="target")
    write(bundle, tmp_path / "hf")
    theirs = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf").eval()
    source, token_mask, target = tokens(bundle)
    with torch.no_grad():
        found = theirs(input_ids=source, attention_mask=token_mask.long(), decoder_input_ids=target).logits
    assert_close(found, logits(bundle), atol=1e-4, rtol=0)
    for side, folder in (("source", tmp_path / "hf"), ("target", tmp_path / "hf" / "target_tokenizer")):
        assert len(AutoTokenizer.from_pretrained(folder)) == tokenizers[side].size
    back = read(tmp_path / "hf")
    assert back.vocabularies == bundle.vocabularies
    assert_close(logits(back), logits(bundle), atol=0, rtol=0)


REFUSALS = [
    (
        {"positions": "rotary"},
        'model.norm_order, model.positions: "post" with "rotary" fits no Hugging Face architecture; these do: post '
        "with sinusoidal (Marian), pre with sinusoidal (Pegasus), pre with learned (Blenderbot).",
    ),
    ({"norm": "rms"}, 'model.norm: "rms" fits no Hugging Face architecture; "layer" does.'),
    (
        {"activation": "swiglu"},
        'model.activation: "swiglu" fits no Hugging Face architecture; these do: relu, gelu, silu.',
    ),
    (
        {"key_value_heads": 2},
        "model.key_value_heads: 2 for 4 heads fits no Hugging Face architecture; one for each does.",
    ),
    ({"norm_epsilon": 1e-6}, "model.norm_epsilon: 1e-06 fits no Hugging Face architecture; 1e-05 does."),
    (
        {"head_width": 8},
        "model.head_width: 8 times 4 heads is not the width 16, as every Hugging Face architecture needs; leave "
        "head_width out.",
    ),
]


@pytest.mark.parametrize("changes, message", REFUSALS, ids=lambda value: str(value)[:30])
def test_a_model_that_fits_no_form_is_refused_by_its_setting(changes, message, tokenizer, tmp_path):
    with pytest.raises(ConfigError) as error:
        write(small_bundle({"tokenizer": tokenizer}, **changes), tmp_path / "hf")
    assert str(error.value) == message and not (tmp_path / "hf").exists()


def test_other_refusals_of_writing(tokenizer, tmp_path):
    bundle = small_bundle({"source": tokenizer, "target": tokenizer}, embeddings="target", norm_order="pre")
    with pytest.raises(ConfigError) as error:
        write(bundle, tmp_path / "hf")
    assert str(error.value) == (
        'text.vocabularies: "separate" with model.norm_order "pre" fits no Hugging Face architecture; '
        'text.vocabularies="shared" does (Pegasus), or model.norm_order="post" (Marian).'
    )
    bundle = small_bundle({"tokenizer": tokenizer})
    with pytest.raises(CheckpointError) as error:
        write(bundle, tmp_path)
    assert str(error.value) == f"{tmp_path}: it exists already; name a folder that does not."
    settings = RecurrentSettings(width=8)
    model = build_model(settings, bundle.vocabularies)
    with pytest.raises(ConfigError) as error:
        write(Bundle("translate", model, settings, bundle.vocabularies, bundle.tokenizers), tmp_path / "hf")
    assert str(error.value) == (
        'task, model.family: "translate" with "recurrent" has no Hugging Face architecture; translators of the '
        "family transformer, language models of the family gpt and models of the family bert have one."
    )


def test_a_full_disk_leaves_nothing_behind(tokenizer, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(CheckpointError) as error:
        write(small_bundle({"tokenizer": tokenizer}), tmp_path / "hf")
    assert str(error.value) == (
        f"{tmp_path / 'hf'}: it could not be written (No space left on device); free some space or name another "
        f"folder."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_decoding_default_that_generate_lacks_is_told(tokenizer, tmp_path):
    said = []

    class Heard(Progress):
        def warn(self, message):
            said.append(message)

    write(small_bundle({"tokenizer": tokenizer}, {"length_penalty": "gnmt"}), tmp_path / "hf", Heard())
    assert said == ["decode.length_penalty: gnmt is not written, generate() has no such setting here."]
    write(small_bundle({"tokenizer": tokenizer}, {"length_penalty": "none", "beam_size": 2}), tmp_path / "none")
    assert read(tmp_path / "none").facts == {"decode": {"beam_size": 2, "length_penalty": "none"}}


@pytest.fixture(scope="module")
def their_own(tmp_path_factory):
    """A folder as Marian's own checkpoints are: swish, no start token, <pad> last and first said, an output bias."""
    import tokenizers
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("marian") / "own"
    words = ["</s>", "<unk>", *(f"w{number}" for number in range(30)), "<pad>"]
    backend = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, "<unk>")
    )
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(folder)
    torch.manual_seed(3)
    sizes = {f"{stack}_{name}": size for stack in ("encoder", "decoder") for name, size in (
        ("layers", 2), ("attention_heads", 2), ("ffn_dim", 24))}  # fmt: skip
    config = MarianConfig(
        vocab_size=33, d_model=12, activation_function="swish", scale_embedding=True, attention_dropout=0,
        pad_token_id=32, eos_token_id=0, decoder_start_token_id=32, forced_eos_token_id=None, init_std=0.5, **sizes,
    )  # fmt: skip
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        model.final_logits_bias.normal_()
    model.generation_config.num_beams = 3
    model.save_pretrained(folder)
    return folder, model


def test_marian_s_own_form_is_read(their_own):
    folder, theirs = their_own
    bundle = read(folder)
    assert bundle.settings.activation == "silu" and bundle.settings.embeddings == "shared"
    assert bundle.facts["decode"] == {"beam_size": 3, "length_penalty": "average", "length_penalty_alpha": 1.0}
    (tokenizer,) = bundle.tokenizers.values()
    assert (tokenizer.bos_id, tokenizer.size) == (33, 34)
    source = torch.randint(2, 32, (2, 5), generator=torch.Generator().manual_seed(0))
    target = torch.tensor([[32, 4, 5], [32, 9, 2]])
    token_mask = torch.ones(2, 5, dtype=torch.bool)
    with torch.no_grad():
        expected = theirs(input_ids=source, decoder_input_ids=target).logits
        found = bundle.model(source, token_mask, target.masked_fill(target == 32, tokenizer.bos_id))
    assert_close(found[..., :33], expected, atol=1e-4, rtol=0)
    texts = ["w3 w7 w1", "w4 w4", "w9 w20 w11 w12 w2"]
    for text in texts:
        ids = [*tokenizer.encode(text).ids, 0]
        answer = Translator(bundle)(text, beam_size=1, max_length_ratio=0.01, max_length_extra=9)
        generated = theirs.generate(
            input_ids=torch.tensor([ids]), num_beams=1, max_new_tokens=9, suppress_tokens=[1, 32]
        )
        expected = [number for number in generated[0].tolist() if number not in (0, 32)]
        assert answer.text == tokenizer.decode(expected) != ""


def test_weights_in_parts_are_read(their_own, tmp_path):
    import safetensors.torch

    folder = shutil.copytree(their_own[0], tmp_path / "parts")
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    names = {name: f"model-{number % 2}.safetensors" for number, name in enumerate(tensors)}
    for file in set(names.values()):
        part = {name: tensors[name] for name in tensors if names[name] == file}
        safetensors.torch.save_file(part, folder / file)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    whole, parts = (read(path).model.state_dict() for path in (their_own[0], folder))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    (folder / "model-0.safetensors").unlink()
    with pytest.raises(CheckpointError) as error:
        read(folder)
    assert str(error.value) == (
        f"{folder / 'model-0.safetensors'}: missing, so the model is incomplete; copy it again."
    )


def with_config(**changes):
    def spoil(folder):
        config = json.loads((folder / "config.json").read_text()) | changes
        (folder / "config.json").write_text(json.dumps({k: v for k, v in config.items() if v != "gone"}))

    return spoil


def without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()


def only_sentencepiece(folder):
    without_tokenizer(folder)
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(b"")


def only_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def with_tensors(change):
    def spoil(folder):
        import safetensors.torch

        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        change(tensors)
        safetensors.torch.save_file(tensors, folder / "model.safetensors")

    return spoil


def with_vocabulary(change):
    def spoil(folder):
        definition = json.loads((folder / "tokenizer.json").read_text())
        change(definition)
        (folder / "tokenizer.json").write_text(json.dumps(definition))

    return spoil


def rename_padding(definition):
    definition["added_tokens"] = [token for token in definition["added_tokens"] if token["content"] != "<pad>"]
    definition["model"]["vocab"]["[PAD]"] = definition["model"]["vocab"].pop("<pad>")


UNREADABLE = {
    "pickle": (
        only_pickle,
        "{folder}: its weights are pickled (.bin), and loading those may run code, so they are not read; write them "
        "again as model.safetensors, with save_pretrained.",
    ),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        "{folder}: there is no model.safetensors here; copy it again.",
    ),
    "sentencepiece": (
        only_sentencepiece,
        "{folder}: its tokenizer is SentencePiece (source.spm, target.spm), and only a fast tokenizer.json can be "
        "read; convert it, and put the tokenizer.json beside the model.",
    ),
    "no tokenizer": (
        without_tokenizer,
        "{folder}: there is no tokenizer.json here; put the model's fast tokenizer beside it.",
    ),
    "no json": (
        lambda folder: (folder / "tokenizer.json").write_text("{"),
        "{folder}/tokenizer.json: this is not a tokenizer.json that can be read (line 1: Expecting property name "
        "enclosed in double quotes).",
    ),
    "no config": (
        lambda folder: (folder / "config.json").unlink(),
        "{folder}: there is no config.json here, so this is no Hugging Face model; give a run without hf:.",
    ),
    "broken config": (
        lambda folder: (folder / "config.json").write_text("]"),
        "{folder}/config.json: this is not a config.json that can be read (line 1: Expecting value).",
    ),
    "ours": (
        with_config(regard="0.1", model={}),
        "{folder}: this is a regard checkpoint already; use it as it is.",
    ),
    "another model": (
        with_config(model_type="bart"),
        '{folder}/config.json: model_type "bart" is not one that can be read (marian, pegasus, blenderbot, gpt2, '
        "openai-gpt, llama, bert).",
    ),
    "another activation": (
        with_config(activation_function="tanh"),
        '{folder}/config.json: activation_function "tanh" is not one that can be read (relu, gelu, silu, swish).',
    ),
    "different sides": (
        with_config(decoder_ffn_dim=48),
        "{folder}/config.json: decoder_ffn_dim is 48 but 24 on the other side; a model whose encoder and decoder "
        "differ in feed_forward_width cannot be read.",
    ),
    "no width": (
        with_config(d_model="gone"),
        "{folder}/config.json: d_model is missing, so the model cannot be built.",
    ),
    "impossible": (
        with_config(encoder_attention_heads=5, decoder_attention_heads=5),
        "{folder}/config.json: it describes no model that can be built (heads: 5 does not divide width 12; choose "
        "another, or set head_width).",
    ),
    "another end": (
        with_config(eos_token_id=7),
        "{folder}/config.json: eos_token_id is 7, but </s> of the tokenizer is 0.",
    ),
    "no start": (
        with_config(decoder_start_token_id=None),
        "{folder}/config.json: decoder_start_token_id is None, which is not the id of a target token.",
    ),
    "more words": (
        with_vocabulary(lambda definition: definition["model"]["vocab"].update(new=33)),
        "{folder}/config.json: the model has 33 tokens for its source, but the tokenizer 35; put the tokenizer it "
        "was trained with beside it.",
    ),
    "no padding": (
        with_vocabulary(rename_padding),
        "{folder}/tokenizer.json: it has no token called <pad>; rename the one with its role.",
    ),
    "half a model": (
        with_tensors(lambda tensors: tensors.pop("model.decoder.layers.1.fc2.bias")),
        "{folder}: model.decoder.layers.1.fc2.bias is missing, so the model is incomplete; copy it again.",
    ),
    "wrong shapes": (
        with_tensors(lambda tensors: tensors.update({"model.decoder.layers.1.fc1.weight": torch.zeros(23, 12)})),
        "{folder}: what becomes decoder.blocks.1.feed_forward.inner.weight has shape (23, 12), but config.json asks "
        "for (24, 12); copy it again.",
    ),
    "no waves": (
        with_tensors(lambda tensors: tensors.update({"model.encoder.embed_positions.weight": torch.ones(9, 12)})),
        "{folder}: model.encoder.embed_positions.weight holds no sinusoidal positions, so the model cannot be read.",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_one_sentence(name, their_own, tmp_path):
    folder = shutil.copytree(their_own[0], tmp_path / "copy")
    spoil, message = UNREADABLE[name]
    spoil(folder)
    with pytest.raises(CheckpointError) as error:
        read(folder)
    assert str(error.value) == message.format(folder=folder)


def test_damaged_weights_are_told(their_own, tmp_path):
    folder = shutil.copytree(their_own[0], tmp_path / "copy")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(CheckpointError, match=f"^{path}: damaged .*; copy it again.$"):
        read(folder)
    with pytest.raises(CheckpointError, match=f"^{tmp_path}/none: there is no such folder; check the path.$"):
        read(tmp_path / "none")
