"""`regard train masked-language-model` and `regard evaluate` on what comes of it."""

import json

import pytest

from commands import bad, good
from regard import miniature

QUICK = (
    "text.size=300",
    "model.width=32",
    "model.feed_forward_width=64",
    "model.max_positions=64",
    "train.steps=3",
    "train.warmup=1",
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    for name, split in (("stories", "train"), ("more", "test")):
        path = folder / f"{name}.txt"
        path.write_text("\n\n".join(miniature.documents(split, 100)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(desk):
    words = ("train", "masked-language-model", "--text", desk / "stories.txt", "--out", desk / "run", "-q")
    printed = good(*words, *QUICK, f"data.folder={desk / 'corpus'}")
    assert (
        "masked tokens" in printed and f'Use it: regard fill {desk / "run"} "A text with a [MASK] in it."' in printed
    )
    return desk / "run"


def test_a_run_is_evaluated_on_its_own_text_and_on_another(run, desk):
    own = json.loads(good("evaluate", run, "--json", "-q"))["valid"]
    assert own["pairs"] > 0 and 0 <= own["next_sentence_accuracy"] <= 1
    (metrics,) = json.loads(good("evaluate", run, "--text", desk / "more.txt", "--json", "-q")).values()
    assert metrics["test_set"] != own["test_set"] and metrics["masked"] > 200
    printed = good("evaluate", run, "--text", desk / "more.txt", "-q")
    assert (
        "pseudo-perplexity" in printed
        and "masking: 15% of tokens, 80% masked, 10% random, pairs of up to 64" in printed
    )


def test_the_card_shows_how_to_use_it(run):
    assert "regard fill" in (run / "README.md").read_text(encoding="utf-8")


def test_it_is_resumed(run):
    assert "finished after 5 steps" in good("train", "--resume", run, "train.steps=5", "-q")


def test_other_flags_are_refused(run):
    assert bad("evaluate", run, "--stride", 4) == (
        f"--stride 4: for language models, and {run} is a masked language model; leave it out."
    )


def test_a_dry_run_counts(desk):
    words = ("train", "masked-language-model", "--text", desk / "stories.txt", "--dry-run", "--json", "-q")
    plan = json.loads(good(*words, *QUICK, f"data.folder={desk / 'corpus'}"))
    assert plan["task"] == "masked-language-model" and plan["preset"] == "bert-tiny" and plan["window"] == 64
