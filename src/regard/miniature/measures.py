"""What a meaning contains: how deep it nests, which words it joins, which nouns it puts in which case."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from regard.miniature.lexicon import Case, Noun
from regard.miniature.meaning import (
    Ago,
    Clause,
    Coordination,
    Gap,
    Lasting,
    Meaning,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    grammatical_subject,
)


class WordPair(NamedTuple):
    """Two German lemmas in a relation: a verb or an adjective, and the noun it acts on or describes."""

    relation: Literal["object", "quality"]
    word: str
    noun: str


class NounCase(NamedTuple):
    """A German noun in one of the four cases."""

    noun: str
    case: Case


class MeaningPart(NamedTuple):
    """A clause, the noun phrase that its gap stands for, and its own noun phrases with their cases."""

    clause: Clause
    head: NounPhrase | None
    phrases: list[tuple[NounPhrase, Case]]


def depth(meaning: Meaning) -> int:
    """How many clauses lie within one another below the main clause."""
    return max(_depth(clause) for clause in (meaning.clause, meaning.second) if clause)


def word_pairs(meaning: Meaning) -> list[WordPair]:
    """Every verb with its object and every adjective with its noun, however the sentence expresses it."""
    return pairs_in(parts_of(meaning))


def noun_cases(meaning: Meaning) -> list[NounCase]:
    """Every common noun of the German sentence with its case."""
    return cases_in(parts_of(meaning))


def parts_of(meaning: Meaning) -> list[MeaningPart]:
    """Every clause of a meaning, wherever it is nested."""
    parts: list[MeaningPart] = []
    waiting: list[tuple[Clause, NounPhrase | None]] = [(meaning.clause, None)]
    if meaning.second:
        waiting.append((meaning.second, None))
    while waiting:
        clause, head = waiting.pop()
        phrases = list(_phrases(clause))
        parts.append(MeaningPart(clause, head, phrases))
        for link in (clause.content, clause.circumstance):
            if link:
                waiting.append((link.clause, None))
        for phrase, _ in phrases:
            if phrase.relative:
                waiting.append((phrase.relative.clause, phrase))
    return parts


def pairs_in(parts: list[MeaningPart]) -> list[WordPair]:
    """The word pairs of these clauses."""
    pairs = []
    for clause, head, phrases in parts:
        for noun in _nouns(clause.object, head) if clause.verb.frame != "exist" else ():
            pairs.append(WordPair("object", clause.verb.german, noun.german))
        if type(clause.predicate) is Quality:
            for noun in _nouns(grammatical_subject(clause), head):
                pairs.append(WordPair("quality", clause.predicate.adjective.german, noun.german))
        for phrase, _ in phrases:
            for adjective in phrase.adjectives:
                pairs.append(WordPair("quality", adjective.german, phrase.noun.german))
    return pairs


def cases_in(parts: list[MeaningPart]) -> list[NounCase]:
    """The nouns of these clauses with their cases."""
    cases = []
    for clause, _, phrases in parts:
        cases += [NounCase(phrase.noun.german, case) for phrase, case in phrases]
        if type(clause.time) is Ago:
            cases.append(NounCase(clause.time.unit.german, "dative"))
        elif type(clause.time) is Lasting:
            cases.append(NounCase(clause.time.unit.german, "accusative"))
    return cases


def _depth(clause: Clause) -> int:
    inner = [link.clause for link in (clause.content, clause.circumstance) if link]
    inner += [phrase.relative.clause for phrase, _ in _phrases(clause) if phrase.relative]
    return max((1 + _depth(clause) for clause in inner), default=0)


def _nouns(value: Nominal | None, head: NounPhrase | None) -> list[Noun]:
    """The nouns that a role speaks of, also through a gap or a pronoun."""
    if type(value) is NounPhrase:
        return [value.noun]
    if type(value) is Gap:
        return [head.noun] if head else []
    if type(value) is Pronoun:
        return [value.noun] if value.noun else []
    if type(value) is Coordination:
        return _nouns(value.first, head) + _nouns(value.second, head)
    return []


def _phrases(clause: Clause) -> Iterator[tuple[NounPhrase, Case]]:
    """Every noun phrase of a clause itself, with its case in German."""
    predicate = clause.predicate
    doer: Case = "dative" if clause.is_passive else "nominative"
    patient: Case = "nominative" if clause.is_passive else clause.verb.object_case
    roles: list[tuple[Nominal | None, Case]] = [
        (clause.subject, doer),
        (clause.object, patient),
        (clause.recipient, "dative"),
    ]
    for phrase in (clause.complement, clause.company, clause.cause, clause.place, clause.time):
        if type(phrase) is PrepositionalPhrase:
            roles.append((phrase.nominal, phrase.preposition.case))
    if predicate is not None:
        standard = predicate if isinstance(predicate, NounPhrase) else predicate.standard
        roles.append((standard, "nominative"))
    for value, case in roles:
        yield from _parts(value, case)


def _parts(value: Nominal | None, case: Case) -> Iterator[tuple[NounPhrase, Case]]:
    if type(value) is NounPhrase:
        yield value, case
        if type(value.possessor) is NounPhrase:
            yield value.possessor, "genitive"
    elif type(value) is Coordination:
        yield from _parts(value.first, case)
        yield from _parts(value.second, case)
