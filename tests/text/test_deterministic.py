import json
import random

from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from regard.text.deterministic import PENALTY_STEP, in_order, without_added

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


def vocabulary(backend):
    return json.loads(backend.to_str())["model"]["vocab"]


def unigram(entries):
    return Backend(models.Unigram([*((name, 0.0) for name in SPECIAL), *entries], 1, False))


def test_a_unigram_vocabulary_is_sorted_by_score_then_by_name():
    entries = [("b", -2.0), ("xy", -1.0), ("a", -2.0), ("zz", -3.0), ("yy", -3.0)]
    ordered = vocabulary(in_order(unigram(entries), SPECIAL))
    assert [name for name, _ in ordered] == [*SPECIAL, "xy", "a", "b", "yy", "zz"]


def test_leftover_characters_get_their_scores_alphabetically_in_any_order_of_training():
    chosen = [("the", -2.0), ("e", -2.5)]
    outcomes = []
    for seed in range(4):
        left = list("dcbaß")
        random.Random(seed).shuffle(left)
        leftover = [(character, -9.0 - PENALTY_STEP * number) for number, character in enumerate(left)]
        outcomes.append(vocabulary(in_order(unigram([*chosen, *leftover]), SPECIAL)))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert [name for name, _ in outcomes[0][4:]] == ["the", "e", "a", "b", "c", "d", "ß"]


def test_added_tokens_of_a_wordpiece_become_ordinary_ones_and_specials_stay():
    backend = Backend(
        models.WordPiece({**{name: i for i, name in enumerate(SPECIAL)}, "a": 4, "##b": 5}, unk_token="<unk>")
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.add_special_tokens([*SPECIAL, "##b"])
    assert backend.encode("##b").tokens == ["##b"]  # an added token is found in a text
    fresh = without_added(backend, SPECIAL)
    assert "##b" not in fresh.encode("##b").tokens and fresh.encode("ab").tokens == ["a", "##b"]
    assert fresh.encode("</s>").ids == [3] and vocabulary(fresh) == vocabulary(backend)
