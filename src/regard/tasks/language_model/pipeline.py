"""The pipeline of a language model: prompts are continued, texts scored and inspected."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.feeds.chats import rendered_prompt
from regard.data.sources.chats import messages_column
from regard.data.sources.tables import read_rows
from regard.decoding.session import GenerationJob
from regard.decoding.settings import TextDecoding
from regard.decoding.steppers.decoder_only import window_start
from regard.decoding.steppers.interface import Hypothesis, Request, SpecialTokens
from regard.errors import ConfigError, DataError
from regard.inspection.logit_lens import record_lens
from regard.inspection.record import record_text
from regard.nn.probes.trace import Trace
from regard.pipelines.generation import GeneratingPipeline, decoding_options, decoding_part
from regard.pipelines.inputs import SingleText, as_row, check_text, split_rows
from regard.pipelines.text_tables import TextTable
from regard.progress import SILENT, Progress
from regard.tasks.language_model.options import PromptRow, TextOptions
from regard.tasks.language_model.quantization import WeightsCost, use_quantized
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.language_model.results import Completion, NextToken
from regard.tasks.language_model.scoring import TextScorer
from regard.text.chat_template import ChatTemplate, Message, as_messages
from regard.text.detokenizer import first_stop
from regard.text.prefix import forced_prefixes
from regard.text.tokenizer import Tokenizer


class ChatPrompt(str):
    """The text of a rendered conversation, with its ids: in them no message holds a special token."""

    ids: list[int]

    def __new__(cls, text: str, ids: list[int]) -> "ChatPrompt":
        prompt = super().__new__(cls, text)
        prompt.ids = ids
        return prompt


BATCH_TOKENS = {"cpu": 16384, "cuda": 65536}
"""Tokens of a batch, prompts and new tokens together."""


class Generator(GeneratingPipeline[PromptRow, TextOptions, Completion]):
    """A language model with its tokenizer and its generation defaults."""

    row = PromptRow
    inputs = ("prompt",)
    options_class = TextOptions

    def __init__(self, bundle: Bundle, quantize: str = "none") -> None:
        super().__init__(bundle)
        self.quantize = quantize
        use_quantized(self.model, quantize)
        self.tokenizer: Tokenizer = bundle.tokenizers["tokenizer"]
        self.batch_tokens = BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    @property
    def defaults(self) -> Mapping[str, object]:
        """The checkpoint's generation settings."""
        return LanguageFacts.read(self.bundle).generate

    def options(self, given: TextOptions | None = None, /, **overrides: object) -> TextOptions:
        """Return the options of a call: the checkpoint's, then those given, then those by name."""
        return decoding_options(TextOptions, self.defaults, given, overrides)

    @property
    def chat_template(self) -> ChatTemplate | None:
        """The template of conversations; None: the model was trained on running text."""
        source = LanguageFacts.read(self.bundle).chat_template
        return None if source is None else ChatTemplate(source)

    @property
    def has_chat_template(self) -> bool:
        """True if the model was trained on conversations."""
        return LanguageFacts.read(self.bundle).chat_template is not None

    def chat_prompt(self, messages: object, where: str = "messages") -> ChatPrompt:
        """Return the prompt of the next answer in a conversation: a text with its ids."""
        template = self.chat_template
        if template is None:
            raise ConfigError(
                f"{where}: this model has no chat template; train it on prompts with completions, or give it a text."
            )
        given = as_messages(messages, where)
        return ChatPrompt(*rendered_prompt(template, given, self.tokenizer))

    def chat(self, messages: object, options: TextOptions | None = None, **overrides: object) -> Completion:
        """Return the answer to a conversation: messages with role and content, the last one not the assistant's."""
        answer: Completion = self(self.chat_prompt(messages), options=options, **overrides)  # type: ignore[call-overload]
        return answer

    def read_table(
        self, path: str, columns: Mapping[str, str | int], progress: Progress
    ) -> tuple[TextTable, list[PromptRow | None]]:
        """Return a table and its prompts; lists of messages are conversations, None an empty row."""
        if Path(path.removesuffix(".gz")).suffix.lower() not in (".csv", ".tsv"):
            table = read_rows(path, None, "train", bool)
            if (column := messages_column(table, columns.get("prompt"))) is not None:
                progress.info(f'{path}: the messages are in column "{column}".')
                return self._conversations(TextTable.of(table), column)
        return super().read_table(path, columns, progress)

    def _conversations(self, table: TextTable, column: str) -> tuple[TextTable, list[PromptRow | None]]:
        rows: list[PromptRow | None] = []
        for row, where in zip(table.rows, table.where, strict=True):
            value = row.get(column)
            if isinstance(value, str):
                value = [Message("user", value)] if value.strip() else None
            rows.append(None if value is None else PromptRow(self.chat_prompt(value, where)))
        return table, rows

    def job(self, options: TextOptions) -> GenerationJob:
        """Return the model, settings, context window and tokenizer."""
        tokenizer = self.tokenizer
        # One token may do several works; EOS is generated all the same.
        never = {tokenizer.pad_id, tokenizer.bos_id, tokenizer.unk_id} - {tokenizer.eos_id}
        ends = SpecialTokens(tokenizer.bos_id, tokenizer.eos_id, tuple(sorted(never)))
        return GenerationJob(
            self.models, ends, decoding_part(TextDecoding, options), self._window(options), tokenizer
        )

    def _window(self, options: TextOptions) -> int | None:
        """Return the context window in tokens."""
        bound, wanted = self.model.max_positions, options.context_window
        if wanted is None:
            return None if bound is None else int(bound)
        if wanted == "trained":
            wanted = LanguageFacts.read(self.bundle).window
            if wanted is None:
                raise ConfigError(
                    'context_window: "trained" has no value in this checkpoint; give a number, or leave it out.'
                )
        if bound is not None and wanted > bound:
            raise ConfigError(f"context_window: {wanted:,} is more than the {bound:,} tokens this model takes.")
        return int(wanted)

    def requests(
        self, rows: Sequence[PromptRow], options: TextOptions, numbers: Sequence[int], where: Sequence[str]
    ) -> list[Request | None]:
        """Return the request of each prompt, which may be empty."""
        for row, origin in zip(rows, where, strict=True):
            check_text(row.prompt, origin, may_be_blank=True)
        if options.chat:
            rows = [self._asked(row, origin) for row, origin in zip(rows, where, strict=True)]
        encoded = self.tokenizer.encode_batch([row.prompt for row in rows])
        texts = [options.prefix if row.prefix is None else row.prefix for row in rows]
        prefixes = forced_prefixes(self.tokenizer, texts, options.max_new_tokens)
        made: list[Request | None] = []
        for row, ids, number, prefix in zip(rows, encoded, numbers, prefixes, strict=True):
            front = [self.tokenizer.eos_id] if options.add_bos or not ids else []
            if isinstance(row.prompt, ChatPrompt):
                front, ids = [], row.prompt.ids
            made.append(Request([*front, *ids], options.max_new_tokens, number, prefix, row.prompt))
        return made

    def _asked(self, row: PromptRow, where: str) -> PromptRow:
        """Return a row whose prompt is the message of a user; one that is a conversation already is kept."""
        if isinstance(row.prompt, ChatPrompt):
            return row
        return replace(row, prompt=self.chat_prompt([Message("user", row.prompt)], where))

    def sizes(self, job: GenerationJob, request: Request) -> tuple[int, int]:
        """Return the tokens of a prompt within the context window, and those that may follow."""
        return len(request.ids) - window_start(len(request.ids), job.window), request.limit

    def results(
        self,
        rows: Sequence[PromptRow],
        options: TextOptions,
        job: GenerationJob,
        requests: Sequence[Request | None],
        hypotheses: Sequence[Sequence[Hypothesis]],
    ) -> list[Completion]:
        """Return the first continuation of each prompt, with all of them where there are several."""
        count = options.num_samples if options.n_best is None else options.n_best
        results = []
        for row, request, outputs in zip(rows, requests, hypotheses, strict=True):
            assert request is not None, "every prompt has one"
            samples = tuple(self._completion(row, job, request, each, options.stop) for each in outputs[:count])
            results.append(samples[0] if len(samples) == 1 else replace(samples[0], samples=samples))
        return results

    def _completion(
        self, row: PromptRow, job: GenerationJob, request: Request, output: Hypothesis, stops: Sequence[str]
    ) -> Completion:
        ids = (*output.ids, self.tokenizer.eos_id) if output.finish_reason == "eos" else tuple(output.ids)
        tokens, values = tuple(self.tokenizer.tokens(ids)), tuple(output.token_log_probabilities)
        text = job.text_of(request, output.ids)
        return Completion(row, text[: first_stop(text, stops)], tokens, ids, values, output.finish_reason)

    @property
    def score(self) -> TextScorer:
        """The pipeline that returns the log probability of each token of given texts: `generator.score([text])`."""
        return TextScorer(self)

    def weights_cost(self, texts: Sequence[str | Sequence[int]], progress: Progress = SILENT) -> WeightsCost:
        """Return the increase in perplexity due to quantized weights on texts, or on their ids."""
        return self.score.weights_cost(texts, progress)

    def next_tokens(self, text: str, count: int = 5) -> list[tuple[NextToken, ...]]:
        """Return the most probable next tokens at every position of a text: before each token, and after the last."""
        return list(self.score(text, alternatives=count, score_eos=True).alternatives)

    def inspect(self, *inputs: object, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Record the activations of a forward pass over EOS and a text."""
        given = split_rows(inputs)[0][0]
        if isinstance(given, tuple) and len(given) > 1:
            raise ConfigError("A language model takes one text; leave out the second.")
        text = as_row(SingleText, ("text",), given, "inspect").text
        row, tokens = self._row("inspect", text)
        return record_text(self.model, row, tokens, probes)

    def logit_lens(self, text: str, count: int = 5) -> Trace:
        """Record each block's next-token prediction at every position (logit lens, see `inspection.record_lens`)."""
        row, tokens = self._row("logit_lens", text)
        return record_lens(self.model, row, tokens, self.tokenizer.tokens, count)

    def _row(self, name: str, text: str) -> tuple[torch.Tensor, dict[str, list[str]]]:
        """Return EOS and a text as ids (T,), and as tokens."""
        check_text(text, name, may_be_blank=True)
        ids = [self.tokenizer.eos_id, *self.tokenizer.encode(text).ids]
        bound = self.model.max_positions
        if bound is not None and len(ids) > bound:
            raise DataError(
                f"{name}: the text has {len(ids):,} tokens including EOS before it, but this model takes "
                f"{bound:,} at most; shorten it."
            )
        return torch.tensor(ids, device=self.device), {"text": self.tokenizer.tokens(ids)}
