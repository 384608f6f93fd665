"""Schemas of the JSON files in a Hugging Face folder: the keys that are read; others are ignored."""

from typing import Annotated, Any, Literal

from pydantic import Field

from regard.config.names import RelativePath
from regard.config.records import Record
from regard.interop.huggingface.fields import (
    LARGEST_SIZE,
    Column,
    Epsilon,
    Id,
    Ids,
    Inside,
    Labels,
    Length,
    Number,
    Rate,
    Share,
    Size,
    Token,
    Vocabulary,
)
from regard.text.tokenizer import LARGEST_ID


class WeightIndex(Record):
    """model.safetensors.index.json: the file of each tensor."""

    weight_map: dict[str, RelativePath]


class Config(Record):
    """config.json of any model."""

    model_type: str | None = None
    architectures: list[str] | None = None
    tie_word_embeddings: bool | None = None
    eos_token_id: Ids = None


class Generation(Record):
    """generation_config.json."""

    num_beams: Annotated[int, Field(ge=1, le=256)] | None = None
    num_return_sequences: Annotated[int, Field(ge=1, le=256)] | None = None
    length_penalty: Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)] | None = None
    do_sample: bool | None = None
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    top_k: Annotated[int, Field(ge=0, le=LARGEST_ID)] | None = None
    top_p: Share | None = None
    min_p: Share | None = None
    max_new_tokens: Size | None = None
    min_new_tokens: Annotated[int, Field(ge=0, le=LARGEST_SIZE)] | None = None
    no_repeat_ngram_size: Annotated[int, Field(ge=0, le=LARGEST_SIZE)] | None = None


class TranslatorConfig(Config, Generation):
    """config.json of an encoder-decoder; older ones have the keys of generation_config.json, too."""

    d_model: Size | None = None
    encoder_layers: Size | None = None
    decoder_layers: Size | None = None
    encoder_attention_heads: Size | None = None
    decoder_attention_heads: Size | None = None
    encoder_ffn_dim: Size | None = None
    decoder_ffn_dim: Size | None = None
    max_position_embeddings: Size | None = None
    dropout: Rate | None = None
    attention_dropout: Rate | None = None
    activation_dropout: Rate | None = None
    scale_embedding: bool | None = None
    activation_function: str | None = None
    share_encoder_decoder_embeddings: bool | None = None
    decoder_start_token_id: Ids = None


class GptConfig(Config):
    """config.json of the first GPTs."""

    n_embd: Size | None = None
    n_layer: Size | None = None
    n_head: Size | None = None
    n_inner: Size | None = None
    n_positions: Size | None = None
    resid_pdrop: Rate | None = None
    embd_pdrop: Rate | None = None
    attn_pdrop: Rate | None = None
    layer_norm_epsilon: Epsilon | None = None
    activation_function: str | None = None
    afn: str | None = None


class LlamaConfig(Config):
    """config.json of a Llama."""

    hidden_size: Size | None = None
    num_hidden_layers: Size | None = None
    num_attention_heads: Size | None = None
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    intermediate_size: Size | None = None
    max_position_embeddings: Size | None = None
    attention_dropout: Rate | None = None
    rms_norm_eps: Epsilon | None = None
    hidden_act: str | None = None
    rope_parameters: dict[str, Any] | None = None


class BertConfig(Config):
    """config.json of a BERT, with or without the head of a task."""

    hidden_size: Size | None = None
    num_hidden_layers: Size | None = None
    num_attention_heads: Size | None = None
    intermediate_size: Size | None = None
    max_position_embeddings: Length | None = None
    type_vocab_size: Size | None = None
    hidden_dropout_prob: Rate | None = None
    attention_probs_dropout_prob: Rate | None = None
    classifier_dropout: Rate | None = None
    layer_norm_eps: Epsilon | None = None
    hidden_act: str | None = None
    problem_type: str | None = None
    num_labels: Annotated[int, Field(ge=1, le=2**20)] | None = None
    id2label: Labels = None


CONFIGS: dict[str, type[Config]] = {
    **dict.fromkeys(("marian", "pegasus", "blenderbot"), TranslatorConfig),
    **dict.fromkeys(("gpt2", "openai-gpt"), GptConfig),
    "llama": LlamaConfig,
    "bert": BertConfig,
}
"""Schemas of config.json by model_type."""


class Module(Record):
    """An entry of modules.json of `sentence-transformers`."""

    type: str = ""
    path: Inside = ""


class Pooling(Record):
    """1_Pooling/config.json of `sentence-transformers`; its switches are among the other keys."""

    pooling_mode: str | None = None


class SentenceLength(Record):
    """sentence_bert_config.json of `sentence-transformers`."""

    max_seq_length: Length | None = None


class TokenizerConfig(Record):
    """tokenizer_config.json."""

    tokenizer_class: str | None = None
    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool | None = None
    add_prefix_space: bool | None = None
    pad_token: Token = None
    unk_token: Token = None
    cls_token: Token = None
    sep_token: Token = None
    mask_token: Token = None


class ChatConfig(Record):
    """The parts of a language model's tokenizer_config.json that conversations need."""

    chat_template: str | list[object] | dict[str, object] | None = None
    eos_token: str | dict[str, object] | None = None


class AddedToken(Record):
    """An added token of tokenizer.json."""

    id: Id
    content: str


class HubTokens(Record):
    """The model of a tokenizer.json."""

    vocab: Vocabulary
    unk_token: str | None = None


class Around(Record):
    """A special token in a template."""

    id: str


class HubToken(Record):
    """An element of a template: a sequence or a special token."""

    SpecialToken: Around | None = None


class Processor(Record):
    """A post-processor, which adds special tokens to a text."""

    single: list[HubToken] = Field(default_factory=list)
    processors: list["Processor"] = Field(default_factory=list)


class TokenizerFile(Record):
    """tokenizer.json."""

    added_tokens: list[AddedToken]
    model: HubTokens
    normalizer: dict[str, Any] | None = None
    post_processor: Processor | None = None


class Embed(Record):
    """Defaults of text embeddings."""

    pooling: str = "mean"
    is_normalized: bool = False
    max_length: Length = LARGEST_SIZE


class HubColumns(Record):
    """Columns of the training table, by the names of their settings."""

    text_column: Column = ""
    second_column: Column = ""
    label_column: Column = ""
    label_separator: Column = ""
    context_column: Column = ""
    choices_column: Column = ""
    word_column: Column = ""
    sentence_column: Column = ""
    choice_columns: list[str] = Field(default_factory=list)


class Own(Record):
    """regard.json: facts of a task that config.json cannot hold."""

    length: Length | None = None
    max_length: Length | None = None
    embed: Embed | None = None
    texts: Annotated[int, Field(ge=1, le=2)] | None = None
    pair_encoding: Literal["cross-encoder", "both-orders", "bi-encoder"] | None = None
    columns: HubColumns | None = None
    stride: Size | None = None
    max_answer_tokens: Size | None = None
    has_unanswerable: bool | None = None
    threshold: Number | None = None
