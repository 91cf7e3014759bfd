"""Flask: views of blueprints that know nothing of their application."""

from __future__ import annotations

import sys
from typing import Any

import core
from flask import Blueprint, Flask, abort, jsonify, request
from flask.views import MethodView

outer, inner = Blueprint("outer", __name__), Blueprint("inner", __name__)


def answer(path: str) -> Any:
    message = request.get_json()
    if request.headers.get("Authorization") == "Bearer wrong":
        return "", 401, {"WWW-Authenticate": "Bearer"}
    if status := core.refusal(message, request.headers.get("Mcp-Session-Id"), path):
        abort(status)
    reply = core.reply(message, path)
    return ("", 202) if reply is None else (jsonify(reply), 200, core.opened(message))


@inner.route("/plain", methods=["POST"])
def plain() -> Any:
    return answer("/plain")


@inner.route("/dual", methods=["POST", "GET", "DELETE"])
@core.DUAL.flask
def dual() -> Any:
    return abort(405) if request.method != "POST" else answer("/dual")


@inner.route("/plain", methods=["GET", "DELETE"])
def plain_stream() -> Any:
    abort(405)


class Modern(MethodView):
    @core.MODERN.flask
    def post(self) -> Any:
        return answer("/modern")

    @core.MODERN.flask
    def get(self) -> Any:
        abort(405)

    delete = get


inner.add_url_rule("/modern", view_func=Modern.as_view("modern"))
outer.register_blueprint(inner)
app = Flask(__name__)
app.register_blueprint(outer)
app.run(host="127.0.0.1", port=int(sys.argv[1]))
