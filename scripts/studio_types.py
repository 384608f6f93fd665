"""TypeScript types of the studio's messages, from their pydantic models; `python scripts/studio_types.py` writes.

A test compares the file with what this makes.
"""

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from regard.studio.calls import CALLS
from regard.studio.messages import StudioMessage
from regard.studio.views.generation import GenerationEvent, GenerationRequest

FILE = Path(__file__).parents[1] / "web" / "src" / "messages.ts"
HEADER = "// Made of the server's messages by scripts/studio_types.py; change those.\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def type_of(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(each) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        inner = type_of(schema["items"])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties", {})
        return f"Record<string, {type_of(values)}>"
    return PLAIN[str(schema["type"])]


def interface(name: str, schema: dict[str, Any], is_request: bool) -> str:
    """Return an interface; of a request, fields with a default may be left out."""
    lines = [f"/** {schema['description'].splitlines()[0]} */"] if "description" in schema else []
    lines.append(f"export interface {name} {{")
    required = set(schema.get("required", ()))
    for field, value in schema.get("properties", {}).items():
        mark = "?" if is_request and field not in required else ""
        lines.append(f"  {field}{mark}: {type_of(value)};")
    return "\n".join([*lines, "}"])


def typescript() -> str:
    """Return the contents of messages.ts."""
    requests: list[type[StudioMessage]] = [*(call.request for call in CALLS), GenerationRequest]
    responses: list[type[StudioMessage]] = [*(call.response for call in CALLS), GenerationEvent]
    models = list(dict.fromkeys([*requests, *responses]))
    _, schema = models_json_schema([(each, "validation") for each in models])
    definitions = schema["$defs"]
    inputs = {each.__name__ for each in requests} | {"EditMessage"}
    parts = [interface(name, definitions[name], name in inputs) for name in sorted(definitions)]
    calls = [f'  "{call.name}": [{call.request.__name__}, {call.response.__name__}];' for call in CALLS]
    parts.append("\n".join(["/** Request and response of each call. */", "export interface Calls {", *calls, "}"]))
    return HEADER + "\n" + "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(typescript(), encoding="utf-8")
    print(f"{FILE}: {len(CALLS)} calls")
