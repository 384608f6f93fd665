"""Meanings in German: what stands in which field of the clause, and where the commas go."""

from typing import NamedTuple

from regard.miniature.german.morphology import (
    REFLEXIVES,
    RELATIVES,
    Agreement,
    Slot,
    forms_of,
    modal_forms,
    verb_forms,
)
from regard.miniature.german.phrases import (
    agreement_of,
    nominal,
    noun_phrase,
    predicate,
    prepositional,
    slot_of,
    time_phrase,
)
from regard.miniature.lexicon import Adverb, Case, lexicon
from regard.miniature.meaning import (
    Clause,
    Determiner,
    Gap,
    Meaning,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Relative,
    denies_noun,
    grammatical_subject,
    is_vague,
    likes,
)

_HAVE = verb_forms("haben", "", "hat", "hatte", "gehabt")
_BE = verb_forms("sein", "", "ist", "war", "gewesen")
_WILL = verb_forms("werden", "", "wird", "wurde", "worden")
_AGENT = lexicon().preposition("agent")
_WHO: dict[Case, str] = {"nominative": "wer", "accusative": "wen", "dative": "wem"}
_ASKED = {"where": "wo", "when": "wann", "why": "warum"}


class GermanPiece(NamedTuple):
    """One phrase of a clause: the slot it fills, its words, and a tail that may stand behind the verb."""

    slot: str
    text: str
    tail: str = ""  # with the commas that part it

    @property
    def whole(self) -> str:
        return self.text + self.tail


class GermanVerbGroup(NamedTuple):
    """The verb of a clause, cut where German cuts it: the finite word, the rest, and a separable particle."""

    finite: str
    rest: str
    particle: str = ""

    @property
    def closing(self) -> str:
        return self.rest or self.particle

    @property
    def together(self) -> str:
        return f"{self.rest} {self.finite}" if self.rest else self.particle + self.finite


def in_german(meaning: Meaning) -> str:
    """The German sentence of a meaning."""
    text = _question(meaning) if meaning.asked else _main(meaning.clause)
    if meaning.joint and meaning.second:
        joint = meaning.joint.german
        # A comma parts the clauses, but not before "und", unless it closes a subordinate clause.
        text += "" if joint == "und" or text.endswith(",") else ","
        # "Deshalb" is an adverb and takes the first place of its clause; the others stand before it.
        is_adverb = joint == "deshalb"
        text += " " + (_main(meaning.second, joint) if is_adverb else f"{joint} {_main(meaning.second)}")
    return text[0].upper() + text[1:].rstrip(",") + ("?" if meaning.asked else ".")


def _main(clause: Clause, first: str = "") -> str:
    """A verb-second clause; `first` fills the field before the verb where nothing of the clause does."""
    agreement = _agreement(clause)
    verb, pieces = _verb_group(clause, agreement), _pieces(clause, agreement)
    circumstance = clause.circumstance
    if circumstance and circumstance.is_first:
        first = f"{circumstance.conjunction.german} {_subordinate(circumstance.clause).rstrip(',')},"
    if not first:
        front = next((piece for piece in pieces if piece.slot == clause.front), pieces[0])
        pieces.remove(front)
        first = front.whole
    return _close(clause, [first, verb.finite], _middle(clause, pieces), verb.closing)


def _question(meaning: Meaning) -> str:
    clause = meaning.clause
    agreement = _agreement(clause)
    verb = _verb_group(clause, agreement)
    start = [verb.finite]
    if meaning.asked in _ASKED:
        start.insert(0, _ASKED[meaning.asked])
    elif meaning.asked != "whether":
        case: Case = "nominative" if type(clause.subject) is Gap else clause.verb.object_case
        start.insert(0, "was" if meaning.asked == "what" else _WHO[case])
    return _close(clause, start, _middle(clause, _pieces(clause, agreement)), verb.closing)


def _subordinate(clause: Clause, start: str = "", whose: str = "", slot: Slot = "m") -> str:
    """A verb-final clause; `start` is a relative pronoun and `slot` that of the noun it stands for."""
    agreement = _agreement(clause, "3p" if slot == "p" else "3s")
    pieces = _pieces(clause, agreement, whose)
    return _close(clause, [start] if start else [], pieces, _verb_group(clause, agreement).together)


def _relative(relative: Relative, slot: Slot) -> str:
    clause, role = relative.clause, relative.role
    if role == "possessor":
        return _subordinate(clause, whose=RELATIVES["genitive"][slot])
    if role == "complement" and isinstance(clause.complement, PrepositionalPhrase):
        preposition = clause.complement.preposition
        return _subordinate(clause, f"{preposition.german} {RELATIVES[preposition.case][slot]}")
    case: Case = "nominative"
    if role == "recipient":
        case = "dative"
    elif role == "object" and not clause.is_passive:
        case = clause.verb.object_case
    return _subordinate(clause, RELATIVES[case][slot], slot=slot)


def _close(clause: Clause, start: list[str], pieces: list[GermanPiece], closing: str) -> str:
    """The clause from its first word to its last comma."""
    content, circumstance = clause.content, clause.circumstance
    follower = content or (circumstance if circumstance and not circumstance.is_first else None)
    words = start + [piece.whole for piece in pieces]
    after = ""
    if closing:
        if pieces and pieces[-1].tail and not follower:
            # A relative clause at the end of the middle field moves behind the verb that closes it.
            words[-1], after = pieces[-1].text, pieces[-1].tail
        words.append(closing)
    text = " ".join(words) + after
    if follower:
        text = f"{text.rstrip(',')}, {follower.conjunction.german} {_subordinate(follower.clause).rstrip(',')},"
    return text


