"""Flags that few verbs have: chats, thresholds, and those of train, config, doctor, race, transfer and features."""

import json

import pytest

from commands import good, refused
from every_task import TASKS
from generators import language_bundle, tokenizer_of
from head_bundles import TEXTS, head_bundle
from labeled import write_reviews
from regard.checkpoint.bundle import write_bundle
from regard.tasks.contract import find_task
from regard.tasks.load import load
from regard.text.chat_template import ROLES_TEMPLATE


@pytest.fixture
def reviews(tmp_path):
    write_reviews(tmp_path / "reviews.csv", 60)
    return tmp_path / "reviews.csv"


def test_a_prompt_is_the_message_of_a_user_with_chat(tmp_path):
    chats = {"chat_template": ROLES_TEMPLATE, "generate": {"max_new_tokens": 6}}
    write_bundle(tmp_path / "chat", language_bundle(tokenizer_of("byte-level"), **chats))
    answer = load(tmp_path / "chat").chat([{"role": "user", "content": "the dog"}])
    printed = json.loads(good("generate", tmp_path / "chat", "the dog", "--chat", "--json"))
    plain = json.loads(good("generate", tmp_path / "chat", "the dog", "--json"))
    assert printed["ids"] == list(answer.ids) and printed["ids"] != plain["ids"]
    (tmp_path / "asked.txt").write_text("the dog\n")
    assert json.loads(good("generate", tmp_path / "chat", "--file", tmp_path / "asked.txt", "--chat", "--json")) == (
        printed
    )


