"""Clauses within clauses, drawn at random to an exact depth."""

from dataclasses import replace
from typing import Final, Literal

from regard.miniature.lexicon import Frame, lexicon
from regard.miniature.meaning import Circumstance, Clause, Content, Tense
from regard.miniature.sampling.choices import Draw, RandomChoice, among, verbs_with
from regard.miniature.sampling.clauses import simple_clause
from regard.miniature.sampling.links import LINKS, LINKS_FROM, check
from regard.miniature.sampling.phrases import LIGHT
from regard.miniature.sampling.reference import mentioned, same_subject
from regard.miniature.sampling.relatives import with_relative
from regard.miniature.sampling.roles import DEEDS, FRAMES
from regard.miniature.sampling.setting import (
    SPEAKERS,
    Parts,
    Period,
    Setting,
    Unsayable,
    actor_of,
    choose_verb,
    period_of,
)

Shape = Literal["content", "circumstance", "relative"]
_WORDS = lexicon()
_CONJUNCTIONS = _WORDS.conjunctions
_SHAPES: Final[dict[str, RandomChoice[Shape]]] = {
    "main": RandomChoice({"circumstance": 40, "content": 27, "relative": 33}),
    "subordinate": RandomChoice({"circumstance": 22, "content": 33, "relative": 45}),
    # A circumstance inside a relative clause could be taken for one of the clause around it.
    "relative": RandomChoice({"content": 35, "relative": 65}),
}
_QUESTIONS: Final = among(_CONJUNCTIONS[word] for word in ("warum", "wo", "wann"))
_ATTEMPTS: Final = 4
_PLACED: Final = among(v for v in _WORDS.verbs if "place" in v.facts and v.frame in ("alone", "object"))
_ABLE: Final[RandomChoice[Frame]] = RandomChoice({"alone": 3, "object": 6, "motion": 2, "about": 1})
_DURATIVE: Final = among(verb for verb in _WORDS.verbs if "durative" in verb.facts and verb.frame != "about")


def nested(draw: Draw, parts: Parts, setting: Setting, depth: int) -> Clause:
    """A clause with exactly so many levels of clauses inside it; its parts are added to those given."""
    # What fails is drawn again here, so that the clauses around it need not be.
    for _ in range(_ATTEMPTS):
        attempt = dict(parts)
        try:
            clause = _nested(draw, attempt, setting, depth)
        except Unsayable:
            continue
        parts.update(attempt)
        return clause
    raise Unsayable("nothing that fits here was found")


def _nested(draw: Draw, parts: Parts, setting: Setting, depth: int) -> Clause:
    if depth == 0:
        if "verb" not in parts:
            actor = actor_of(parts.get("subject"), setting.head)
            parts["verb"] = choose_verb(draw, FRAMES if actor is None else DEEDS, actor)
        return simple_clause(draw, parts, setting)
    shape = _SHAPES["main" if setting.is_main else "relative" if setting.head else "subordinate"](draw)
    if shape == "content":
        return _with_content(draw, parts, setting, depth)
    if shape == "circumstance":
        return _with_circumstance(draw, parts, setting, depth)
    return with_relative(draw, parts, setting, depth, nested)


def _inner(outer: Setting, tense: Tense | Literal["past"]) -> Setting:
    return Setting(tense=tense, fullness=LIGHT, richness=0.45, persons=SPEAKERS, around=outer.around)


def _with_content(draw: Draw, parts: Parts, setting: Setting, depth: int) -> Clause:
    """Somebody says, knows or asks something."""
    actor = actor_of(parts.get("subject"), setting.head) or _WORDS.nouns["Mann"]
    choice = verbs_with(actor, "subject", "content")
    if choice is None:
        raise Unsayable("only persons speak and think")
    verb = parts["verb"] = choice(draw)
    clause = simple_clause(draw, parts, setting._replace(richness=0.4))
    is_hope = "hope" in verb.contents
    inner = _inner(setting, _reported_tense(draw, clause.tense, is_hope))._replace(has_modals=not is_hope)
    asks = "w" in verb.contents and ("dass" not in verb.contents or draw() < 0.4)
    if asks and verb.german in ("fragen", "wissen") and (depth > 1 or draw() < 0.5):
        inner_clause = _about_same(draw, clause, inner._replace(negation=0.0), depth - 1)
        content = Content(_CONJUNCTIONS["ob"], inner_clause)
    elif asks and depth == 1:
        content = _embedded_question(draw, clause, inner)
    elif asks and "dass" not in verb.contents:
        raise Unsayable("what is asked here holds no clauses")
    else:
        content = Content(_CONJUNCTIONS["dass"], _about_same(draw, clause, inner, depth - 1))
    if content.clause.verb.german == verb.german:
        raise Unsayable("the same twice over")
    if "outward" in verb.facts and content.clause.subject == clause.subject:
        raise Unsayable("one sees and hears of others")
    return Clause(**parts, content=content)


