"""FastAPI: routers that know neither their application nor the whole path, with a dependency, typed bodies and other verbs."""

from __future__ import annotations

import json
import sys
from typing import Any

import core
import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel


class Message(BaseModel):
    jsonrpc: str
    id: int | str | None = None
    method: str
    params: dict[str, Any] | None = None


def allowed(authorization: str = Header("")) -> None:
    if authorization == "Bearer wrong":
        raise HTTPException(401, "no", headers={"WWW-Authenticate": "Bearer"})


def routed(path: str, **given: Any) -> APIRouter:
    made = APIRouter(prefix="/inner", **given)

    @made.post(path)
    async def endpoint(message: Message, mcp_session_id: str = Header(None)) -> Any:
        given = message.model_dump(exclude_none=True)
        if status := core.refusal(given, mcp_session_id, path):
            raise HTTPException(status)
        reply = core.reply(given, path)
        return Response(status_code=202) if reply is None else Response(json.dumps(reply), headers=core.opened(given))

    @made.get(path)
    def stream() -> Any:
        raise HTTPException(405)

    @made.get("/health")
    def health() -> Any:
        return PlainTextResponse("well")

    return made


outer = APIRouter(dependencies=[Depends(allowed)])
outer.include_router(routed("/plain"))
outer.include_router(routed("/dual", route_class=core.DUAL.fastapi_route("/inner/dual")))
outer.include_router(routed("/modern", route_class=core.MODERN.fastapi_route("/modern")))
app = FastAPI()
app.include_router(outer, prefix="/api")


class Prefixed:
    """The tests know `/plain`, `/dual` and `/modern` only."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = f"/api/inner{scope['path']}"
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)


uvicorn.run(Prefixed(), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", lifespan="off")
