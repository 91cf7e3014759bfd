"""FastAPI: typed requests and replies, sync and async endpoints, middleware of both kinds."""

from __future__ import annotations

import sys
from typing import Any

import core
import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response
from pydantic import BaseModel

app = FastAPI()
app.add_middleware(core.DUAL.asgi, path=("/dual", "/sync/dual"))
app.add_middleware(core.MODERN.asgi, path="/modern")


class Message(BaseModel):
    jsonrpc: str
    id: int | str | None = None
    method: str
    params: dict[str, Any] | None = None


class Reply(BaseModel):
    jsonrpc: str = "2.0"
    id: int | str | None = None
    result: Any | None = None
    error: Any | None = None


@app.middleware("http")
async def passing(request: Request, call_next: Any) -> Any:
    return await call_next(request)


def allowed(authorization: str = Header("")) -> None:
    if authorization == "Bearer wrong":
        raise HTTPException(401, "no", headers={"WWW-Authenticate": "Bearer"})


def handle(path: str, message: Message, session: str | None) -> Any:
    given = message.model_dump(exclude_none=True)
    if status := core.refusal(given, session, path):
        return Response(status_code=status)
    reply = core.reply(given, path)
    return Response(status_code=202) if reply is None else (Reply(**reply), core.opened(given))


@app.post("/sync/{path}", response_model=Reply, dependencies=[Depends(allowed)])
def sync_endpoint(path: str, message: Message, response: Response, mcp_session_id: str = Header(None)) -> Any:
    found = handle(f"/{path}", message, mcp_session_id)
    if isinstance(found, Response):
        return found
    response.headers.update(found[1])
    return found[0]


@app.post("/{path}", response_model=Reply, dependencies=[Depends(allowed)])
async def endpoint(path: str, message: Message, response: Response, mcp_session_id: str = Header(None)) -> Any:
    return sync_endpoint(path, message, response, mcp_session_id)


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
