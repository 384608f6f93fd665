"""Meanings in English: verb groups with their auxiliaries, word order, and commas."""

from typing import Final, NamedTuple

from regard.miniature.english.morphology import EnglishAgreement, be, forms_of
from regard.miniature.english.phrases import (
    agreement_of,
    is_person,
    nominal,
    noun_phrase,
    predicate,
    prepositional,
    time_phrase,
)
from regard.miniature.lexicon import Adverb
from regard.miniature.meaning import (
    Clause,
    Gap,
    Meaning,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Relative,
    denies_noun,
    grammatical_subject,
)

# In these clauses the present speaks of any time, so that even the weather takes the simple form.
_GENERAL: Final = frozenset({"when", "if", "before", "until", "as soon as"})
_JOINTS: Final = {"and": ", and", "but": ", but", "so": ", so", "because": " because"}


class EnglishVerbGroup(NamedTuple):
    """An auxiliary, if there is one, and the rest of the verb."""

    auxiliary: str
    main: str


def in_english(meaning: Meaning) -> str:
    """The English sentence of a meaning."""
    if meaning.asked:
        text = _question(meaning)
    else:
        text = _main(meaning.clause)
        if meaning.joint and meaning.second:
            text = f"{text}{_JOINTS[meaning.joint.english]} {_main(meaning.second)}"
    return text[0].upper() + text[1:] + ("?" if meaning.asked else ".")


def _main(clause: Clause) -> str:
    first = last = ""
    stance, time = clause.stance, clause.time
    if stance and stance.kind != "stance-middle":
        first = f"{stance.english}," if stance.kind == "stance-comma" else stance.english
    if time:
        if clause.front == "time" and not first:
            first = time_phrase(time)
        else:
            last = time_phrase(time)
    circumstance = clause.circumstance
    if circumstance and circumstance.is_first:
        subordinate = _subordinate(circumstance.clause, circumstance.conjunction.english)
        first = f"{circumstance.conjunction.english} {subordinate},"
    words = [first, _subject(clause), *_predication(clause, agreement_of(_agreeing(clause))), last]
    return " ".join(filter(None, words)) + _followers(clause)


def _question(meaning: Meaning) -> str:
    clause, asked = meaning.clause, meaning.asked
    word = "" if asked == "whether" else str(asked)
    if type(clause.subject) is Gap:
        words = [word, *_predication(clause, "he")]
    else:
        agreement = agreement_of(_agreeing(clause))
        verb = _verb_group(clause, agreement, is_question=True)
        words = [word, verb.auxiliary, _subject(clause), *_predication(clause, agreement, verb=verb)]
    words.append(time_phrase(clause.time) if clause.time else "")
    return " ".join(filter(None, words)) + _followers(clause)


def _subordinate(clause: Clause, conjunction: str = "", agreement: EnglishAgreement | None = None) -> str:
    """A clause after a conjunction or a relative pronoun, whose noun's agreement fills a subject's gap."""
    agreement = agreement or agreement_of(_agreeing(clause))
    is_general = conjunction in _GENERAL
    words = [_subject(clause), *_predication(clause, agreement, is_general=is_general)]
    words.append(time_phrase(clause.time) if clause.time else "")
    return " ".join(filter(None, words)) + _followers(clause)


def _followers(clause: Clause) -> str:
    """The clauses that come after everything else."""
    if clause.content:
        conjunction = clause.content.conjunction.english
        return f" {conjunction} {_subordinate(clause.content.clause, conjunction)}"
    if clause.circumstance and not clause.circumstance.is_first:
        conjunction = clause.circumstance.conjunction.english
        comma = "," if conjunction == "although" else ""
        return f"{comma} {conjunction} {_subordinate(clause.circumstance.clause, conjunction)}"
    return ""


def _relative(relative: Relative, head: NounPhrase) -> str:
    clause, role = relative.clause, relative.role
    pronoun = "which"
    is_subject = type(grammatical_subject(clause)) is Gap
    if role == "possessor":
        return _subordinate(clause)
    if is_person(head):
        pronoun = "who" if is_subject else "whom"
    if role == "recipient":
        pronoun = f"to {pronoun}"
    elif role == "complement" and isinstance(clause.complement, PrepositionalPhrase):
        pronoun = f"{clause.complement.preposition.english} {pronoun}".lstrip()
    return f"{pronoun} {_subordinate(clause, agreement=agreement_of(head) if is_subject else None)}"


def _agreeing(clause: Clause) -> Nominal | None:
    return clause.object if clause.verb.frame == "exist" else grammatical_subject(clause)


def _whole(value: Nominal, is_subject: bool = False, denied: bool = False) -> str:
    """A nominal with its relative clause."""
    if type(value) is NounPhrase:
        text = noun_phrase(value, denied)
        return f"{text} {_relative(value.relative, value)}" if value.relative else text
    return "" if type(value) is Gap else nominal(value, is_subject)


def _phrase(value: PrepositionalPhrase | Adverb | None) -> str:
    if value is None:
        return ""
    if isinstance(value, Adverb):
        return value.english
    inner = value.nominal
    if type(inner) is Gap:
        return ""
    if type(inner) is NounPhrase and inner.relative:
        return f"{prepositional(value)} {_relative(inner.relative, inner)}"
    return prepositional(value)


def _subject(clause: Clause) -> str:
    subject = grammatical_subject(clause)
    if subject is None:
        return "there" if clause.verb.frame == "exist" else "it"
    return _whole(subject, is_subject=True)


