import json
import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard import miniature
from regard.config.resolve import Layer, resolve
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError, RegardError, RunError
from regard.progress import Progress
from regard.runs.planning.recipes import find_recipe, resolve_run, shipped
from regard.runs.run import Run
from regard.runs.scores.evaluate import evaluate_sets
from regard.studies.race.disciplines import SharedData
from regard.tasks.load import load
from regard.tasks.translate import losses
from regard.tasks.translate.evaluate import encode_pairs
from spelling import trained_bytes

SMALL = {
    "model.preset": "transformer-tiny",
    "model.width": 16,
    "model.feed_forward_width": 32,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 600,
    "train.tokens_per_update": 300,
    "train.steps": 12,
    "train.warmup": 4,
    "train.validate_every": 6,
    "validation.bleu_sentences": 5,
}


class Telling(Progress):
    def __init__(self):
        self.said = []

    def info(self, message):
        self.said.append(message)

    warn = info


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_folder_holds_everything(quick_run):
    record = quick_run.record
    assert record.state == "finished" and record.steps == 60
    assert record.settings.plain["train"]["steps"] == 60 and record.sources["train.steps"] == "the command line"
    assert record.sources["model.heads"] == "preset transformer-tiny"
    assert record.report.model_dump()["train"]["read"] == 1500
    assert {"device", "threads", "torch", "processor"} <= set(record.machine.plain)
    scores = {score["name"]: score for score in record.scores["test"]["scores"]}
    assert set(scores) == {"BLEU", "chrF", "TER"} and "version:" in scores["BLEU"]["signature"]
    assert math.isclose(math.exp(record.scores["test"]["loss"]), record.scores["test"]["perplexity"])
    names = {path.name for path in quick_run.best.iterdir()}
    tokenizers = {"tokenizer.source.json", "tokenizer.target.json"}
    assert {"config.json", "model.safetensors", "manifest.json"} | tokenizers <= names


def test_metrics_are_one_json_object_a_line(quick_run):
    records = lines(quick_run.path / "metrics.jsonl")
    assert [record["step"] for record in records if "valid_loss" in record] == [30, 60]
    assert all({"ce", "learning_rate", "tokens_per_second"} <= set(r) for r in records if "valid_loss" not in r)


def test_the_model_learned_something(quick_run):
    losses = [record["valid_loss"] for record in lines(quick_run.path / "metrics.jsonl") if "valid_loss" in record]
    assert losses[1] < losses[0] < math.log(700)


def test_training_from_files_needs_nothing_but_training_text(tmp_path, pairs):
    (tmp_path / "a.de").write_text("".join(pair.source + "\n" for pair in pairs) + "\nx\n")
    (tmp_path / "a.en").write_text("".join(pair.target + "\n" for pair in pairs) + "y\n\n")
    telling = Telling()
    files = {"data.train.source": str(tmp_path / "a.de"), "data.train.target": str(tmp_path / "a.en")}
    run = regard.train("translate", SMALL | files, out=tmp_path / "run", progress=telling)
    facts = run.record.report.model_dump()
    assert facts["train"]["dropped"] == {"empty": 2} and facts["train"]["held_out"] == facts["valid"]["kept"] > 0
    assert any("dropped: 2 empty" in message and "held out for validation" in message for message in telling.said)
    assert set(run.scores) == {"valid"}
    assert set(facts["files"]) == {str(tmp_path / "a.de"), str(tmp_path / "a.en")}


def test_a_resumed_run_equals_one_never_interrupted(tmp_path, pairs):
    # This schedule does not look at the number of steps, so a run may be made longer.
    small = SMALL | {"train.schedule": "inverse-sqrt"}
    straight = regard.train("translate", small, data=pairs, out=tmp_path / "straight")
    cut = regard.train("translate", small | {"train.steps": 7}, data=pairs, out=tmp_path / "cut")
    regard.resume(cut.path, {"train.steps": 12})
    one, other = (run.latest / "model.safetensors" for run in (straight, cut))
    assert one.read_bytes() == other.read_bytes()
    optimizer = "training/optimizer.safetensors"
    assert (straight.latest / optimizer).read_bytes() == (cut.latest / optimizer).read_bytes()
    kept = [r for r in lines(cut.path / "metrics.jsonl") if "valid_loss" not in r]
    assert len({record["step"] for record in kept}) == len(kept)


