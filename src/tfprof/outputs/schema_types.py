"""The building blocks of JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}


def object_of(
    properties: Mapping[str, Schema], *, optional: frozenset[str] = frozenset()
) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


def map_of(values: Schema, description: str) -> Schema:
    return {"type": "object", "additionalProperties": values, "description": description}


def list_of(items: Schema, description: str = "") -> Schema:
    found: Schema = {"type": "array", "items": items}
    return found | {"description": description} if description else found


def described(schema: Schema, description: str) -> Schema:
    return schema | {"description": description}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
