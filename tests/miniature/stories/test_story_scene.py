"""The state of a story follows what is told, and deeds, asides and endings tell what is true in it."""

from random import Random

import pytest

from regard.miniature.english import in_english
from regard.miniature.lexicon import lexicon
from regard.miniature.meaning import Coordination, NamedEntity, NounPhrase, Pronoun
from regard.miniature.stories import asides, deeds
from regard.miniature.stories.cast import draw_plan, draw_theme, sex_of
from regard.miniature.stories.endings import close_given, close_regained
from regard.miniature.stories.facts import Account, Asked, deed_of
from regard.miniature.stories.plots import PLOTS
from regard.miniature.stories.scene import OWNERS, Scene, at, known, pronoun, to
from regard.miniature.stories.telling import stories, story

WORDS = lexicon()
SEEDS = range(15)


def scene_of(seed: int, spare: int = 5) -> Scene:
    draw = Random(seed).random
    return Scene(draw, draw_plan(draw, draw_theme(draw)), spare)


def texts(scene: Scene) -> list[str]:
    return [in_english(told.meaning) for told in scene.told]


@pytest.mark.parametrize("seed", SEEDS)
def test_things_move_with_the_deeds_that_are_told(seed):
    scene = scene_of(seed)
    (hero, friend, _), thing, (first, second, _) = scene.plan.people, scene.plan.thing, scene.plan.places
    deeds.have(scene, hero, thing)
    assert scene.holders[thing] is hero and scene.owners[thing] is hero
    deeds.go(scene, hero, first)
    assert scene.where[hero] is first
    deeds.lose(scene, hero, thing)
    assert scene.holders[thing] is first and scene.owners[thing] is hero
    deeds.be_at(scene, friend, first)
    deeds.find(scene, friend, thing)
    assert scene.holders[thing] is friend and scene.owners[thing] is hero
    deeds.hand_over(scene, friend, thing, hero)
    assert scene.holders[thing] is hero
    deeds.go(scene, hero, second, friend)
    assert scene.where[hero] is scene.where[friend] is second
    deeds.hand_over(scene, hero, thing, friend, "lend")
    assert scene.holders[thing] is friend and scene.owners[thing] is hero
    deeds.lie(scene, thing, second)
    deeds.take(scene, hero, thing)
    deeds.hand_over(scene, hero, thing, friend)
    assert thing not in scene.owners  # given away
    assert scene.cast == [hero, friend] and len(texts(scene)) == 11
    assert set(scene.named_places) == {first, second}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thing_that_is_bought_shown_and_used_stays_with_its_holder(seed):
    scene = scene_of(seed)
    (hero, friend, _), thing = scene.plan.people, scene.plan.other
    deeds.go(scene, hero, scene.plan.places[0])
    deeds.be_at(scene, friend, scene.plan.places[0])
    deeds.buy(scene, hero, thing)
    deeds.show(scene, hero, thing, friend)
    told = len(scene.told)
    assert deeds.use(scene, hero, thing) == (len(scene.told) == told + 1)
    deeds.look_for(scene, friend, thing)
    assert scene.holders[thing] is hero and thing not in scene.owners


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_continuations_are_against_what_was_told(seed):
    scene = scene_of(seed)
    (hero, friend, _), thing, other = scene.plan.people, scene.plan.thing, scene.plan.other
    first, second, _ = scene.plan.places
    deeds.have(scene, hero, thing)
    deeds.have(scene, friend, other)
    deeds.go(scene, hero, first)
    deeds.be_at(scene, friend, second)
    subject, phrase = NamedEntity(hero), known(thing)
    wrong = dict(deeds.against_holder(scene, subject, phrase, thing, hero))
    assert wrong.get("holder", {"subject": NamedEntity(friend)}) == {"subject": NamedEntity(friend)}
    assert wrong.get("thing", {"object": known(other)}) == {"object": known(other)}
    assert scene.elsewhere(hero) is second and scene.elsewhere(friend) is first
    assert scene.without(thing) is friend and deeds.is_plain(phrase)
    assert not deeds.is_plain(NounPhrase(thing.noun, "indefinite")) and not deeds.is_plain(None)
    for told in scene.told:
        assert all(contrast.meaning != told.meaning for contrast in told.contrasts)


@pytest.mark.parametrize("seed", SEEDS)
def test_asides_change_nothing_but_what_is_known(seed):
    scene = scene_of(seed)
    (hero, friend, _), thing = scene.plan.people, scene.plan.thing
    asides.live(scene, hero)
    asides.relate(scene, friend, hero)
    asides.rain(scene)
    deeds.have(scene, hero, thing)
    deeds.go(scene, hero, scene.plan.places[0])
    deeds.be_at(scene, friend, scene.plan.places[0])
    before = dict(scene.holders), dict(scene.where)
    asides.feel(scene, hero, False, asides.having_lost(hero, thing))
    asides.say_lost(scene, hero, thing)
    asides.greet(scene, friend, hero)
    asides.thank(scene, hero, friend)
    for _ in range(6):
        asides.meanwhile(scene, friend)
    assert (scene.holders, scene.where) == before
    sentences = texts(scene)
    assert sentences[2] == "It rained." and "because" in sentences[6] and len(sentences) == len(scene.told)
    assert any(contrast.kind == "mood" for contrast in scene.told[6].contrasts)
    assert (
        sum("was" in sentence and sentence.startswith("The ") for sentence in sentences[10:]) <= 1
    )  # described once