def _reported_tense(draw: Draw, outer: Tense, is_hope: bool) -> Period:
    """The tense of what is said or known: of the past, only the past."""
    if period_of(outer) == "past":
        return "past"
    value = draw()
    if outer in ("future", "finished") or value < 0.5:
        return "present"
    return "future" if is_hope or value > 0.8 else "past"


def _embedded_question(draw: Draw, outer: Clause, inner: Setting) -> Content:
    """Where, when or why something happens; the clause itself must not say it."""
    conjunction = _QUESTIONS(draw)
    word = conjunction.german
    parts: Parts = {"verb": _PLACED(draw)} if word == "wo" else {}
    clause = _about_same(draw, outer, inner._replace(negation=0.1 if word == "warum" else 0.0), 0, parts)
    if clause.verb.frame in ("copula", "exist", "weather") and word != "warum":
        raise Unsayable("states are not asked for by their time and place")
    if word == "wo":
        return Content(conjunction, replace(clause, place=None))
    if word == "wann":
        return Content(conjunction, replace(clause, time=None, frequency=None))
    return Content(conjunction, replace(clause, cause=None))


def _about_same(draw: Draw, outer: Clause, setting: Setting, depth: int, parts: Parts | None = None) -> Clause:
    """A clause whose subject is, now and then, the subject of the clause around it."""
    parts = parts or {}
    setting = setting._replace(around=(*setting.around, *mentioned(outer)))
    if draw() < 0.4 and "outward" not in outer.verb.facts and (pronoun := same_subject(outer, setting.around)):
        verb = parts.get("verb")
        if verb is None or actor_of(pronoun, None) in verb.subjects:
            parts["subject"] = pronoun
    return nested(draw, parts, setting, depth)


def _with_circumstance(draw: Draw, parts: Parts, setting: Setting, depth: int) -> Clause:
    """Something happens because, when, although ... something else does."""
    if setting.tense == "earlier":
        raise Unsayable("no conjunction goes with this tense")
    link = LINKS(draw) if setting.is_main else LINKS_FROM[period_of(setting.tense)](draw)
    word = link.conjunction
    is_first = setting.is_main and word not in ("bis", "damit") and draw() < 0.4
    if setting.is_main:
        setting = setting._replace(tense=link.outer)
    setting = setting._replace(has_time=setting.has_time and word in ("weil", "obwohl"))
    inner = _inner(setting, link.inner)._replace(has_time=False)
    if word not in ("weil", "obwohl", "falls"):
        inner = inner._replace(negation=0.0, has_modals=word == "wenn")
    inner_parts: Parts = {}
    if word == "damit":
        inner_parts = {"modal": _WORDS.modals["können"], "verb": choose_verb(draw, _ABLE, None)}
    if is_first:
        clause = nested(draw, inner_parts, inner, depth - 1)
        if draw() < 0.5 and (pronoun := same_subject(clause, ())):
            parts["subject"] = pronoun
        outer = nested(draw, parts, setting._replace(is_main=False, persons=SPEAKERS), 0)
    else:
        if word == "bis" and "subject" not in parts:
            parts["verb"] = _DURATIVE(draw)
        outer = nested(draw, parts, setting._replace(richness=0.6), 0)
        clause = _about_same(draw, outer, inner, depth - 1, inner_parts)
    check(link, outer, clause)
    return Clause(**parts, circumstance=Circumstance(_CONJUNCTIONS[word], clause, is_first))
