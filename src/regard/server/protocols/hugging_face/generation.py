"""Text generation as Hugging Face's clients expect it: as a whole with details, or token by token."""

from collections.abc import AsyncIterator, Mapping, Sequence

from regard.decoding.search.running import ListedToken
from regard.server.errors import RequestError
from regard.server.protocols.base import data
from regard.server.protocols.hugging_face.answers import refuse_unused
from regard.server.protocols.openai.choices import SamplingPlan, TokenTexts
from regard.server.scheduling.units import Generated

Json = dict[str, object]
OPTIONS = {
    "max_new_tokens": "max_new_tokens",
    "repetition_penalty": "repetition_penalty",
    "seed": "seed",
    "stop": "stop",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "no_repeat_ngram_size": "no_repeat_ngram_size",
}
FLAGS = ("details", "do_sample", "return_full_text", "decoder_input_details", "watermark", "best_of", "top_n_tokens")
FINISH = {"eos": "eos_token", "stop": "stop_sequence", "length": "length"}


def generation_options(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the options of parameters; what has no effect here is refused in the words that clients expect."""
    unknown = [name for name in parameters if name not in OPTIONS and name not in FLAGS]
    has_no_effect = lambda name, value: value in (None, False) or (name == "best_of" and value == 1)
    unknown += [name for name in FLAGS[3:] if not has_no_effect(name, parameters.get(name))]
    refuse_unused(unknown)
    for name in FLAGS[:3]:
        if not isinstance(parameters.get(name, False), bool):
            raise RequestError(f"{name}: {parameters[name]!r} is not true or false.", name)
    options = {OPTIONS[name]: value for name, value in parameters.items() if name in OPTIONS}
    if parameters.get("do_sample") is False:
        for name in ("temperature", "top_k", "top_p", "min_p"):
            options.pop(name, None)
        return options | {"method": "sample", "temperature": 0}
    return options | {"method": "sample", "num_samples": 1}


async def whole(plan: SamplingPlan, parameters: Mapping[str, object]) -> list[Json]:
    """Return the texts that follow the prompts."""
    generated = await plan.generated()
    return [_text(plan, number, each, parameters) for number, each in enumerate(generated)]


def _text(plan: SamplingPlan, number: int, generated: Generated, parameters: Mapping[str, object]) -> Json:
    prompt = plan.prompts[number].text
    text = (prompt if parameters.get("return_full_text") else "") + generated.result.text
    if not parameters.get("details"):
        return {"generated_text": text}
    tokens = [each for each, _ in _tokens(plan, prompt, generated.tokens)]
    details = _end(generated) | {"prefill": [], "tokens": tokens, "seed": parameters.get("seed")}
    return {"generated_text": text, "details": details}


async def events(plan: SamplingPlan, parameters: Mapping[str, object]) -> AsyncIterator[bytes]:
    """Yield an event for each token; the last one has the text as a whole."""
    (prompt,) = plan.prompts
    texts = TokenTexts(plan.tokenizer, prompt.text, plan.tokenizer.encode(prompt.text).ids)
    index, held = 0, list[Json]()
    async for _, piece in plan.pieces():
        if isinstance(piece, Generated):
            text = (prompt.text if parameters.get("return_full_text") else "") + piece.result.text
            details = _end(piece) | {"input_length": len(piece.request.ids) if piece.request else 0}
            for event in held:
                yield data(event | {"generated_text": text, "details": details | {"seed": parameters.get("seed")}})
            return
        for token, _ in _listed(plan, texts, piece.tokens):
            for event in held:
                yield data(event)
            index += 1
            held = [{"index": index, "token": token, "generated_text": None, "details": None}]


def _tokens(plan: SamplingPlan, prompt: str, tokens: Sequence[ListedToken]) -> list[tuple[Json, str]]:
    return _listed(plan, TokenTexts(plan.tokenizer, prompt, plan.tokenizer.encode(prompt).ids), tokens)


def _listed(plan: SamplingPlan, texts: TokenTexts, tokens: Sequence[ListedToken]) -> list[tuple[Json, str]]:
    listed: list[tuple[Json, str]] = []
    for token in tokens:
        own, _ = texts.add(token)
        is_special = token.id == plan.tokenizer.eos_id
        entry: Json = {"id": token.id, "text": own, "logprob": token.log_probability, "special": is_special}
        listed.append((entry, own))
    return listed


def _end(generated: Generated) -> Json:
    (hypothesis,) = generated.hypotheses
    return {
        "finish_reason": FINISH[hypothesis.finish_reason],
        "generated_tokens": len(hypothesis.token_log_probabilities),
    }