def _predication(
    clause: Clause, agreement: EnglishAgreement, is_general: bool = False, verb: EnglishVerbGroup | None = None
) -> list[str]:
    """All that follows the subject but its time; `verb` is given where its auxiliary has been said."""
    words = []
    if verb is None:
        verb = _verb_group(clause, agreement, is_general=is_general)
        words.append(verb.auxiliary)
    if clause.is_negated:
        words[-1:] = ["cannot"] if words == ["can"] else [*words[-1:], "not"]
    if clause.stance and clause.stance.kind == "stance-middle":
        words.append(clause.stance.english)
    if clause.frequency:
        words.append(clause.frequency.english)
    words.append(verb.main)
    words += _arguments(clause)
    if clause.predicate:
        words.append(predicate(clause.predicate))
    words += _manner_and_complement(clause)
    words += [_phrase(clause.company), _phrase(clause.place), _phrase(clause.cause)]
    return words


def _manner_and_complement(clause: Clause) -> list[str]:
    """Both in their order: "drives carefully to us", but "drives home carefully" and "waits for us again"."""
    manner, complement = clause.manner, clause.complement
    if manner is None:
        return [_phrase(complement)]
    is_close = isinstance(complement, Adverb) or (complement and not complement.preposition.english)
    words = [manner.english, _phrase(complement)]
    return words[::-1] if is_close or manner.kind == "repeat" else words


def _arguments(clause: Clause) -> list[str]:
    """What the verb takes without a preposition, with the rest of a verb of several words in its place."""
    rest = forms_of(clause.verb).rest
    if clause.is_passive:
        agent = f"by {_whole(clause.subject)}" if clause.subject else ""
        return [rest.lstrip("_* "), agent]
    value = _whole(clause.object, denied=denies_noun(clause)) if clause.object else ""
    if rest.startswith(("_ ", "* ")):
        # "picks him up", but "picks up the child": a pronoun is too light to come last.
        is_between = rest[0] == "*" or type(clause.object) is Pronoun
        words = [value, rest[2:]] if is_between else [rest[2:], value]
    else:
        words = [rest, value]
    if clause.recipient is None or type(clause.recipient) is Gap:
        return words
    recipient = _whole(clause.recipient)
    if "to" in clause.verb.facts or type(clause.object) is Gap:
        return [*words, f"to {recipient}"]
    return [recipient, *words]


def _is_progressive(clause: Clause, is_general: bool) -> bool:
    if clause.tense != "present" or "stative" in clause.verb.facts or clause.frequency:
        return False
    kind = clause.time.kind if isinstance(clause.time, Adverb) else ""
    if clause.verb.frame == "weather":
        return not is_general and (clause.time is None or kind == "now")
    return kind == "now"


def _verb_group(
    clause: Clause, agreement: EnglishAgreement, is_question: bool = False, is_general: bool = False
) -> EnglishVerbGroup:
    """The auxiliary and the rest of the verb, with `do` where a question or a negation asks for one."""
    forms, tense = forms_of(clause.verb), clause.tense
    is_past = tense in ("narrated", "spoken")
    if clause.is_passive:
        return EnglishVerbGroup(be(agreement, is_past), forms.participle)
    if clause.modal:
        return _modal_group(clause, agreement, is_question)
    if tense == "future":
        return EnglishVerbGroup("will", forms.base)
    if tense == "finished":
        return EnglishVerbGroup(
            "has" if agreement == "he" else "have", "been" if forms.base == "be" else forms.participle
        )
    if tense == "earlier":
        return EnglishVerbGroup("had", "been" if forms.base == "be" else forms.participle)
    if forms.base == "be":
        return EnglishVerbGroup(be(agreement, is_past), "")
    if _is_progressive(clause, is_general):
        return EnglishVerbGroup(be(agreement, is_past=False), forms.gerund)
    finite = forms.past if is_past else forms.third if agreement == "he" else forms.base
    return _supported(forms.base, finite, agreement, is_past, is_question or clause.is_negated)


def _supported(
    base: str, finite: str, agreement: EnglishAgreement, is_past: bool, needs_do: bool
) -> EnglishVerbGroup:
    if needs_do:
        return EnglishVerbGroup("did" if is_past else "does" if agreement == "he" else "do", base)
    return EnglishVerbGroup("", finite)


def _modal_group(clause: Clause, agreement: EnglishAgreement, is_question: bool) -> EnglishVerbGroup:
    base = forms_of(clause.verb).base
    is_past = clause.tense != "present"
    modal = clause.modal.english if clause.modal else ""
    if modal == "can":
        return EnglishVerbGroup("could" if is_past else "can", base)
    if modal in ("should", "would like to"):
        auxiliary, _, rest = modal.partition(" ")
        return EnglishVerbGroup(auxiliary, f"{rest} {base}".lstrip())
    if modal == "be allowed to":
        return EnglishVerbGroup(be(agreement, is_past), f"allowed to {base}")
    lead = modal.removesuffix(" to")
    past = {"have": "had", "want": "wanted", "like": "liked"}[lead]
    third = "has" if lead == "have" else lead + "s"
    finite = past if is_past else third if agreement == "he" else lead
    group = _supported(lead, finite, agreement, is_past, is_question or clause.is_negated)
    return EnglishVerbGroup(group.auxiliary, f"{group.main} to {base}")
