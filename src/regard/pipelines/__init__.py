"""A checkpoint and raw text in, answers out."""

from regard.pipelines.answerer import Answerer, Reply, SpanAnswer
from regard.pipelines.answers import Alternative, Candidate, PairScore, Translation
from regard.pipelines.classifier import Chooser, Classification, Classifier, Decision
from regard.pipelines.elmo import ElmoEncoder
from regard.pipelines.encoder import Encoder
from regard.pipelines.encoder_answers import Filler, Filling, TokenVectors, WordSimilarity
from regard.pipelines.figures import bits_per_byte, perplexity, word_perplexity
from regard.pipelines.generator import Generator
from regard.pipelines.load import (
    load,
    load_answerer,
    load_chooser,
    load_classifier,
    load_encoder,
    load_generator,
    load_masked,
    load_regressor,
    load_tagger,
    load_text_vectors,
    load_tokenizer,
    load_translator,
    load_word_vectors,
    read_task,
)
from regard.pipelines.masked_translator import MaskedTranslator
from regard.pipelines.regressor import Rating, Regressor
from regard.pipelines.tagger import Span, Tagger, Tagging
from regard.pipelines.text_answers import Continuation, NextToken, TextScore
from regard.pipelines.translator import Translator
from regard.pipelines.weights import WeightsCost, weights_cost
from regard.pipelines.word_vectors import Neighbour, WordVectors

__all__ = [
    "Alternative",
    "Answerer",
    "Candidate",
    "Chooser",
    "Classification",
    "Classifier",
    "Continuation",
    "Decision",
    "ElmoEncoder",
    "Encoder",
    "Filler",
    "Filling",
    "Generator",
    "MaskedTranslator",
    "Neighbour",
    "NextToken",
    "PairScore",
    "Rating",
    "Regressor",
    "Reply",
    "Span",
    "SpanAnswer",
    "Tagger",
    "Tagging",
    "TextScore",
    "TokenVectors",
    "Translation",
    "Translator",
    "WeightsCost",
    "WordSimilarity",
    "WordVectors",
    "bits_per_byte",
    "load",
    "load_answerer",
    "load_chooser",
    "load_classifier",
    "load_encoder",
    "load_generator",
    "load_masked",
    "load_regressor",
    "load_tagger",
    "load_text_vectors",
    "load_tokenizer",
    "load_translator",
    "load_word_vectors",
    "perplexity",
    "read_task",
    "weights_cost",
    "word_perplexity",
]
