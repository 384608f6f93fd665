import numpy as np
import pytest

from regard.data.sources.pair import Pair
from regard.tasks.checks import alignment
from regard.tasks.checks.alignment import alignment_findings, quick_alignment_findings
from regard.tasks.checks.line_agreement import BLOCK, Agreement, misaligned_spans


def shuffled(pairs, begin=0, end=None):
    targets = [pair.target for pair in pairs]
    part = targets[begin:end]
    targets[begin:end] = [part[place] for place in np.random.default_rng(3).permutation(len(part))]
    return [Pair(pair.source, target) for pair, target in zip(pairs, targets, strict=True)]


def cipher(count=1500):
    """Sentences of one length in two languages without a word in common: only meaning links their sides."""
    draw = np.random.default_rng(0)
    words = [f"{first}{second}{third}" for first in "bdfgk" for second in "aeiou" for third in "lmnrs"]
    secret = [f"{first}{second}{third}" for first in "vwxyz" for second in "aeiou" for third in "pqtch"]
    rows = [draw.choice(len(words), 6) for _ in range(count)]
    return [Pair(" ".join(words[n] for n in row), " ".join(secret[n] for n in row)) for row in rows]


def named(findings, name):
    return [finding for finding in findings if finding.name == name]


def test_sound_pairs_are_found_sound(material, sound):
    findings = alignment_findings(material(sound))
    assert {finding.severity for finding in findings} == {"ok"}
    assert [finding.sentence for finding in named(findings, "shifted")] == [
        f"The sides of the {title} are aligned: pairs agree better than shuffled ones."
        for title in ("training set", "validation set", "test set test")
    ]


@pytest.mark.parametrize(("lines", "where"), [(1, "above"), (-2, "below")])
def test_a_shift_is_found_where_it_is(material, sound, shift, lines, where):
    spoilt = sound | {"train": shift(sound["train"], 700, 1000, lines)}
    (finding,) = (each for each in named(alignment_findings(material(spoilt)), "shifted") if each.severity != "ok")
    assert finding.severity == "problem"
    assert abs(finding.metrics["begin"] - 701) <= BLOCK and abs(finding.metrics["end"] - 1000) <= BLOCK
    assert finding.metrics["lag"] == -lines
    far = f"{abs(lines)} line{'s' if abs(lines) > 1 else ''} {where}"
    assert finding.sentence.endswith(
        f"of the training set, the translation of each source seems to be {far} it: one side is shifted."
    )
    row = int(finding.examples[0].split()[1].replace(",", "").rstrip(":")) - 1
    assert f'{far}: "{sound["train"][row].target[:60]}' in finding.examples[0]
    assert finding.remedy.startswith("look for an extra or missing line in one of the files near line ")


def test_a_short_shift_is_a_warning_and_a_whole_one_a_problem(material, sound, shift):
    short = sound | {"test": sound["test"], "train": shift(sound["train"] * 2, 300, 336)}
    found = named(alignment_findings(material(short)), "shifted")
    assert [finding.severity for finding in found if finding.severity != "ok"] == ["warning"]
    whole = sound | {"train": shift(sound["train"], 0, 2000), "test": shift(sound["test"], 0, 150)}
    found = named(alignment_findings(material(whole)), "shifted")
    assert [finding.severity for finding in found] == ["problem", "ok", "problem"]
    assert found[0].metrics["begin"] == 1 and found[0].metrics["end"] == 2000


def test_lines_that_belong_nowhere_are_found(material, sound):
    spoilt = sound | {"train": shuffled(sound["train"], 400, 700)}
    (finding,) = (each for each in named(alignment_findings(material(spoilt)), "shifted") if each.severity != "ok")
    assert finding.severity == "problem" and finding.sentence.endswith("the sides do not belong together.")
    assert abs(finding.metrics["begin"] - 401) <= 2 * BLOCK and abs(finding.metrics["end"] - 700) <= 2 * BLOCK


