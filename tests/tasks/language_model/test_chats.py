"""Language models that are trained on prompts with completions."""

import json
import random

import numpy as np
import pytest
import torch

import regard
from commands import good, refused
from regard.data.feeds.chats import rendered_prompt
from regard.errors import ConfigError, DataError
from regard.registry import task
from regard.runs.planning.recipes import find_recipe
from regard.runs.verify import verify_resume
from regard.studies.doctor.examine import doctor
from regard.tasks.language_model.chat_checks import language_checks
from regard.tasks.language_model.chat_scores import answer_units, evaluate_chats
from regard.tasks.language_model.chats import gather_chats
from regard.text.chat_template import ROLES_TEMPLATE

CAPITALS = {"france": "paris", "italy": "rome", "spain": "madrid", "norway": "oslo"}
QUESTIONS = ("what is the capital of {} ?", "name the capital of {} .")
SMALL = {
    "model.width": 32,
    "model.layers": 2,
    "model.heads": 2,
    "model.feed_forward_width": 64,
    "model.max_positions": 64,
    "text.size": 300,
    "train.tokens_per_update": 600,
    "train.learning_rate": 1e-2,
    "train.warmup": 5,
    "train.log_every": 1000,
}
QUICK = SMALL | {"train.steps": 4, "train.warmup": 1, "preflight": False}


def rows(times=12, seed=0):
    made = [
        {"prompt": question.format(country), "completion": f"it is {capital} ."}
        for country, capital in CAPITALS.items()
        for question in QUESTIONS
    ] * times
    random.Random(seed).shuffle(made)
    return made


