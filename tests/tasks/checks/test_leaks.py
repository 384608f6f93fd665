from regard.data.sources.pair import Pair
from regard.tasks.checks.splits import split_findings


def named(findings, name):
    return [finding for finding in findings if finding.name == name and finding.severity != "ok"]


def test_sound_sets_share_nothing(material, sound):
    (finding,) = split_findings(material(sound))
    assert (finding.severity, finding.sentence) == ("ok", "No source occurs in two of the 3 sets.")


def test_pairs_that_leak_into_a_test_are_found_and_kept_out(material, sound):
    leaky = sound | {"train": sound["train"] + sound["test"][:15]}
    (finding,) = split_findings(material(leaky))
    assert (finding.name, finding.severity) == ("leaked-pairs", "problem")
    assert finding.sentence == (
        "15 of the 150 pairs of the test set test (10.0 %) are also in the training set, so scores on it reward "
        "memorization."
    )
    first = sound["test"][0]
    assert finding.examples[0] == f'pair 1: "{first.source}" / "{first.target}"' and len(finding.examples) == 3
    assert finding.way_out == "keep them out of training: data.cleaning.drop_held_out=true"
    remedied = material(leaky, data__cleaning__drop_held_out=True)
    assert [finding.severity for finding in split_findings(remedied)] == ["ok"]
    assert remedied.reports["train"].dropped == {"held out": 15}


def test_a_source_alone_leaks_less(material, sound):
    half = [Pair(pair.source, f"{pair.target} Really.") for pair in sound["valid"][:6]]
    (finding,) = split_findings(material(sound | {"train": sound["train"] + half}))
    assert (finding.name, finding.severity) == ("leaked-sources", "warning")
    assert finding.sentence == (
        "6 of the 250 pairs of the validation set (2.4 %) have their source, with another translation, in the "
        "training set, so scores on it reward memorization."
    )


def test_a_validation_set_that_is_also_a_test_is_reported(material, sound):
    (finding,) = split_findings(material(sound | {"test": sound["valid"]}))
    assert finding.severity == "problem" and "in the validation set, so it is no independent test" in finding.sentence
    assert finding.way_out == "take them out of one of the sets"


def test_a_single_leak_is_only_a_note(material, sound):
    (finding,) = split_findings(material(sound | {"train": sound["train"] + sound["valid"][:1]}))
    assert finding.severity == "note"


def test_duplicates_are_counted(material, sound):
    twice = sound | {"train": sound["train"] + sound["train"][:100], "test": sound["test"] + sound["test"][:30]}
    found = {finding.sentence: finding.severity for finding in named(split_findings(material(twice)), "duplicates")}
    assert found == {
        "100 exact duplicates (4.8 %) were dropped from the training set.": "note",
        "30 pairs of the test set test (16.7 %) duplicate another one and count twice.": "warning",
    }
    kept = split_findings(material(twice | {"test": sound["test"]}, data__cleaning__drop_duplicates=False))
    (finding,) = named(kept, "duplicates")
    assert finding.way_out == "drop them: data.cleaning.drop_duplicates=true"
    assert finding.examples[0].startswith("2 times: ")


def test_one_target_for_many_sources_and_many_for_one_are_reported(material, sound):
    same = [Pair(pair.source, "Text is missing here.") for pair in sound["train"][:80]]
    spoilt = sound | {"train": sound["train"][80:] + same}
    findings = split_findings(material(spoilt, data__cleaning__max_ratio=9.0))
    (finding,) = named(findings, "one-target-for-many")
    assert finding.severity == "warning"
    assert finding.sentence == (
        '"Text is missing here." is the translation of 80 different training sources (4.0 %).'
    )
    several = [Pair(pair.source, f"{pair.target} Really.") for pair in sound["train"][:200]]
    (finding,) = named(split_findings(material(sound | {"train": sound["train"] + several})), "several-translations")
    assert finding.severity == "note" and finding.sentence.startswith("18.2 % of the training pairs")


def test_a_held_out_validation_set_leaks_nothing(material, sound):
    assert [finding.severity for finding in split_findings(material({"train": sound["train"]}))] == ["ok"]
