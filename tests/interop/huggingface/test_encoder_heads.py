"""Heads of tasks over a BERT go to Hugging Face and come from there: the same scores and the same answers."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

import regard
from commands import call, good, refused
from encoder_folders import TEXTS, bert_tokenizer, small_encoder_bundle, their_encoder
from language_folders import shaken
from regard.checkpoint.bundle import Bundle, read_bundle, write_bundle
from regard.checkpoint.identity import model_hash
from regard.data.encoding.inputs import VarlenInputs
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.encoder_configs import HEADED_ARCHITECTURES
from regard.interop.huggingface.encoder_heads import (
    head_config,
    head_kind,
    head_to_ours,
    head_to_theirs,
    headed_architecture,
    read_head,
)
from regard.interop.huggingface.read import read, read_task
from regard.interop.huggingface.write import write
from regard.models.base.settings import HeadSettings
from regard.models.families import build_model
from regard.objectives.head import multi_label_losses

MULTI = "multi_label_classification"
LABELS = ["kind", "unkind", "neither"]
KINDS = {
    "classification": (
        "classify",
        "BertForSequenceClassification",
        3,
        {"labels": LABELS, "texts": 1, "pair_encoding": "cross-encoder"},
    ),
    "regression": (
        "regress",
        "BertForSequenceClassification",
        1,
        {"texts": 2, "pair_encoding": "cross-encoder", "center": 2.5, "spread": 1.5},
    ),
    "token-classification": ("tag", "BertForTokenClassification", 3, {"labels": ["O", "B-A", "I-A"]}),
    "extractive-qa": (
        "answer",
        "BertForQuestionAnswering",
        2,
        {"stride": 8, "max_answer_tokens": 5, "has_unanswerable": True, "threshold": 0.5},
    ),
    "multiple-choice": ("choose", "BertForMultipleChoice", 1, {}),
}


@pytest.fixture(scope="module")
def tokenizer():
    return bert_tokenizer()


def headed_bundle(tokenizer, kind, **facts):
    """Return a small encoder with a head of some kind, ready to be written."""
    task, _, outputs, own = KINDS[kind]
    base = small_encoder_bundle(tokenizer)
    head = HeadSettings(kind=kind, outputs=outputs)
    torch.manual_seed(3)
    model = shaken(build_model(base.settings, base.vocabularies, head))
    remembered = {"max_length": 24, "seed": 1, "init_from": {"path": "somewhere", "sha256": "0" * 64}} | own | facts
    return Bundle(task, model, base.settings, base.vocabularies, base.tokenizers, remembered, head)


def pairs(size, rows=4, length=18):
    draw = torch.Generator().manual_seed(3)
    tokens = torch.randint(5, size, (rows, length), generator=draw)
    token_mask = torch.arange(length) < torch.tensor([length, 7, 13, 5])[:, None]
    return torch.where(token_mask, tokens, 0), (torch.arange(length) >= 4).long().expand(rows, -1), token_mask


def scores(model, tokens, segments, token_mask):
    """Return what our head gives: for each row, for each token, or for pairs of rows that are choices."""
    lengths = token_mask.sum(1)
    bounds = torch.cat((torch.zeros(1, dtype=torch.long), lengths.cumsum(0)))
    positions = torch.arange(tokens.size(1)).expand_as(tokens)
    reading = VarlenInputs(
        tokens[token_mask], segments[token_mask], positions[token_mask], bounds.int(), tokens.size(1)
    )
    if model.kind in ("classification", "regression"):
        places = bounds[:-1, None]
    elif model.kind == "multiple-choice":
        places = bounds[:-1].view(-1, 2)
    elif model.kind == "token-classification":
        places = torch.arange(int(bounds[-1]))[:, None]
    else:
        places = (bounds[:-1, None] + torch.arange(tokens.size(1))).clamp_max(int(bounds[-1]) - 1)
    candidate_mask = token_mask if model.kind == "extractive-qa" else torch.ones_like(places, dtype=torch.bool)
    with torch.no_grad():
        return model(reading, places, candidate_mask)


def their_scores(theirs, tokens, segments, token_mask, kind):
    inputs = {"input_ids": tokens, "token_type_ids": segments, "attention_mask": token_mask.long()}
    if kind == "multiple-choice":
        inputs = {name: value.view(2, 2, -1) for name, value in inputs.items()}
    with torch.no_grad():
        found = theirs(**inputs)
    if kind == "extractive-qa":
        return torch.stack((found.start_logits, found.end_logits), 2)
    return found.logits[token_mask] if kind == "token-classification" else found.logits


def assert_the_same(bundle, theirs, kind):
    """Compare scores; what is added to all choices, or to all tokens, makes no difference."""
    batch = pairs(theirs.config.vocab_size)
    ours, expected = scores(bundle.model, *batch), their_scores(theirs, *batch, kind)
    if kind == "regression":
        ours = (bundle.facts["center"] + bundle.facts["spread"] * ours)[:, None]
    if kind == "extractive-qa":
        ours, expected = (each.masked_fill(~batch[2][:, :, None], 0) for each in (ours, expected))
        shift = (ours - expected)[:, :1] * batch[2][:, :, None]
        ours = ours - shift
    if kind == "multiple-choice":
        ours, expected = ours.log_softmax(-1), expected.log_softmax(-1)
    assert expected.std() > 0.1
    assert_close(ours, expected, atol=3e-5, rtol=0)


def loaded(folder):
    import transformers

    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    theirs, report = getattr(transformers, architecture).from_pretrained(folder, output_loading_info=True)
    assert not any(report.values()), report
    return theirs.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_gives_the_same_scores_there_and_comes_back(kind, tokenizer, tmp_path):
    bundle = headed_bundle(tokenizer, kind)
    task, architecture, _, own = KINDS[kind]
    form = write(bundle, tmp_path / "hf")
    assert form.architecture == architecture
    assert_the_same(bundle, loaded(tmp_path / "hf"), kind)
    back = read(tmp_path / "hf")
    assert back.task == read_task(tmp_path / "hf") == task
    assert (back.head, back.settings.model_dump(exclude={"next_sentence_head"})) == (
        bundle.head if kind != "extractive-qa" else bundle.head.model_copy(update={"dropout": 0.0}),
        bundle.settings.model_dump(exclude={"next_sentence_head"}),
    )
    assert_the_same(back, loaded(tmp_path / "hf"), kind)
    units = {"center": 0.0, "spread": 1.0} if kind == "regression" else {}
    untrained = ["masked words"] if "pooler" in form.parts else ["pooler", "masked words"]
    assert back.facts == own | units | {"max_length": 24, "untrained": untrained}
    write_bundle(tmp_path / "checkpoint", back)
    assert read_bundle(tmp_path / "checkpoint").facts == back.facts
    assert "somewhere" not in (tmp_path / "hf" / "regard.json").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_gives_their_scores(kind, tokenizer, tmp_path):
    _, architecture, outputs, own = KINDS[kind]
    names = own.get("labels") or ["number"]
    more = {"num_labels": outputs} if kind in ("extractive-qa", "multiple-choice") else {}
    if kind in ("classification", "token-classification", "regression"):
        more |= {"id2label": dict(enumerate(names))}
    theirs = their_encoder(tmp_path / "theirs", architecture, tokenizer, classifier_dropout=0.25, **more)
    bundle = read(tmp_path / "theirs")
    assert_the_same(bundle, theirs, kind)
    assert bundle.head.kind == kind and bundle.head.outputs == outputs
    assert bundle.head.dropout == (0.0 if kind == "extractive-qa" else 0.25)
    assert bundle.facts["max_length"] == 32 and bundle.facts.get("labels") == own.get("labels")
    assert regard.load(f"hf:{tmp_path / 'theirs'}").bundle.task == bundle.task


@pytest.mark.parametrize(
    "names, texts",
    [
        (["negative", "positive"], 1),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 2),
        (["not_duplicate", "duplicate"], 2),
        (None, 1),
    ],
)
def test_labels_tell_whether_they_are_those_of_pairs(names, texts, tokenizer, tmp_path):
    more = {} if names is None else {"id2label": dict(enumerate(names))}
    their_encoder(tmp_path / "theirs", "BertForSequenceClassification", tokenizer, **more)
    assert read(tmp_path / "theirs").facts["texts"] == texts
    (tmp_path / "theirs" / "regard.json").write_text(json.dumps({"texts": 3 - texts, "other": 1}))
    facts = read(tmp_path / "theirs").facts
    assert facts["texts"] == 3 - texts and "other" not in facts


def test_a_folder_is_evaluated_as_the_checkpoint_it_was_made_from(tokenizer, tmp_path):
    bundle = headed_bundle(tokenizer, "classification")
    write_bundle(tmp_path / "checkpoint", bundle)
    write(bundle, tmp_path / "hf")
    rows = [f"{text},{LABELS[number % 3]}" for number, text in enumerate(["the dog", "the cat", "a ball", "she"] * 5)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *rows]))
    given = ("--data", tmp_path / "data.csv", "--quiet", "--json")
    name = str(tmp_path / "data.csv")
    ours, theirs = (
        json.loads(good("evaluate", path, *given))[name]
        for path in (tmp_path / "checkpoint", f"hf:{tmp_path / 'hf'}")
    )
    assert theirs["accuracy"] == ours["accuracy"] and theirs["loss"] == pytest.approx(ours["loss"], abs=1e-5)
    good("evaluate", f"hf:{tmp_path / 'hf'}", *given, "--out", tmp_path / "passport.json")
    passport = json.loads((tmp_path / "passport.json").read_text())
    assert passport["checkpoint"]["path"] == f"hf:{tmp_path / 'hf'}" and len(passport["checkpoint"]["sha256"]) == 64
    before = model_hash(f"hf:{tmp_path / 'hf'}")
    (tmp_path / "hf" / "regard.json").write_text("{}")
    assert before == passport["checkpoint"]["sha256"] != model_hash(f"hf:{tmp_path / 'hf'}")


def test_labels_of_a_folder_may_be_said_by_their_numbers_and_pairs_be_pairs(tokenizer, tmp_path):
    names = ["negative", "positive"]
    their_encoder(
        tmp_path / "hf", "BertForSequenceClassification", tokenizer, id2label=dict(enumerate(names)), num_labels=2
    )
    rows = ["the dog\tshe\t0", "the cat\the\t1"] * 4
    (tmp_path / "data.tsv").write_text("\n".join(["text_a\ttext_b\tlabel", *rows]))
    said = call("evaluate", f"hf:{tmp_path / 'hf'}", "--data", tmp_path / "data.tsv").output
    assert "0 is negative, 1 is positive." in said and "it has 2 texts per example" in said and "accuracy" in said
    (tmp_path / "data.tsv").write_text("text\tlabel\nthe dog\t2\nthe cat\t0\n")
    said = refused("evaluate", f"hf:{tmp_path / 'hf'}", "--data", tmp_path / "data.tsv")
    assert 'the label "2" (once) does not occur' in said


def test_a_classifier_says_what_the_reference_says(tokenizer, tmp_path):
    import transformers

    theirs = their_encoder(
        tmp_path / "theirs", "BertForSequenceClassification", tokenizer, id2label=dict(enumerate(LABELS))
    )
    split = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    classifier = regard.load(f"hf:{tmp_path / 'theirs'}")
    texts = [text for text in TEXTS[30:60] if text.strip()]
    answers = classifier(texts)
    for text, answer in zip(texts, answers, strict=True):
        with torch.no_grad():
            expected = theirs(**split(text, return_tensors="pt", truncation=True, max_length=32)).logits.softmax(-1)[
                0
            ]
        assert answer.label == LABELS[int(expected.argmax())]
        assert list(answer.probabilities.values()) == pytest.approx(expected.tolist(), abs=1e-5)


def test_heads_are_imported_on_the_command_line(tokenizer, tmp_path):
    verbs = {
        "classification": "classify",
        "regression": "regress",
        "token-classification": "tag",
        "extractive-qa": "answer",
        "multiple-choice": "choose",
    }
    for kind, verb in verbs.items():
        write(headed_bundle(tokenizer, kind), tmp_path / kind)
        text = good("import", tmp_path / kind, "--out", tmp_path / f"{kind} here")
        assert text.splitlines()[1].startswith(f"Use it: regard {verb} {tmp_path / kind} here ")
    their_encoder(tmp_path / "body", "BertModel", tokenizer)
    text = good("import", tmp_path / "body", "--out", tmp_path / "body here")
    assert text.splitlines()[1] == f"Use it: regard embed {tmp_path / 'body'} here TEXT"


def test_a_model_that_compares_vectors_goes_as_one_that_makes_them(tokenizer, tmp_path):
    bundle = headed_bundle(tokenizer, "regression", pair_encoding="bi-encoder", center=0.0, spread=1.0)
    head = HeadSettings(kind="similarity", outputs=1, pooling="mean")
    torch.manual_seed(4)
    model = shaken(build_model(bundle.settings, bundle.vocabularies, head)).eval()
    write_bundle(tmp_path / "ours", replace(bundle, model=model, head=head))
    form = write(read_bundle(tmp_path / "ours"), tmp_path / "hf")
    assert form.architecture == "BertModel" and (tmp_path / "hf" / "modules.json").is_file()
    cosine = regard.load(f"hf:{tmp_path / 'hf'}").similar("anna has a key", "ben sees rome")
    assert cosine == pytest.approx(
        regard.load(tmp_path / "ours")(("anna has a key", "ben sees rome")).number, abs=1e-5
    )


def test_what_was_learned_from_goes_along(tokenizer, tmp_path):
    columns = {"text_column": "body", "label_column": "mood"}
    write(headed_bundle(tokenizer, "classification", columns=columns), tmp_path / "hf")
    assert regard.load(f"hf:{tmp_path / 'hf'}").columns == columns


def test_heads_that_cannot_go_or_come_are_refused(tokenizer, tmp_path):
    with pytest.raises(ConfigError) as error:
        write(headed_bundle(tokenizer, "classification", texts=2, pair_encoding="both-orders"), tmp_path / "hf")
    assert str(error.value) == 'pair_encoding: "both-orders" fits no Hugging Face architecture; "cross-encoder" does.'
    for changes, words in (
        (
            {"pooling": "mean"},
            'pooling: "mean" of all tokens fits no Hugging Face architecture; "token" does: train with',
        ),
        (
            {"bilstm_width": 8},
            "bilstm_width: 8 fits no Hugging Face architecture; train with bilstm_width=0 to write it.",
        ),
    ):
        bundle = headed_bundle(tokenizer, "classification")
        with pytest.raises(ConfigError) as error:
            write(replace(bundle, head=bundle.head.model_copy(update=changes)), tmp_path / "hf")
        assert str(error.value).startswith(words)
    folder = tmp_path / "theirs"
    their_encoder(folder, "BertForTokenClassification", tokenizer, problem_type="multi_label_classification")
    with pytest.raises(CheckpointError) as error:
        read(folder)
    assert str(error.value) == (
        f"{folder / 'config.json'}: problem_type is multi_label_classification, which no token-classification model "
        "has; correct config.json."
    )
    shutil.rmtree(folder)
    their_encoder(folder, "BertModel", tokenizer)
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["BertForTokenClassification"]}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError) as error:
        read(folder)
    assert str(error.value) == f"{folder}: classifier.weight is missing, so the model is incomplete; copy it again."


def test_a_multi_label_model_goes_and_comes_with_its_problem_and_its_threshold(tokenizer, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    problem = {"problem_type": "multi_label_classification", "threshold": 0.3}
    bundle = headed_bundle(tokenizer, "classification", **problem, columns={"label_separator": "|"})
    bundle.model.eval()
    write(bundle, tmp_path / "hf")
    theirs = AutoModelForSequenceClassification.from_pretrained(tmp_path / "hf").eval()
    assert theirs.config.problem_type == problem["problem_type"] and theirs.config.id2label[0] == LABELS[0]
    assert_the_same(bundle, theirs, "classification")
    tokens, segments, token_mask = pairs(theirs.config.vocab_size)
    targets = (torch.arange(12).view(4, 3) % 2).float()
    inputs = {"input_ids": tokens, "token_type_ids": segments, "attention_mask": token_mask.long()}
    loss = multi_label_losses(scores(bundle.model, tokens, segments, token_mask), targets).mean()
    assert_close(theirs(**inputs, labels=targets).loss, loss, atol=1e-5, rtol=1e-4)
    back = regard.load(f"hf:{tmp_path / 'hf'}")
    assert back.facts.is_multi_label and back.facts.threshold == 0.3 and back.columns == {"label_separator": "|"}
    text = "anna has a key"
    expected = torch.tensor(list(back(text).probabilities.values()))
    with torch.no_grad():
        logits = theirs(**AutoTokenizer.from_pretrained(tmp_path / "hf")(text, return_tensors="pt")).logits[0]
    assert_close(expected.float(), logits.sigmoid(), atol=1e-5, rtol=1e-4)
    their_encoder(tmp_path / "plain", "BertForSequenceClassification", tokenizer, problem_type=MULTI)
    assert regard.load(f"hf:{tmp_path / 'plain'}").facts.threshold == 0.5
    (tmp_path / "hf" / "regard.json").write_text('{"threshold": 7}')
    with pytest.raises(CheckpointError, match="the facts of a model of the task classify"):
        read(tmp_path / "hf")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_head_round_trips_without_its_body(kind, tokenizer):
    bundle = headed_bundle(tokenizer, kind)
    config = head_config(bundle) | {"max_position_embeddings": 32}
    form = headed_architecture(bundle)
    assert form.architecture == KINDS[kind][1] and head_kind(form, config) == kind
    head, facts = read_head(config, kind, "x")
    assert (head.kind, head.outputs) == (kind, bundle.head.outputs) and facts["max_length"] == 32
    assert facts.get("labels") == KINDS[kind][3].get("labels")
    weights = {name: value for name, value in bundle.model.state_dict().items() if name.startswith("output.")}
    back = head_to_ours(head_to_theirs(weights, bundle), kind, "x")
    scale, shift = (1.5, 2.5) if kind == "regression" else (1.0, 0.0)  # in units of the targets
    assert back.keys() == weights.keys()
    assert_close(back["output.weight"], weights["output.weight"] * scale)
    if "output.bias" in weights:
        assert_close(back["output.bias"], weights["output.bias"] * scale + shift)


def test_one_label_is_a_regression_unless_it_is_named_a_class():
    form = HEADED_ARCHITECTURES[0]
    assert head_kind(form, {"num_labels": 1}) == head_kind(form, {"id2label": {"0": "score"}}) == "regression"
    assert head_kind(form, {}) == head_kind(form, {"num_labels": 2}) == "classification"
    assert head_kind(form, {"num_labels": 1, "problem_type": "single_label_classification"}) == "classification"


def test_labels_are_in_the_order_of_their_ids():
    names = {str(number): f"label {number}" for number in reversed(range(12))}
    _, facts = read_head({"id2label": names, "max_position_embeddings": 32}, "classification", "x")
    assert facts["labels"] == [f"label {number}" for number in range(12)]
