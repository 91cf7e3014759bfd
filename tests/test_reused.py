"""The name of a message that is used again."""

from __future__ import annotations

import pytest
from mcp_migrate.facts.code import Code
from mcp_migrate.facts.reused import is_reused
from modules import Files, place

READ = "def handle(msg):\n    method, rid = msg['method'], msg.get('id')\n"
REST = "\ndef error(rid, text):\n    return {'id': rid, 'text': text}\n\ndef read(msg):\n    return msg['method']\n"


def reused(text: str) -> bool:
    code = Code(Files({"server": READ + text + REST}))
    return is_reused(code, place(code, "handle"), "msg")


@pytest.mark.parametrize(
    "text",
    [
        "    try:\n        run(method)\n    except OSError as problem:\n        code, msg = explain(problem)\n        return {'text': msg}\n",
        "    if not rid:\n        msg = 'no id'\n        return error(rid, msg)\n",
        "    msg = f'no {method}'\n    log.info(msg)\n    return error(rid, text=msg)\n",
        "    msg = msg or {}\n    msg = 'gone'\n    return str(msg)\n",
    ],
    ids=["error", "helper", "log", "default before"],
)
def test_a_name_that_is_used_again_once_the_message_has_been_read(text: str) -> None:
    assert reused(text)


@pytest.mark.parametrize(
    "text",
    [
        "    msg = msg['inner']\n    return msg\n",
        "    msg = receive()\n    return {'id': msg['id']}\n",
        "    msg = receive()\n    return read(msg)\n",
        "    msg = receive()\n    return route(msg)\n",
        "    for msg in inner:\n        return {'text': msg}\n",
        "    while True:\n        msg = receive()\n        print(msg)\n",
        "    msg = receive()\n    def later():\n        return msg\n    return later()\n",
        "    return msg\n",
    ],
    ids=[
        "made of the message",
        "read again",
        "read by a helper",
        "handed to something unknown",
        "loop",
        "in a loop",
        "closure",
        "no other value",
    ],
)
def test_a_name_that_may_still_be_the_message(text: str) -> None:
    assert not reused(text)
