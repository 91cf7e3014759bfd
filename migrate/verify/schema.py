"""The official JSON schemas of the protocol: is a message what its method, result or error code calls for?

The schemas are those that the official SDK ships, unchanged, under the licence in `LICENSE.schema`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from referencing import Registry

from .messages import MODERN

_MOST = 3  # faults of one message that are told


class Schema:
    """The definitions of one revision, `2026-07-28` or `2025-11-25`."""

    def __init__(self, revision: str) -> None:
        self._definitions: dict[str, Any] = json.loads(files(__package__).joinpath(f"{revision}.json").read_text(encoding="utf-8"))["$defs"]
        self._validators: dict[str, Validator] = {}
        self._requests: dict[str, str] = {}
        self._errors: dict[int, str] = {}
        for name, definition in self._definitions.items():
            inner = definition.get("properties", {})
            if (method := inner.get("method", {}).get("const")) is not None:
                self._requests[method] = name
            for part in inner.get("error", {}).get("allOf", ()):
                if isinstance(code := part.get("properties", {}).get("code", {}).get("const"), int):
                    self._errors[code] = name

    def faults(self, message: Any, method: str) -> list[str]:
        """What is wrong with a message that came while this method was asked for."""
        if not isinstance(message, dict):
            return ["a message is no JSON object"]
        if "method" in message:
            return self.against(self._requests.get(str(message["method"]), "JSONRPCNotification"), message)
        if "error" in message:
            error = message["error"]
            code = error.get("code") if isinstance(error, dict) else None
            name = self._errors.get(code) if isinstance(code, int) else None
            return self.against(name or "JSONRPCErrorResponse", message)
        if "result" not in message:
            return ["a message is neither a request, nor a notification, nor an answer"]
        result = message["result"]
        name = self._requests.get(method, "").removesuffix("Request") + "Result"
        if isinstance(result, dict) and result.get("resultType") == "input_required":
            name = "InputRequiredResult"
        inner = self.against(name, result) if name in self._definitions and name != "Result" else []
        return inner or self.against("JSONRPCResultResponse", message)

    def against(self, name: str, value: Any) -> list[str]:
        """What keeps a value from being one of a definition."""
        if name not in self._validators:
            self._validators[name] = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": self._definitions})
        found = []
        try:
            for error in self._validators[name].iter_errors(value):
                deepest = jsonschema.exceptions.best_match([error]) or error
                found.append(f"{name}{deepest.json_path[1:]}: {deepest.message[:120]}")
        except RecursionError:
            found.append(f"{name}: nested too deep")
        return found[:_MOST]


@cache
def schema(revision: str = MODERN) -> Schema:
    """The definitions of a revision, read once."""
    return Schema(revision)


def conforms(value: Any, written: Any) -> str:
    """Why a value is not what a tool's own schema says; nothing where it is, or where that schema is none."""
    try:
        # With a registry of its own, a reference to another place is not fetched from there.
        jsonschema.validators.validator_for(written, jsonschema.Draft202012Validator)(written, registry=Registry()).validate(value)
    except jsonschema.ValidationError as error:
        return str(error.message)[:160]
    except jsonschema.SchemaError as error:
        return f"its schema is none: {error.message[:120]}"
    except Exception as error:  # references that lead nowhere or in a circle, patterns that are none: it is the server's schema
        return f"its schema cannot be used: {str(error)[:120]}"
    return ""


def is_schema(written: Any) -> str:
    """Why something is no JSON schema; nothing where it is one."""
    try:
        jsonschema.validators.validator_for(written, jsonschema.Draft202012Validator).check_schema(written)
    except jsonschema.SchemaError as error:
        return str(error.message)[:160]
    except Exception as error:  # what is neither an object nor a boolean, or nested too deep
        return f"it cannot be read: {str(error)[:120]}"
    return ""
