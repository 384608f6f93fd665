"""The sides of decode_speed.py: one model in three libraries, each a function from texts to texts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RATIO, EXTRA = 2, 16
"""The longest output: so many tokens for each of the source, and so many more."""


@dataclass(frozen=True)
class Job:
    """The job of all sides; the model stands in three folders."""

    run: str
    hugging_face: str
    ctranslate2: str
    device: str
    threads: int
    beam_size: int


@dataclass(frozen=True)
class Outputs:
    """Translations and how many tokens they have, the end not counted."""

    texts: list[str]
    tokens: int


Translate = Callable[[list[str]], Outputs]


def regard_side(job: Job) -> Translate:
    """Return a function that translates with regard."""
    import regard

    translator = regard.load(job.run, job.device)
    decoding = {"beam_size": job.beam_size, "length_penalty": "average", "length_penalty_alpha": 1.0}
    decoding |= {"max_length_ratio": RATIO, "max_length_extra": EXTRA}

    def translate(texts: list[str]) -> Outputs:
        found = translator(texts, **decoding)
        return Outputs([each.text for each in found], sum(len(each.tokens) for each in found))

    return translate


def limit(ids: list[list[int]]) -> int:
    """Return the longest output, its end token included, for the longest of these sources."""
    return RATIO * max(map(len, ids)) + EXTRA


def generate_side(job: Job) -> Translate:
    """Return a function that translates with generate()."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    reader, writer = tokenizers(job.hugging_face)
    model = AutoModelForSeq2SeqLM.from_pretrained(job.hugging_face).to(job.device).eval()
    # Tokens a trained model never says need not be forbidden: the peer is spared that work.
    model.generation_config.suppress_tokens = None
    model.generation_config.renormalize_logits = False

    @torch.inference_mode()
    def translate(texts: list[str]) -> Outputs:
        batch = reader(texts, return_tensors="pt", padding=True).to(job.device)
        longest = limit(batch["input_ids"].tolist())
        found = model.generate(
            **batch, num_beams=job.beam_size, length_penalty=1.0, early_stopping=False, max_length=longest + 1
        ).tolist()
        hidden = {writer.pad_token_id, writer.bos_token_id, writer.eos_token_id}
        kept = [[number for number in row if number not in hidden] for row in found]
        return Outputs(writer.batch_decode(kept, skip_special_tokens=True), sum(map(len, kept)))

    return translate


def ctranslate2_side(job: Job) -> Translate:
    """Return a function that translates with CTranslate2."""
    import ctranslate2

    reader, writer = tokenizers(job.hugging_face)
    translator = ctranslate2.Translator(
        job.ctranslate2, device=job.device.partition(":")[0], compute_type="float32", intra_threads=job.threads
    )

    def translate(texts: list[str]) -> Outputs:
        ids = reader(texts)["input_ids"]
        found = translator.translate_batch(
            [reader.convert_ids_to_tokens(row) for row in ids],
            beam_size=job.beam_size,
            length_penalty=1.0,
            max_decoding_length=limit(ids),
            max_input_length=0,
        )
        rows = [writer.convert_tokens_to_ids(each.hypotheses[0]) for each in found]
        return Outputs(writer.batch_decode(rows, skip_special_tokens=True), sum(map(len, rows)))

    return translate


BUILDERS = {"regard": regard_side, "generate()": generate_side, "ctranslate2": ctranslate2_side}


def tokenizers(folder: str) -> tuple:
    """Return the tokenizers of source and target of an exported folder, which may be one and the same."""
    from transformers import AutoTokenizer

    reader = AutoTokenizer.from_pretrained(folder)
    target = Path(folder) / "target_tokenizer"
    return reader, AutoTokenizer.from_pretrained(target) if target.is_dir() else reader


def convert(folder: Path, out: Path) -> None:
    """Write an exported folder for CTranslate2.

    Its own Marian converter takes the last token for <pad> and starts from a zero vector, as Marian's own models
    do; those written by regard start with <s>, so the converter of BART gets the positions of the norms instead.
    """
    from ctranslate2.converters.transformers import BartLoader
    from transformers import AutoModelForSeq2SeqLM

    reader, writer = tokenizers(str(folder))

    class Loader(BartLoader):
        def get_model_spec(self, model):
            model.config.normalize_before = model.config.model_type != "marian"
            model.config.normalize_embedding = False
            return super().get_model_spec(model)

        def set_vocabulary(self, spec, tokens):
            spec.register_source_vocabulary(self.get_vocabulary(theirs, reader))
            spec.register_target_vocabulary(sorted(writer.get_vocab(), key=writer.get_vocab().get))

    theirs = AutoModelForSeq2SeqLM.from_pretrained(folder)
    spec = Loader()(theirs, writer)
    spec.validate()
    spec.optimize()
    out.mkdir()
    spec.save(str(out))
