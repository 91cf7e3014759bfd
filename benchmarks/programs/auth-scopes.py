"""A provider of tokens for a program, with its scopes."""

from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider


class Storage:
    async def get_tokens(self):
        return None

    async def set_tokens(self, tokens) -> None: ...

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info) -> None: ...


provider = ClientCredentialsOAuthProvider(
    server_url="https://mcp.example/mcp", storage=Storage(), client_id="c", client_secret="s", scopes="read write"
)
print(provider.context.client_metadata.scope)
