"""Anaphora: pronouns whose antecedent is unambiguous."""

from collections.abc import Iterable, Iterator

from regard.miniature.meaning import (
    Clause,
    Coordination,
    NamedEntity,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    grammatical_subject,
)


def pronoun_for(value: Nominal | None, others: Iterable[Nominal]) -> Pronoun | None:
    """The pronoun that points back to a nominal; None where there is none or it could point elsewhere."""
    pronoun = _pointer(value)
    if pronoun is None:
        return None
    form = pronoun.gender or pronoun.person
    for other in others:
        if other is value:
            continue
        rival = _pointer(other)
        if rival is None:
            if isinstance(other, NounPhrase) and other.noun.gender == form:
                return None
        elif (rival.gender or rival.person) == form and rival.person != pronoun.person:
            return None
    return pronoun


def _pointer(value: Nominal | None) -> Pronoun | None:
    if isinstance(value, NounPhrase):
        if value.determiner in ("no", "each"):
            return None
        if value.number == "plural":
            return Pronoun("they", None, value.noun)
        if "person" not in value.noun.classes:
            return Pronoun("it", value.noun.gender, value.noun)
        person = {"m": "he", "f": "she"}.get(value.noun.sex or "")
        return Pronoun(person, value.noun.gender, value.noun) if person else None  # type: ignore[arg-type]
    if isinstance(value, NamedEntity):
        return Pronoun("she", "f") if value.name.kind == "woman" else Pronoun("he", "m")
    if isinstance(value, Coordination):
        return Pronoun("they")
    return value if isinstance(value, Pronoun) else None


def mentioned(clause: Clause) -> Iterator[Nominal]:
    """Whoever and whatever a pronoun in a neighbouring clause could be taken for."""
    # Where something happens, and when, comes to nobody's mind as the one who is tired.
    complement = clause.complement if clause.verb.frame == "about" else None
    phrases = [p.nominal for p in (complement, clause.company) if isinstance(p, PrepositionalPhrase)]
    standard = clause.predicate.standard if isinstance(clause.predicate, Quality) else None
    for value in (clause.subject, clause.object, clause.recipient, standard, *phrases):
        if value is not None:
            yield value
        if isinstance(value, NounPhrase) and value.relative:
            yield from mentioned(value.relative.clause)
    for link in (clause.content, clause.circumstance):
        if link:
            yield from mentioned(link.clause)


def same_subject(clause: Clause, around: Iterable[Nominal]) -> Pronoun | None:
    """The pronoun for the subject of a clause, clear also among what is said around it."""
    return pronoun_for(grammatical_subject(clause), (*mentioned(clause), *around))
