"""Which names of a host an app lets in."""

from mcp.server.fastmcp import FastMCP
from mcp.server.transport_security import TransportSecuritySettings
from starlette.testclient import TestClient

mcp = FastMCP(
    "x",
    transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=["known.example"]),
)
app = mcp.streamable_http_app()

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}
with TestClient(app) as web:
    for host in ("known.example", "other.example"):
        headers = {"Host": host, "Accept": "application/json, text/event-stream"}
        print(host, web.post("/mcp", json=HELLO, headers=headers).status_code)
