"""The schemas of what a run.json says about data: where it is, by task, and how much of it there was."""

from pydantic import Field, ValidationError, model_validator

from regard.checkpoint.facts import BesideRecord, OriginRecord
from regard.config.records import Count, Record, first_problem


class PairPlace(Record):
    """Where pairs are."""

    path: str | None = None
    source: str | None = None
    target: str | None = None
    references: list[str] = Field(default_factory=list)
    max_rows: Count | None = None


class TextPlace(Record):
    """Where text is."""

    paths: list[str]


class ExamplePlace(Record):
    """Where examples are."""

    path: str


class PairPlaces(Record):
    """Where the sets of a translator are."""

    train: PairPlace
    valid: PairPlace | None = None
    test: dict[str, PairPlace]


class TextPlaces(Record):
    """Where the sets of a language model are."""

    train: TextPlace
    valid: TextPlace | None = None
    test: dict[str, TextPlace]


class MarkedPlaces(TextPlaces):
    """Where the sets of a masked language model are."""

    sentences: str


class WordPlaces(Record):
    """Where the text of word vectors is."""

    train: TextPlace


class ExamplePlaces(Record):
    """Where the sets of a model that is fine-tuned are."""

    train: ExamplePlace
    valid: ExamplePlace | None = None
    test: dict[str, ExamplePlace]


class DataRecord(Record):
    """What is known of any run's data."""

    hash: str
    files: dict[str, str] = Field(default_factory=dict)
    init_from: OriginRecord | None = None
    extra_vectors: BesideRecord | None = None


class PairCounts(Record):
    """How many pairs were read and left out."""

    read: Count
    kept: Count
    dropped: dict[str, Count]
    carved: Count = 0


class ExampleCounts(PairCounts):
    """How many examples were read and left out, and what is odd about them."""

    labels: dict[str, Count]
    contradictory: Count
    repeated: Count = 0
    cut: Count


class TextCountsRecord(Record):
    """How much text there is."""

    documents: Count
    tokens: Count
    bytes: Count
    words: Count


class WordCountsRecord(TextCountsRecord):
    """How many words there are, and how many were forgotten."""

    words_read: Count
    forgotten_below: Count | None


def _check_sets(data: DataRecord, told_by: str, schema: type[Record]) -> None:
    """Refuse test sets whose counts are not whole; what else a run remembers has no such count."""
    for name, value in (data.model_extra or {}).items():
        if isinstance(value, dict) and told_by in value:
            try:
                schema.model_validate(value)
            except ValidationError as error:
                raise ValueError(first_problem(error, name)) from None


class PairDataRecord(DataRecord):
    """The data of a translator."""

    train: PairCounts
    valid: PairCounts


class TextDataRecord(DataRecord):
    """The data of a language model."""

    train: TextCountsRecord
    valid: TextCountsRecord
    window: Count
    folder: str

    @model_validator(mode="after")
    def _counts_every_set(self) -> "TextDataRecord":
        _check_sets(self, "documents", TextCountsRecord)
        return self


class SpelledData(TextDataRecord):
    """The data of an ELMo."""

    vocabulary: Count


class WordDataRecord(DataRecord):
    """The data of word vectors."""

    train: WordCountsRecord
    vocabulary: Count
    folder: str


class ExampleDataRecord(DataRecord):
    """The data of a model that is fine-tuned."""

    train: ExampleCounts
    valid: ExampleCounts
    texts: Count

    @model_validator(mode="after")
    def _counts_every_set(self) -> "ExampleDataRecord":
        _check_sets(self, "kept", ExampleCounts)
        return self