def test_resume_refuses_what_would_change_the_result(tmp_path, pairs):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    run = regard.train("translate", SMALL | {"data.train.path": str(path)}, out=tmp_path / "run")
    with pytest.raises(
        ConfigError, match=r"model.width: a resumed run cannot change this setting \(only train.steps"
    ):
        regard.resume(run.path, {"model.width": 32})
    with pytest.raises(RunError, match="there is no run here"):
        regard.resume(tmp_path / "nothing")


@pytest.mark.parametrize(
    "changes",
    [
        {"text.vocabularies": "separate", "model.embeddings": "target"},
        {"text.dropout": 0.2},
        {"text.kind": "char"},
        {"text.pretokenizer": "byte-level", "train.optimizer": "sgd", "train.schedule": "constant"},
        {"text.kind": "unigram", "train.schedule": "transformer", "train.learning_rate": 1.0},
        {"machine.deterministic": True, "train.select_by": "bleu"},
        {"decode.method": "sample", "decode.max_source_length": 12, "validation.bleu_sentences": 5},
    ],
    ids=str,
)
def test_every_kind_of_run_goes_through(tmp_path, pairs, changes):
    run = regard.train(
        "translate", SMALL | {"train.steps": 4, "train.warmup": 2} | changes, data=pairs, out=tmp_path / "run"
    )
    assert isinstance(regard.load(run.best)("Der Hund schläft.").text, str)
    assert run.record.state == "finished"


def test_training_with_dropout_of_pieces_repeats(tmp_path, pairs):
    runs = [
        regard.train("translate", SMALL | {"text.dropout": 0.2}, data=pairs, out=tmp_path / name) for name in "ab"
    ]
    assert (runs[0].latest / "model.safetensors").read_bytes() == (runs[1].latest / "model.safetensors").read_bytes()


def test_one_side_alone_may_be_split_anew():
    changes = SMALL | {
        "data.train.max_rows": 300,
        "data.valid.max_rows": 20,
        "text.dropout": 0.3,
        "text.target_dropout": 0.0,
    }
    settings = resolve_run(find_recipe("translate-miniature"), changes).settings
    feed = SharedData(settings).trial_setup(settings).prepared.feed
    first, second = (feed.corpus(epoch) for epoch in (0, 1))
    assert not np.array_equal(first.source.ids, second.source.ids)
    assert np.array_equal(first.target.ids, second.target.ids)


def test_a_ready_made_tokenizer_is_taken_over(tmp_path, pairs, quick_run):
    given = str(quick_run.best / "tokenizer.source.json")
    run = regard.train(
        "translate",
        SMALL | {"train.steps": 2, "train.warmup": 1, "text.tokenizer": given},
        data=pairs,
        out=tmp_path / "run",
    )
    assert json.loads((run.best / "tokenizer.json").read_text()) == json.loads(Path(given).read_text())


def test_a_tokenizer_with_an_end_alone_is_enough(tmp_path, pairs):
    trained_bytes([text for pair in pairs for text in pair], 400).save(str(tmp_path / "gpt2.json"))
    run = regard.train(
        "translate", SMALL | {"text.tokenizer": str(tmp_path / "gpt2.json")}, data=pairs, out=tmp_path / "run"
    )
    answer = regard.load(run.best, "cpu")("Der Hund schläft.", beam_size=200, max_length=3)
    assert any(candidate.finish_reason == "eos" for candidate in answer.candidates)


def test_too_long_pairs_are_counted(tmp_path, pairs):
    run = regard.train(
        "translate",
        SMALL | {"data.cleaning.max_tokens": 14, "train.steps": 2, "train.warmup": 1},
        data=pairs,
        out=tmp_path / "run",
    )
    assert run.record.report.model_dump()["train"]["dropped"]["too long"] > 10
    with pytest.raises(DataError, match="Every pair is longer than 1 tokens; raise data.cleaning.max_tokens"):
        regard.train("translate", SMALL | {"data.cleaning.max_tokens": 1}, data=pairs, out=tmp_path / "none")
    assert not (tmp_path / "none" / "run.json").exists()


