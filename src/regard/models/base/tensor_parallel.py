"""Tables of tensor parallelism: which layers of a family several processes split among them, and how."""

from typing import Literal

Split = Literal["columns", "rows", "vocabulary", "heads"]
"""columns: each process has some of a layer's outputs; rows: some of its inputs, and outputs are summed; vocabulary:
some rows of an embedding matrix or of the output projection; heads: the biases of its attention heads, if there are
any."""

BLOCKS: dict[str, Split] = {
    "*blocks.*.attention.query_key_value": "columns",
    "*blocks.*.attention.output": "rows",
    "*blocks.*.cross.query": "columns",
    "*blocks.*.cross.key_value": "columns",
    "*blocks.*.cross.output": "rows",
    "*blocks.*.feed_forward.inner": "columns",
    "*blocks.*.feed_forward.outer": "rows",
    "*embedding.table": "vocabulary",
    "*embedding.positions": "heads",
    "head": "vocabulary",
}
"""The table of Transformers: by patterns of module names."""
