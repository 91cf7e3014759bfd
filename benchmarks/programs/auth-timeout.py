"""A provider of OAuth tokens with a timeout, by its name and by its place."""

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata


class Storage:
    async def get_tokens(self):
        return None

    async def set_tokens(self, tokens) -> None: ...

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info) -> None: ...


metadata = OAuthClientMetadata(redirect_uris=["http://localhost/callback"], client_name="x")
by_name = OAuthClientProvider("https://mcp.example/mcp", metadata, Storage(), timeout=30.0)
by_place = OAuthClientProvider("https://mcp.example/mcp", metadata, Storage(), None, None, 30.0)
print(by_name.context.server_url, by_place.context.client_metadata.client_name)
