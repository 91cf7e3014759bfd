"""Flask."""

from __future__ import annotations

import sys
from typing import Any

import core
from flask import Flask, jsonify, request

app = Flask(__name__)
app.wsgi_app = core.MODERN.wsgi(core.DUAL.wsgi(app.wsgi_app, "/dual"), "/modern")


@app.post("/<path>")
def endpoint(path: str) -> Any:
    message = request.get_json()
    if request.headers.get("Authorization") == "Bearer wrong":
        return "", 401, {"WWW-Authenticate": "Bearer"}
    if status := core.refusal(message, request.headers.get("Mcp-Session-Id"), f"/{path}"):
        return jsonify({"error": "session"}), status
    reply = core.reply(message, f"/{path}")
    return ("", 202) if reply is None else (jsonify(reply), 200, core.opened(message))


app.run(host="127.0.0.1", port=int(sys.argv[1]))
