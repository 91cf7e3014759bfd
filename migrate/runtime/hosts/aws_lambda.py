"""Handlers of AWS Lambda behind an API Gateway, a function URL or a load balancer."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, TypeVar

from ..mcp_stateless import Message, _dict
from .endpoint import Host as _Decorating
from .endpoint import _Call
from .exchange import Paths, _Answer, _Exchange, _is_hidden, _json, _without_length

Function = TypeVar("Function", bound=Callable[..., Any])


class Host(_Decorating):
    def aws_lambda(self, path: Paths = "") -> Callable[[Function], Function]:
        """Puts the boundary around `handler(event, context)`, for this path or for all."""
        return lambda function: self._endpoint(_LambdaCall, function, path)


class _LambdaCall(_Call):
    def __init__(self, event: Any, context: Any = None) -> None:
        self.event: Message = event if isinstance(event, dict) else {}
        context = _dict(self.event.get("requestContext"))
        http = _dict(context.get("http"))
        self.peer = str(http.get("sourceIp") or _dict(context.get("identity")).get("sourceIp") or "")
        self.verb = str(self.event.get("httpMethod") or http.get("method") or "")
        self.path = str(self.event.get("path") or self.event.get("rawPath") or "")
        several = _dict(self.event.get("multiValueHeaders"))
        self.headers = {name: ", ".join(values) for name, values in several.items()} | _dict(self.event.get("headers"))
        self.returned: Message = {}
        self.is_binary = False

    def read(self) -> bytes:
        body = str(self.event.get("body") or "")
        return base64.b64decode(body) if self.event.get("isBase64Encoded") else body.encode()

    def give(self, body: bytes) -> None:
        for name in ("headers", "multiValueHeaders"):
            if isinstance(self.event.get(name), dict):
                self.event[name] = {key: value for key, value in self.event[name].items() if not _is_hidden(key)}
        self.event |= {"body": body.decode(), "isBase64Encoded": False}

    def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        # The gateway takes a dict without a status for a body.
        known = isinstance(returned, dict) and "statusCode" in returned
        self.returned = returned if known else {"statusCode": 200, "body": json.dumps(returned)}
        body = self.returned.get("body") or ""
        text = body if isinstance(body, str) else json.dumps(body)
        raw = base64.b64decode(text) if self.returned.get("isBase64Encoded") else text.encode()
        for claim in _dict(_dict(_dict(exchange.early).get("result")).get("capabilities")).values():
            # No function is there to send changes.
            claim.pop("listChanged", None)
            claim.pop("subscribe", None)
        headers = [(str(name), str(value)) for name, value in _dict(self.returned.get("headers")).items()]
        several = _dict(self.returned.get("multiValueHeaders")).items()
        headers += [(str(name), str(value)) for name, values in several for value in values]
        status = int(self.returned["statusCode"])
        self.is_binary = bool(self.returned.get("isBase64Encoded")) and not exchange.is_open(status)
        return exchange.answer(status, headers, raw)

    def make(self, answer: _Answer) -> Message:
        body = base64.b64encode(answer.body).decode() if self.is_binary else answer.body.decode()
        made = {"statusCode": answer.status, "body": body, "isBase64Encoded": self.is_binary}
        # The gateway says how long it is.
        headers = _without_length(answer.headers)
        if self.returned.get("multiValueHeaders") is not None:
            several: dict[str, list[str]] = {}
            for name, value in headers:
                several.setdefault(name, []).append(value)
            return {**self.returned, **made, "headers": {}, "multiValueHeaders": several}
        return {**self.returned, **made, "headers": dict(headers)}

    # [streams]
    def listen(self, exchange: _Exchange) -> Message:
        error = {"code": -32601, "message": "Method not found: subscriptions/listen"}
        return self.make(_json({"jsonrpc": "2.0", "id": exchange.request.id, "error": error}, 404))

    # [/streams]
