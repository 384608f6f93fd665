from regard.data.sources.pair import Pair
from regard.tasks.checks.tokenizers import text_findings
from spelling import trained_bytes


def named(findings, name):
    return [finding for finding in findings if finding.name == name and finding.severity != "ok"]


def as_changes(finding):
    return {name.replace(".", "__"): value for name, value in finding.settings.items()}


def test_a_sound_tokenizer_is_found_sound(material, sound):
    findings = text_findings(material(sound))
    assert {finding.severity for finding in findings} == {"ok"}
    assert "The source tokenizer can encode every text." in [finding.sentence for finding in findings]


def test_unknown_words_are_found_and_the_remedy_helps(material, sound):
    spoilt = material(sound, text__kind="word", text__size=300)
    source, target = named(text_findings(spoilt), "unknown-tokens")
    assert source.severity in ("warning", "problem") and source.metrics["training set fraction"] > 0.01
    assert "of the source tokens of the" in source.sentence and source.examples
    assert source.way_out == "encode every text as bytes: text.kind=bpe text.pretokenizer=byte-level"
    assert target.severity in ("warning", "problem")
    assert not named(text_findings(material(sound, text__size=700, **as_changes(source))), "unknown-tokens")


def test_rare_characters_can_be_kept(material, sound):
    odd = sound | {"train": [*sound["train"], Pair("Der Hund frißt ☃.", "The dog eats ☃.")]}
    findings = named(text_findings(material(odd, text__kind="char", text__min_frequency=5)), "unknown-tokens")
    assert {finding.way_out for finding in findings} == {"keep rare characters: text.min_frequency=1"}
    remedied = material(odd, text__kind="char", **as_changes(findings[0]))
    assert not named(text_findings(remedied), "unknown-tokens")


def test_characters_never_seen_in_training_are_reported(material, sound):
    odd = [Pair(f"{pair.source} ☃", pair.target) for pair in sound["test"][:10]]
    (finding,) = named(text_findings(material(sound | {"test": odd + sound["test"][10:]})), "new-characters")
    assert finding.severity == "warning"
    assert finding.sentence == (
        "1 character in the source of the test set test never occurs in training: ☃ (in 10 of 150 sentences)."
    )


def test_another_spelling_of_a_known_character_is_not_new(material, sound):
    decomposed = [Pair(pair.source.replace("ü", "u\u0308"), pair.target) for pair in sound["test"]]
    assert decomposed != sound["test"]
    assert not named(text_findings(material(sound | {"test": decomposed})), "new-characters")


def test_remains_of_other_formats_are_reported(material, sound):
    odd = [Pair(pair.source, pair.target + " &quot;<b>") for pair in sound["train"][:40]]
    (finding,) = named(text_findings(material(sound | {"train": sound["train"][40:] + odd})), "residues")
    assert finding.severity == "warning" and finding.sentence == (
        "40 target texts of the training set (2.0 %) have residues of another format: &quot; <b>."
    )


def test_words_cut_too_fine_are_reported(material, sound):
    source, _ = named(text_findings(material(sound, text__size=90)), "tokens-per-word")
    assert source.severity == "warning" and source.way_out == "enlarge the vocabulary: text.size=180"
    assert "which makes sentences long and words hard to learn" in source.sentence
    assert not named(text_findings(material(sound, text__kind="char")), "tokens-per-word")


def test_a_vocabulary_larger_than_the_text_is_reported(material, sound):
    few = {"train": sound["train"][:400], "valid": sound["valid"]}
    (finding,) = named(text_findings(material(few, text__size=8000)), "rare-tokens")
    assert finding.severity == "warning" and finding.remedy == "shrink the vocabulary"
    assert "occur fewer than 5 times in training, too seldom to be trained." in finding.sentence
    assert not named(text_findings(material(few, **as_changes(finding))), "rare-tokens")


def test_a_tokenizer_of_another_language_is_found_out(material, sound, tmp_path):
    from regard.text.settings import TokenizerSettings
    from regard.text.training import train_tokenizer

    train_tokenizer(["abc def " * 3], TokenizerSettings(size=40)).save(tmp_path / "other.json")
    findings = text_findings(material(sound, text__tokenizer=str(tmp_path / "other.json")))
    (source, _) = named(findings, "unknown-tokens")
    assert source.severity == "problem"
    assert source.way_out == "leave out text.tokenizer, so that one is trained on this text"


def test_an_end_that_also_stands_for_the_unknown_is_no_unknown_token(material, sound, tmp_path):
    texts = [text for pair in sound["train"] for text in (pair.source, pair.target)]
    trained_bytes(texts, 600).save(str(tmp_path / "gpt2.json"))
    findings = text_findings(material(sound, text__tokenizer=str(tmp_path / "gpt2.json")))
    assert not named(findings, "unknown-tokens")