def test_shuffled_sides_are_a_problem(material, sound):
    spoilt = sound | {"train": shuffled(sound["train"])}
    (finding,) = (each for each in alignment_findings(material(spoilt)) if each.severity == "problem")
    assert finding.sentence == (
        "The sides of the training set agree no better than if one were shuffled, neither in length nor in words."
    )
    assert finding.way_out == "check that both files are the same text in the same order"


def test_pairs_without_lengths_and_words_to_go_by_are_not_called_unrelated(material):
    pairs = cipher()
    (finding,) = named(alignment_findings(material({"train": pairs})), "unrelated")
    assert finding.severity == "ok" and finding.sentence.endswith("but the tokens of the pairs are associated.")
    (finding,) = named(alignment_findings(material({"train": shuffled(pairs)})), "unrelated")
    assert finding.severity == "problem"


def test_the_quick_look_finds_a_long_shift(material, sound, shift, monkeypatch):
    monkeypatch.setattr(alignment, "QUICK", 600)
    monkeypatch.setattr(alignment, "STRETCH", 100)
    spoilt = material(sound | {"train": shift(sound["train"], 900, 2000)})
    (finding,) = (each for each in named(quick_alignment_findings(spoilt), "shifted") if each.severity == "problem")
    assert 901 <= finding.metrics["begin"] <= 1200 and finding.metrics["end"] == 2000


@pytest.mark.parametrize("seed", range(5))
def test_repeated_and_sorted_lines_are_no_shift(sound, seed):
    draw = np.random.default_rng(seed)
    often = [sound["train"][place] for place in sorted(draw.integers(0, 2000, 3000))]
    by_length = sorted(sound["train"], key=lambda pair: len(pair.source))
    for pairs in (often, by_length):
        assert misaligned_spans(Agreement(pairs).evidence(pairs)) == []


def test_suspicious_lengths_are_shown_and_can_be_dropped(material, sound):
    cut = [
        Pair(pair.source, pair.target[: len(pair.target) // 4]) for pair in sound["train"] if len(pair.target) > 60
    ]
    spread = list(sound["train"])
    for place, pair in enumerate(cut[:60]):  # side by side they would be a stretch that belongs nowhere
        spread.insert(30 * place, pair)
    spoilt = sound | {"train": spread}
    found = material(spoilt)
    (finding,) = named(alignment_findings(found), "suspicious-lengths")
    assert finding.severity == "warning" and finding.metrics["count"] >= 40
    assert "have a suspicious length ratio: one side may be cut" in finding.sentence
    remedied = material(spoilt, **{name.replace(".", "__"): value for name, value in finding.settings.items()})
    assert (
        remedied.reports["train"].dropped["absurd length ratio"]
        > found.reports["train"].dropped["absurd length ratio"]
    )
    assert remedied.reports["train"].kept >= 1950


def test_copies_are_shown_and_can_be_dropped(material, sound):
    spoilt = sound | {"train": sound["train"] + [Pair(pair.source, pair.source) for pair in sound["train"][:30]]}
    (finding,) = named(alignment_findings(material(spoilt)), "copies")
    assert finding.severity == "warning" and finding.way_out == "drop them: data.cleaning.drop_copies=true"
    assert finding.sentence.startswith("30 training pairs (1.5 %) have the same text on both sides")
    remedied = material(spoilt, data__cleaning__drop_copies=True)
    assert not named(alignment_findings(remedied), "copies")
    assert remedied.reports["train"].dropped == {"the same on both sides": 30}


def test_many_pairs_dropped_by_cleaning_are_reported(material, sound):
    spoilt = sound | {"train": sound["train"] + [Pair(pair.source, " ") for pair in sound["train"][:200]]}
    (finding,) = named(alignment_findings(material(spoilt)), "dropped-empty")
    assert (finding.severity, finding.sentence) == ("warning", "200 training pairs (9.1 %) were dropped: empty.")
    assert finding.examples[0].startswith("pair 2,001: ")