@pytest.mark.parametrize("seed", SEEDS)
def test_a_story_closes_with_the_thing_where_it_belongs(seed):
    for close in (close_regained, close_given):
        scene = scene_of(seed, spare=3)
        (hero, friend, _), thing = scene.plan.people, scene.plan.thing
        deeds.have(scene, hero, thing)
        deeds.be_at(scene, hero, scene.plan.places[0])
        deeds.be_at(scene, friend, scene.plan.places[0])
        if close is close_given:
            deeds.hand_over(scene, hero, thing, friend)
            close(scene, hero, thing, friend)
        else:
            close(scene, hero, thing)
        assert scene.holders[thing] is (friend if close is close_given else hero)
        last = texts(scene)[-1]
        assert thing.noun.english in last or "it" in last.rstrip(".").split()


def test_pronouns_are_used_only_where_they_are_clear():
    seen = set()
    for seed in range(300):
        scene = scene_of(seed)
        hero, friend, third = scene.plan.people
        assert scene.person(hero) == NamedEntity(hero)  # nothing has been told yet
        deeds.be_at(scene, hero, scene.plan.places[0])
        subject, other = scene.person(hero), scene.other_person(friend, hero)
        assert subject in (NamedEntity(hero), pronoun(hero)) and other == NamedEntity(friend)
        seen.add(type(subject).__name__)
        asides.greet(scene, friend, hero)
        both = scene.both(hero, friend)
        assert both in (Pronoun("they"), Coordination(NamedEntity(hero), NamedEntity(friend)))
        assert scene.both(hero, third) == Coordination(NamedEntity(hero), NamedEntity(third))
        if sex_of(hero) == sex_of(friend):
            assert scene.other_person(hero, third) == NamedEntity(hero)
    assert seen == {"NamedEntity", "Pronoun"}


def test_times_only_move_forward_and_end():
    for seed in SEEDS:
        scene = scene_of(seed)
        times = [time for _ in range(60) if (time := scene.pass_time(1.0)) is not None]
        order = [scene.plan.times.index(time) for time in times]
        assert order == sorted(set(order)) and 1 < len(times) <= len(scene.plan.times)


def test_room_is_used_up():
    scene = scene_of(0, spare=2)
    assert [scene.has_room(1.0) for _ in range(4)] == [True, True, False, False] and not scene_of(0).has_room(0.0)


def test_places_have_their_prepositions():
    for word in WORDS.nouns.values():
        if word.where and word.whither:
            assert at(word).preposition is word.where[0] and to(word).preposition is word.whither


@pytest.mark.parametrize("plot", PLOTS.items, ids=lambda plot: plot.name)
def test_a_plot_has_at_least_the_length_it_states_and_names_its_title(plot):
    for seed in SEEDS:
        scene = scene_of(seed, spare=0)
        plot.tell(scene)
        assert 5 <= len(scene.told) <= plot.length
        assert isinstance(plot.title(scene), NounPhrase | Coordination)
    assert plot.name == plot.name.lower().strip()


def test_facts_say_who_did_what_and_the_text_has_their_words():
    total = 0
    for number in range(120):
        account = Account(story("train", number))
        for fact in account.facts:
            total += 1
            sentence = account.sentences[fact.number]
            for role in ("who", "whom", "what", "where", "when", "how long", "why", "like"):
                if fact.has(role):
                    for mention in account.mentions(fact, role):
                        assert account.text[mention.start :].startswith(mention.text)
                        assert mention.start <= account.text.index(sentence) + len(sentence)
            if fact.has("who"):
                asked = Asked(fact.clause, fact.deed, who=fact.people[0], whom=fact.whom, noun=fact.noun)
                assert asked.fits(fact) and not asked._replace(deed="never told").fits(fact)
            assert fact.named.time is None and fact.named.circumstance is None
        for name in {name for fact in account.facts for name in fact.people}:
            last = account.last(name)
            assert last.text == name.english and last.start == account.text.rindex(name.english)
    assert total > 500


def test_verbs_of_one_deed_are_one():
    assert deed_of(WORDS.verb("reichen")) == deed_of(WORDS.verb("geben", "recipient")) == "geben"
    assert deed_of(WORDS.verb("verlieren")) == "verlieren"


def test_the_possessive_of_a_person_is_of_their_sex():
    for told in (told for _, one in zip(range(50), stories("valid")) for told in one.told):
        clause = told.meaning.clause
        if told.has_subject and isinstance(clause.object, NounPhrase) and clause.object.determiner in OWNERS.values():
            assert clause.object.determiner == OWNERS[sex_of(told.people[0])]