def test_nothing_is_overwritten_unless_asked_for(quick_run, tmp_path, pairs):
    with pytest.raises(RunError) as error:
        regard.train("translate-miniature", out=quick_run.path)
    assert str(error.value) == (
        f"{quick_run.path}: there is a run here already (finished); resume it with --resume {quick_run.path}, "
        "replace it with --overwrite, or choose another folder with --out."
    )
    (tmp_path / "keep.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(RunError) as error:
            regard.train("translate", SMALL, data=pairs, out=tmp_path, overwrite=overwrite)
        assert str(error.value) == f"{tmp_path}: this exists and is not a run; choose another folder with --out."
    assert (tmp_path / "keep.txt").read_text() == "mine"


def test_a_run_that_is_to_be_replaced_stays_until_the_new_one_begins(tmp_path, pairs):
    run = regard.train("translate", SMALL | {"train.steps": 2, "train.warmup": 1}, data=pairs, out=tmp_path / "run")
    for bad in ({"text.size": 20}, {"data.train.path": "no.tsv"}):
        with pytest.raises(RegardError):
            regard.train(
                "translate",
                SMALL | {"data.train.path": run.record.settings.data["train"]["path"]} | bad,
                out=run.path,
                overwrite=True,
            )
        assert isinstance(regard.load(run.best)("Ja.").text, str)
    with pytest.raises(ConfigError):
        regard.train("translate", SMALL | {"text.size": 20}, data=pairs, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert (
        regard.train("translate", SMALL | {"train.steps": 3}, data=pairs, out=run.path, overwrite=True).record.steps
        == 3
    )


def test_what_a_run_killed_in_its_first_moment_leaves_is_no_obstacle(tmp_path, pairs):
    for names in ((".lock",), (".lock", "data/train-0123abcd.jsonl", ".run.json.0123abcd")):
        folder = tmp_path / str(len(names))
        (folder / "data").mkdir(parents=True)
        for name in names:
            (folder / name).write_text("")
        regard.train("translate", SMALL | {"train.steps": 2, "train.warmup": 1}, data=pairs, out=folder)
        assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == [".lock"]
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "train-0123abcd.jsonl").write_text("mine")  # no lock beside it: not left by a run
    with pytest.raises(RunError, match="this exists and is not a run"):
        regard.train("translate", SMALL, data=pairs, out=tmp_path / "mine")


def test_a_kill_while_a_new_run_takes_the_place_of_an_old_one_mixes_nothing(tmp_path, pairs, monkeypatch):
    short = SMALL | {"train.steps": 2, "train.warmup": 1}
    run = regard.train("translate", short, data=pairs, out=tmp_path / "run")
    monkeypatch.setattr("regard.runs.store.folder.write_json", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        regard.train("translate", short | {"train.steps": 3}, data=pairs, out=run.path, overwrite=True)
    monkeypatch.undo()
    assert run.record.settings.plain["train"]["steps"] == 2 and not run.has_checkpoint
    assert (
        regard.train("translate", short | {"train.steps": 3}, data=pairs, out=run.path, overwrite=True).record.steps
        == 3
    )


def test_two_runs_that_begin_in_one_folder_at_once_do_not_mix(tmp_path, pairs, monkeypatch):
    claimed = Run(tmp_path / "run")
    monkeypatch.setattr(import_module("regard.runs.train"), "claim", lambda *_: claimed)
    claimed.path.mkdir()
    with claimed.in_hand(), pytest.raises(RunError, match="another process is training this run right now"):
        regard.train("translate", SMALL, data=pairs, out=claimed.path)
    assert [path.name for path in claimed.path.iterdir()] == [".lock"]


def test_two_processes_do_not_train_one_run(tmp_path, pairs):
    run = regard.train("translate", SMALL | {"train.steps": 2, "train.warmup": 1}, data=pairs, out=tmp_path / "run")
    with (
        run.in_hand(),
        pytest.raises(RunError, match="another process is training this run right now; let it finish"),
    ):
        regard.resume(run.path, {"train.steps": 4})


def test_a_finished_run_says_so(quick_run):
    with pytest.raises(RunError) as error:
        regard.resume(quick_run.path)
    assert str(error.value) == (
        f"{quick_run.path}: this run is finished at step 60; to train it further, give train.steps=N above that."
    )
    with pytest.raises(ConfigError, match="train.stps: unknown setting.*did you mean train.steps"):
        regard.resume(quick_run.path, {"train.stps": 90})


def test_what_changed_since_a_run_began_is_said(tmp_path, pairs, quick_run):
    run = regard.train(
        "translate",
        SMALL | {"train.steps": 2, "train.schedule": "cosine", "train.warmup": 1},
        data=pairs,
        out=tmp_path / "run",
    )
    run.note(machine=run.record.machine.plain | {"torch": "1.0"})
    telling = Telling()
    regard.resume(run.path, {"train.steps": 4}, progress=telling)
    assert any(message.startswith("torch was 1.0 and is ") for message in telling.said)
    stretched = "train.steps: the cosine schedule is stretched from 2 to 4 steps, so the learning rate jumps here."
    assert stretched in telling.said
    run.note(data=run.record.report.model_dump() | {"hash": "other"})
    with pytest.raises(RunError, match="The training data is not what the run began with"):
        regard.resume(run.path, {"train.steps": 5})
    (file,) = (run.path / "data").iterdir()
    file.unlink()
    with pytest.raises(RunError, match="the run was trained on this file, but it is missing; put it back to resume"):
        regard.resume(run.path, {"train.steps": 5})


def test_damaged_records_are_told(quick_run, tmp_path):
    for text in ("{}", "[1]", "{"):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError, match=r"run.json: this is not the record of a run"):
            regard.resume(tmp_path)


def test_lines_past_a_learned_table_count_against_the_score(tmp_path, pairs):
    long = Pair("Ja. " * 60, "Yes. " * 60)
    test = tmp_path / "test.jsonl"
    test.write_text("".join(json.dumps(pair._asdict()) + "\n" for pair in [*pairs[:5], long]))
    changes = {"model.positions": "learned", "model.max_positions": 64, "data.test.own.path": str(test)}
    telling = Telling()
    run = regard.train("translate", SMALL | changes, data=[*pairs, long], out=tmp_path / "run", progress=telling)
    assert (
        run.record.report.model_dump()["train"]["dropped"].get("too long", 0)
        + run.record.report.model_dump()["valid"]["dropped"].get("too long", 0)
        == 1
    )
    assert run.scores["own"]["too_long"] == 1 and run.scores["own"]["sentences"] == 6
    assert "own: 1 pairs are longer than the 64 tokens this model takes." in telling.said


def test_a_run_without_test_sets_is_scored_on_its_validation_set(tmp_path, pairs):
    run = regard.train("translate", SMALL | {"train.steps": 2, "train.warmup": 1}, data=pairs, out=tmp_path / "run")
    ((name, valid),) = evaluate_sets(run.path, device="cpu").items()
    assert name == valid.name == "valid"
    assert valid["bleu"] == run.scores["valid"]["scores"][0]["value"]


def test_lines_past_what_is_read_count_against_the_score(quick_run):
    telling = Telling()
    texts = [("Ja.", "Yes."), ("Ja. " * 40, "Yes.")]
    evaluations = regard.evaluate(regard.load(quick_run.best, "cpu"), texts, progress=telling, max_source_length=20)
    scored = evaluations["data"]
    assert (scored["too_long"], scored["sentences"], scored.outputs[1]) == (1, 2, "")
    assert "data: 1 pairs are longer than the 20 tokens of decode.max_source_length." in telling.said


def test_scores_of_plain_tuples_and_of_nothing(quick_run):
    translator = regard.load(quick_run.best, "cpu")
    assert regard.evaluate(translator, [("Ja.", "Yes.")])["data"].metrics["sentences"] == 1
    with pytest.raises(DataError, match="data: there are no rows; give some"):
        regard.evaluate(translator, [])


def test_a_loss_that_is_no_number_never_becomes_the_best(tmp_path, pairs):
    changes = {"train.steps": 1, "train.warmup": 0, "train.clip_norm": 0, "train.learning_rate": 1e30}
    said = "step 1: the validation's loss is NaN or infinite"
    with pytest.raises(RunError, match=f"{said}; lower train.learning_rate"):
        regard.train("translate", SMALL | changes | {"train.rollbacks": 0}, data=pairs, out=tmp_path / "never")
    assert not (tmp_path / "never" / "checkpoints").exists()
    with pytest.raises(RunError, match=f"{said}, also after 3 rollbacks; lower train.learning_rate"):
        regard.train("translate", SMALL | changes, data=pairs, out=tmp_path / "thrice")
    assert set(Run(tmp_path / "thrice").checkpoints.index.kept.values()) == {None}
    assert Run(tmp_path / "thrice").record.state == "failed"


def test_evaluation_of_a_run_on_its_own_sets_and_on_others(quick_run, tmp_path):
    own, *unseen = evaluate_sets(quick_run.path, device="cpu").values()
    assert [each.name for each in unseen] == ["unseen-pairs", "unseen-cases", "unseen-depth"]
    recorded = quick_run.scores["test"]
    assert own.name == "test" and own["sentences"] == 30
    assert math.isclose(own["bleu"], recorded["scores"][0]["value"])
    assert math.isclose(own["loss"], recorded["loss"], rel_tol=1e-6)
    with pytest.raises(
        RunError, match="a checkpoint alone has no test sets; give --source FILE --target FILE, or --data"
    ):
        evaluate_sets(quick_run.best)


def test_shipped_recipes_resolve_and_say_what_they_are_for():
    text_tasks = ("language-model", "masked-language-model", "elmo", "vectors")
    own = {task: {"data.train.paths": ["a.txt"]} for task in text_tasks} | {"translate": {"data.train.path": "a.tsv"}}
    for recipe in shipped().values():
        has_data = "train" in recipe.values.get("data", {})
        assert resolve_run(recipe, {} if has_data else own[recipe.values["task"]]).settings.about


def test_a_word_that_is_no_recipe_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(ConfigError) as error:
        find_recipe("translate-miniatur")
    assert str(error.value) == (
        'There is no recipe "translate-miniatur" (a file would end in .toml); did you mean translate-miniature?'
    )
    with pytest.raises(ConfigError, match="there is no such recipe file; check the path"):
        find_recipe(str(tmp_path / "x.toml"))
    (tmp_path / "y.toml").write_text("= 3")
    with pytest.raises(ConfigError, match="this is not TOML"):
        find_recipe(str(tmp_path / "y.toml"))


def test_settings_have_their_layers(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'task = "translate"\nmodel.preset = "transformer-tiny"\nmodel.heads = 8\ndata.train.path = "a.tsv"\n'
    )
    resolved = resolve_run(find_recipe(str(path)), {"model.dropout": 0.3})
    assert (resolved.settings.model.width, resolved.source("model.width")) == (96, "preset transformer-tiny")
    assert (resolved.settings.model.heads, resolved.source("model.heads")) == (8, f"recipe {path}")
    assert (resolved.settings.model.dropout, resolved.source("model.dropout")) == (0.3, "the command line")
    assert resolved.source("model.norm_epsilon") == "default"


def test_other_training_text_replaces_all_of_a_recipes_data():
    files = {"data.train.source": "a.de", "data.train.target": "a.en"}
    data = resolve_run(find_recipe("translate-miniature"), files).settings.data
    assert (data.train.path, data.train.max_rows, data.valid, data.test) == (None, None, None, {})
    data = resolve_run(find_recipe("translate-miniature"), {"data.train.max_rows": 9}).settings.data
    assert data.train.path == "miniature:train" and data.valid.max_rows == 400


def test_settings_survive_being_written_and_read():
    settings = resolve_run(find_recipe("translate-miniature"), {}).settings
    assert resolve(type(settings), [Layer("the run", settings.model_dump(mode="json"))]).settings == settings


def test_a_recipe_without_a_task_is_told(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("seed = 1\n")
    with pytest.raises(ConfigError) as error:
        resolve_run(find_recipe(str(path)), {})
    assert str(error.value) == f'recipe {path}: it names no task; add task = "translate".'
    with pytest.raises(ConfigError, match='task: "fly" is not one of translate, .*, choose.'):
        resolve_run(find_recipe(str(path)), {"task": "fly"})


@pytest.mark.parametrize("changes", [{"model.preset": "gpt2"}, {"model.family": "gpt"}], ids=str)
def test_a_model_that_cannot_translate_is_refused_by_its_name(changes):
    (name, value), *_ = changes.items()
    with pytest.raises(ConfigError) as error:
        resolve_run(find_recipe("translate-miniature"), changes)
    assert str(error.value).startswith(
        f'{name}: "{value}" is a language model, but the task translate needs a sequence-to-sequence model or a '
        f"conditional masked language model; matching presets: convs2s, mask-predict-tiny, "
    )


def test_a_run_knows_its_paths(tmp_path):
    with pytest.raises(RunError, match="run.json is missing"):
        Run(tmp_path).record  # noqa: B018
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="file: there is no run here"):
        Run(tmp_path / "file").record  # noqa: B018


def test_the_loss_of_pairs_that_do_not_fit_together_is_the_same(quick_run, monkeypatch):
    translator = load(quick_run.best, "cpu")
    encoded = encode_pairs(translator, list(miniature.pairs("valid", 30)))
    whole = losses.mean_nll(translator.model, encoded, translator.device, 4096)
    compute, limits = losses._mean_nll, []

    def narrow(model, pairs, device, limit):
        limits.append(limit)
        if limit > 1024:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return compute(model, pairs, device, limit)

    monkeypatch.setattr(losses, "_mean_nll", narrow)
    again = losses.mean_nll(translator.model, encoded, translator.device, 4096)
    assert limits == [4096, 2048, 1024] and again["loss"] == pytest.approx(whole["loss"], abs=1e-5)


def test_rows_from_memory_are_checked_before_anything_is_written(tmp_path, pairs):
    out = tmp_path / "run"
    for rows, sentence in (
        ([], "data: there are no rows; give some."),
        ([*pairs, ("Ja.",)], "data: row 301 is not (source, target); give that, or a dict of columns."),
        (["Ja."], "data: row 1 is not (source, target); give that, or a dict of columns."),
        ([("Ja.", 5)], "data: the target of row 1 is not text; fix it."),
    ):
        with pytest.raises(DataError) as error:
            regard.train("translate", SMALL, data=rows, out=out)
        assert str(error.value) == sentence
    with pytest.raises(ConfigError) as ambiguous:
        regard.train([("a fine film", "pos")], SMALL, out=out)
    assert str(ambiguous.value) == (
        "recipe: name a recipe, a task or a TOML file; rows go in as data=rows, such as "
        'regard.train("translate", data=rows) or regard.train("classify", data=rows).'
    )
    with pytest.raises(DataError, match=r"data: 'reviews.csv' is one string, and rows are a list; name a file"):
        regard.train("classify", data="reviews.csv", out=out)
    assert not out.exists()


def test_a_data_file_in_place_of_a_recipe_is_answered_with_the_call_that_is_meant(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n")
    with pytest.raises(ConfigError) as error:
        regard.train(path)
    assert str(error.value) == (
        f"{path}: this is data, not a recipe; name a task first: regard train TASK --data {path}, or "
        f'regard.train(TASK, {{"data.train.path": "{path}"}}) in Python.'
    )
    with pytest.raises(ConfigError, match=r"regard train TASK --text"):
        regard.train(tmp_path)


def test_rows_of_a_run_that_never_began_are_removed(tmp_path, pairs):
    with pytest.raises(RegardError):
        regard.train("translate", SMALL | {"machine.device": "cuda:99"}, data=pairs, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    run = regard.train("translate", SMALL | {"train.steps": 2, "train.warmup": 1}, data=pairs, out=tmp_path / "run")
    kept = list((run.path / "data").iterdir())
    with pytest.raises(RegardError):
        regard.train("translate", SMALL | {"text.size": 20}, data=pairs[:200], out=run.path, overwrite=True)
    assert list((run.path / "data").iterdir()) == kept