def _middle(clause: Clause, pieces: list[GermanPiece]) -> list[GermanPiece]:
    """The pieces after the finite verb: pronouns go before a subject that is not one itself."""
    subject = grammatical_subject(clause)
    if not pieces or pieces[0].slot != "subject" or subject is None or type(subject) is Pronoun:
        return pieces
    return sorted(pieces, key=lambda piece: piece.slot != "pronoun")


def _piece(
    slot: str, value: Nominal, case: Case, determiner: Determiner | None = None, whose: str = ""
) -> GermanPiece:
    if type(value) is NounPhrase:
        text = noun_phrase(value, case, determiner, whose)
        return GermanPiece(slot, text, _tail(value))
    return GermanPiece(slot, nominal(value, case))


def _adverbial(slot: str, value: PrepositionalPhrase | Adverb | None) -> list[GermanPiece]:
    if value is None:
        return []
    if isinstance(value, Adverb):
        return [GermanPiece(slot, value.german)]
    inner = value.nominal
    if type(inner) is Gap:
        return []
    return [GermanPiece(slot, prepositional(value), _tail(inner))]


def _tail(value: Nominal) -> str:
    """A relative clause between its commas."""
    if type(value) is not NounPhrase or value.relative is None:
        return ""
    return f", {_relative(value.relative, slot_of(value)).rstrip(',')},"


def _agreement(clause: Clause, gap: Agreement = "3s") -> Agreement:
    """What the finite verb agrees with; `gap` is the agreement of whatever a gap stands for."""
    subject = grammatical_subject(clause)
    return gap if type(subject) is Gap else agreement_of(subject)


def _subject(clause: Clause, whose: str) -> list[GermanPiece]:
    subject = grammatical_subject(clause)
    if subject is None:
        return [GermanPiece("subject", "es")]
    return [] if type(subject) is Gap else [_piece("subject", subject, "nominative", whose=whose)]


def _objects(clause: Clause, agreement: Agreement) -> tuple[list[GermanPiece], list[GermanPiece], list[GermanPiece]]:
    """The objects by where they stand: pronouns, what is known, what is new."""
    pronouns, known, new = [], [], []
    if clause.verb.is_reflexive:
        pronouns.append(GermanPiece("pronoun", REFLEXIVES[agreement]))
    determiner: Determiner | None = "no" if denies_noun(clause) else None
    roles: list[tuple[str, Nominal | None, Case]] = [("recipient", clause.recipient, "dative")]
    if not clause.is_passive:
        roles.append(("object", clause.object, clause.verb.object_case))
    for slot, value, case in roles:
        if value is None or type(value) is Gap:
            continue
        if type(value) is Pronoun:
            pronouns.append(_piece("pronoun", value, case))
        elif slot == "object" and is_vague(value):
            new.append(_piece(slot, value, case, determiner))
        else:
            known.append(_piece(slot, value, case))
    return pronouns, known, new


def _pieces(clause: Clause, agreement: Agreement, whose: str = "") -> list[GermanPiece]:
    """Everything in the clause but verbs and clauses, in the order of the middle field."""
    pronouns, known, new = _objects(clause, agreement)
    says_not = clause.is_negated and not denies_noun(clause)
    when = [GermanPiece("time", time_phrase(clause.time))] if clause.time else []
    when += _adverbial("cause", clause.cause)
    words = (
        "nicht" if says_not else "",
        clause.frequency and clause.frequency.german,
        likes(clause) and "gern",
    )
    middle = [GermanPiece("middle", word) for word in words if word]
    pieces = [*_subject(clause, whose), *pronouns, *_adverbial("stance", clause.stance)]
    pieces += [*known, *when] if says_not else [*when, *known]
    if clause.is_passive and clause.subject:
        pieces.append(GermanPiece("agent", prepositional(PrepositionalPhrase(_AGENT, clause.subject))))
    pieces += middle + _adverbial("manner", clause.manner)
    place = _adverbial("place", clause.place)
    if clause.verb.frame == "exist":
        return [*pieces, *place, *new]
    complement = _adverbial("complement", clause.complement)
    # "wartet im Garten auf den Gast": what the verb governs stands nearest to its end.
    last = [*place, *complement] if clause.verb.frame == "about" else [*complement, *place]
    pieces += [*new, *_adverbial("company", clause.company), *last]
    if clause.predicate:
        quality, standard = predicate(clause.predicate, "no" if denies_noun(clause) else None)
        pieces.append(GermanPiece("predicate", quality, f" {standard}" if standard else ""))
    return pieces


def _verb_group(clause: Clause, agreement: Agreement) -> GermanVerbGroup:
    verb, tense = clause.verb, clause.tense
    forms = forms_of(verb)
    if clause.is_passive:
        return GermanVerbGroup((_WILL.present if tense == "present" else _WILL.past)[agreement], forms.participle)
    if clause.modal and not likes(clause):
        modal = modal_forms(clause.modal.german)
        return GermanVerbGroup((modal.present if tense == "present" else modal.past)[agreement], forms.infinitive)
    if tense == "future":
        return GermanVerbGroup(_WILL.present[agreement], forms.infinitive)
    if tense in ("present", "narrated"):
        return GermanVerbGroup((forms.present if tense == "present" else forms.past)[agreement], "", verb.particle)
    auxiliary = _BE if verb.auxiliary == "sein" else _HAVE
    return GermanVerbGroup((auxiliary.past if tense == "earlier" else auxiliary.present)[agreement], forms.participle)