def write_rows(path, given):
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with data and a model that has learned all of it."""
    folder = tmp_path_factory.mktemp("chats")
    train, valid = write_rows(folder / "train.jsonl", rows()), write_rows(folder / "valid.jsonl", rows(1, 1))
    data = {"data.train.path": train, "data.valid.path": valid}
    regard.train("language-model", SMALL | data | {"train.steps": 150}, out=folder / "run")
    return folder


def test_prompts_that_were_trained_on_get_their_completions(folder):
    generator = regard.load(folder / "run", task="language-model")
    assert generator.has_chat_template and generator.chat_template.source == ROLES_TEMPLATE
    for country, capital in CAPITALS.items():
        question = QUESTIONS[0].format(country)
        answer = generator.chat([{"role": "user", "content": question}], temperature=0.0)
        assert answer.text.strip() == f"it is {capital} ." and answer.finish_reason == "eos"
        assert generator(question, chat=True, temperature=0.0).text == answer.text
    prompt = generator.chat_prompt([{"role": "user", "content": "a"}])
    assert prompt.endswith("<|assistant|>\n") and generator(prompt, temperature=0.0).row.prompt == prompt


def test_scores_are_those_of_completions_alone(folder):
    record = regard.Run(folder / "run").record
    scores = record.scores["valid"]
    generator = regard.load(folder / "run", task="language-model")
    (chosen,) = task("language-model").eval_sets(generator, None, record, folder, regard.progress.SILENT).values()
    evaluation = evaluate_chats(generator, chosen)
    assert evaluation["loss"] == pytest.approx(scores["loss"], abs=1e-6) and scores["perplexity"] < 1.5
    assert scores["tokens"] == int(chosen.rows.label_counts.sum()) and scores["bytes"] == sum(
        len(each["completion"]) for each in rows(1)
    )
    chat = chosen.rows.chats[0]
    _, prompt = rendered_prompt(generator.chat_template, chat.messages[:1], generator.tokenizer)
    ids = chosen.rows.sequences[0].tolist()
    inside = [*range(len(prompt), int(chosen.rows.label_counts[0]) + len(prompt))]
    with torch.no_grad():
        logits = (
            generator.model.project(generator.model.hidden_states(torch.tensor([ids])))[0].double().log_softmax(-1)
        )
    expected = -sum(float(logits[place - 1, ids[place]]) for place in inside)
    assert float(evaluation.outputs[0].split()[0]) == pytest.approx(expected, rel=1e-4)
    assert answer_units(chosen.rows).name == "conversations"


def test_a_run_is_evaluated_on_other_rows_and_against_another(folder):
    other = write_rows(folder / "other.jsonl", rows(2, 3))
    regard.train("language-model", QUICK | {"data.train.path": other}, out=folder / "weak")
    text = good("evaluate", folder / "run", "--data", other, "--against", folder / "weak", "--json")
    (values,) = json.loads(text).values()
    differences = {each["metric"]["key"]: each for each in values["against"]["differences"]}
    assert differences["word_perplexity"]["is_significant"] and values["decode"] == {"window": 64}
    (again,) = regard.evaluate(str(folder / "run"), rows(2, 3)).values()
    assert again["loss"] == pytest.approx(values["loss"])
    assert "Conversations of at most 64 tokens" in (folder / "run" / "README.md").read_text()
    (folder / "a.txt").write_text("some text . " * 50)
    assert "word perplexity" in good("evaluate", folder / "run", "--text", folder / "a.txt")
    with pytest.raises(ConfigError, match="stride 3: this is for running text"):
        regard.evaluate(str(folder / "run"), other, stride=3)


def test_training_goes_on_from_a_model_and_its_template(folder, tmp_path):
    given = [{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "it is oslo ."}]}] * 6
    given += [{"prompt": "hello", "completion": "it is rome ."}] * 6
    short = {"train.steps": 2, "train.warmup": 1, "init_from": str(folder / "run"), "preflight": False}
    run = regard.train("language-model", short, data=given, out=tmp_path / "run")
    assert regard.load(run.path).chat_template.source == ROLES_TEMPLATE and run.record.settings.data["train"]["path"]
    template = "{% for m in messages %}{{ m.role + ':' + m.content + eos_token }}{% endfor %}"
    template += "{% if add_generation_prompt %}assistant:{% endif %}"
    run = regard.train("language-model", short | {"chat_template": template}, data=given, out=tmp_path / "other")
    assert regard.load(run.path).chat_prompt([{"role": "user", "content": "a"}]) == "user:a</s>assistant:"


def test_a_resumed_run_is_the_uninterrupted_one(folder):
    source = {"data.train.path": str(folder / "train.jsonl")}
    assert verify_resume(find_recipe("language-model"), QUICK | source, steps=4).is_exact


def test_the_doctor_names_empty_long_repeated_and_shared_rows(folder, tmp_path):
    given = [*rows(2), {"prompt": "a", "completion": ""}, {"prompt": "a " * 200, "completion": "b"}]
    data = {
        "data.train.path": write_rows(tmp_path / "a.jsonl", given),
        "data.valid.path": str(folder / "valid.jsonl"),
    }
    report = doctor("language-model", SMALL | data | {"train.steps": 10, "train.warmup": 1}, quick=True)
    names = {each.name for each in report.findings if each.check == "conversations"}
    assert names == {"empty-completions", "too-long", "duplicates", "leaked-prompts"}
    assert {each.name for each in language_checks()} >= {"text", "conversations"}
    assert not any(check.run(object()) for check in language_checks() if check.name == "conversations")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"chat_template": "{{ messages }}"}, "chat_template: "),
        ({"data.folder": "x"}, "is tokenized in memory; leave the folder out"),
        ({"data.train.documents": "lines"}, "these are for running text"),
        ({"data.test.text.paths": ["a.txt"]}, "all sets are running text (paths), or all are tables (path)"),
        ({"window": 4}, "no conversation has an answer within 4 tokens"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(folder, changes, words, tmp_path):
    given = QUICK | {"data.train.path": str(folder / "train.jsonl")} | changes
    with pytest.raises((ConfigError, DataError)) as error:
        regard.train("language-model", given, out=tmp_path / "run")
    assert words in str(error.value) and not (tmp_path / "run").exists()


def test_models_of_running_text_have_no_template(tmp_path):
    (tmp_path / "a.txt").write_text("some text . \n" * 800)
    data = {"data.train.paths": [str(tmp_path / "a.txt")], "data.folder": str(tmp_path / "corpus")}
    run = regard.train("language-model", QUICK | data, out=tmp_path / "run")
    generator = regard.load(run.path, task="language-model")
    assert not generator.has_chat_template
    with pytest.raises(ConfigError, match="this model has no chat template; train it on prompts with completions"):
        generator("a", chat=True)
    path = write_rows(tmp_path / "chats.jsonl", rows(1))
    assert "this model has no chat template" in refused("evaluate", run.path, "--data", path)
    wrong = refused("train", "language-model", "--text", tmp_path / "a.txt", "chat_template=x")
    assert "chat_template: it is for prompts with completions" in wrong


def test_sets_are_held_out_by_their_prompts():
    from regard.data.settings.text import LanguageData

    with pytest.raises(DataError, match="nowhere.jsonl"):
        gather_chats(LanguageData.model_validate({"train": {"path": "nowhere.jsonl"}}))


def test_a_template_goes_to_hugging_face_and_comes_back(folder, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    good("export", folder / "run", tmp_path / "hf")
    generator, back = regard.load(folder / "run"), regard.load(f"hf:{tmp_path / 'hf'}")
    assert back.chat_template == generator.chat_template
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    messages = [{"role": "user", "content": QUESTIONS[1].format("spain")}]
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    assert ids == generator.chat_prompt(messages).ids == back.chat_prompt(messages).ids
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "hf").eval()
    with torch.no_grad():
        logits = theirs(torch.tensor([ids])).logits[0, -1]
        ours = generator.model.project(generator.model.hidden_states(torch.tensor([ids])))[0, -1]
    assert np.allclose(logits.numpy(), ours.float().numpy(), atol=1e-4)
    assert back.chat(messages, temperature=0.0).text.strip() == "it is madrid ."
    (tmp_path / "hf" / "chat_template.jinja").write_text("{{ messages | tojson }}")
    with pytest.raises(ConfigError, match="chat_template: line 1 has something other than"):
        regard.load(f"hf:{tmp_path / 'hf'}").chat(messages)