def test_rows_of_messages_are_conversations_in_tables_and_in_batch_jobs(tmp_path):
    chats = {"chat_template": ROLES_TEMPLATE, "generate": {"max_new_tokens": 6, "temperature": 0}}
    write_bundle(tmp_path / "chat", language_bundle(tokenizer_of("byte-level"), **chats))
    asked = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "the dog"}]
    rows = [{"id": 1, "messages": asked}, {"id": 2, "messages": None}, {"id": 3, "messages": asked[1:]}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = load(tmp_path / "chat")
    answers = [model.chat(asked).text, None, model.chat(asked[1:]).text]
    words = ("generate", tmp_path / "chat", "--chat", "-q")
    table = good(*words, "--file", tmp_path / "rows.jsonl", "--json").splitlines()
    printed = [json.loads(line) for line in table]
    assert [each["completion"] for each in printed] == answers
    assert [{name: each[name] for name in ("id", "messages")} for each in printed] == rows
    files = ("--files", tmp_path / "*.jsonl", "--out", tmp_path / "out", "--part-rows", 1)
    for shard in ("1/2", "2/2"):
        good(*words, *files, "--shard", shard)
    done = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert [(each["id"], each.get("completion")) for each in done] == list(zip((1, 2, 3), answers))


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([{"role": "user"}], "rows.jsonl: record 2: message 1 has no role and content as texts; give both."),
        ([{"role": "a b", "content": "x"}], 'record 2: message 1 has the role "a b"; use system, user or assistant.'),
        ([], "rows.jsonl: record 2: messages are a list of objects with role and content; give at least one."),
    ],
)
def test_messages_are_checked_with_their_record(tmp_path, messages, sentence):
    write_bundle(tmp_path / "chat", language_bundle(tokenizer_of("byte-level"), chat_template=ROLES_TEMPLATE))
    rows = [{"messages": [{"role": "user", "content": "hi"}]}, {"messages": messages}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sentence in refused("generate", tmp_path / "chat", "--chat", "--file", tmp_path / "rows.jsonl")


def test_messages_need_a_model_with_a_chat_template(tiny_runs, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    sentence = refused("generate", tiny_runs / "language-model", "--file", tmp_path / "rows.jsonl")
    assert sentence.startswith(f"{tmp_path / 'rows.jsonl'}: record 1: this model has no chat template; train it on")


def test_a_model_of_running_text_refuses_chat(tiny_runs):
    sentence = refused("generate", tiny_runs / "language-model", "the", "--chat", "--json")
    assert "this model has no chat template; " in sentence


@pytest.mark.parametrize("task", TASKS)
def test_a_threshold_is_for_classifiers_of_several_labels(task, tiny_runs):
    sentence = refused("evaluate", tiny_runs / task, "--threshold", 0.4, "-q")
    if task == "classify":
        assert "threshold 0.4 is for multi-label models; this one is a single-label model." in sentence
    else:
        kind = find_task(task).wording.noun
        assert sentence.startswith("--threshold 0.4: for classifiers, and ") and kind in sentence


def test_another_threshold_changes_the_scores_of_several_labels(tmp_path):
    facts = {"problem_type": "multi_label_classification", "threshold": 0.5}
    bundle = head_bundle("classify", **facts)
    write_bundle(tmp_path / "run", bundle)
    labels = bundle.facts["labels"]
    rows = [{"text": text, "labels": [labels[0]]} for text in TEXTS]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("evaluate", tmp_path / "run", "--data", tmp_path / "a.jsonl", "--json", "-q", "--threshold")
    low, high = (next(iter(json.loads(good(*words, value)).values())) for value in (0.000001, 0.999999))
    assert (low["decode"], high["decode"]) == ({"threshold": 0.000001}, {"threshold": 0.999999})
    assert low["micro_f1"] > 0 == high["micro_f1"]


def test_config_shows_the_plan_for_the_data_of_flags(reviews):
    words = ("config", "show", "classify", "--data", reviews, "--json")
    shown = json.loads(good(*words, "--text-column", "text", "--seed", 7))
    assert shown["data.train.path"] == {"source": "the command line", "value": str(reviews)} | {
        "meaning": shown["data.train.path"]["meaning"]
    }
    assert shown["data.train.text_column"]["value"] == "text" and shown["seed"]["value"] == 7
    assert shown["train.learning_rate"]["source"].startswith("planned: ")
    timed = json.loads(good(*words, "--minutes", 5, "--preset", "bert-tiny"))
    assert timed["train.minutes"]["value"] == 5 and timed["train.schedule"]["source"].startswith("planned: 5 minutes")
    assert timed["model.preset"]["value"] == "bert-tiny"
    assert "--source" in refused("config", "show", "classify", "--source", reviews)


def test_a_dry_run_gives_planned_values_with_their_reasons(reviews):
    words = ("train", "classify", "--data", reviews, "--dry-run", "-q", "model.width=16", "train.betas=[0.9, 0.98]")
    plan = json.loads(good(*words, "--json"))["planned"]
    shown = json.loads(good("config", "show", "classify", "--data", reviews, "--json", *words[-2:]))
    assert plan["train.learning_rate"]["reason"] == "from scratch, width 16"
    assert plan["train.learning_rate"]["value"] == shown["train.learning_rate"]["value"]
    assert "train.betas" not in plan and "model.width" not in plan  # those are given
    table = good(*words).split("planned setting\tvalue\treason\n")[1].splitlines()
    assert [row.split("\t")[0] for row in table] == list(plan)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train", "classify", "--force"), "--force is for --resume; use --overwrite to replace an existing run."),
        (("train",), "There is no recipe; give a recipe name, a TOML file or a task (see regard recipes)."),
        (("train", "classify", "--minutes", 1, "--hours", 1), "--minutes 1 and --hours 1 are both given; leave"),
        (("train", "--resume", "r", "--dry-run"), "--dry-run has no meaning with --resume r; leave it out."),
        (("train", "--resume", "r", "--overwrite"), "--overwrite has no meaning with --resume r; leave it out."),
        (("train", "--resume", "r", "--out", "o"), "--out has no meaning with --resume r; leave it out."),
        (("transfer", "--label-column", "a"), "--text-column and --label-column are for --data; leave them out."),
        (("transfer", "--test-data", "a.csv"), "--test-data belongs to --data; give that too."),
        (("transfer", "--methods", "magic"), '--methods: there is no method "magic"; methods: scratch, '),
        (("transfer", "--sizes", "many"), "many"),
        (("race", "translate-miniature", "--models", "transformer-tiny,gru", "--budget", "much"), "much"),
        (("race", "translate-miniature", "--vary", "model.colour=1,2"), "model.colour"),
        (("race", "translate-miniature", "--models", "transformer-tiny,none"), "none"),
        (("features", "r", "--data", "a.conll", "--layers", "none"), '--layers: "none" is not one of embeddings,'),
        (("doctor", "vectors", "--text", "a.txt", "--lr-finder"), "--lr-finder: word vectors have their own trainer"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_own_flags_are_checked_before_anything_is_computed(words, sentence):
    assert sentence in refused(*words)
