"""Code of an authorization server that takes a client for its metadata."""

from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata


def granted(client: OAuthClientInformationFull, asked: str) -> list[str] | None:
    if not isinstance(client, OAuthClientMetadata):
        raise TypeError("no client")
    return client.validate_scope(asked)


client = OAuthClientInformationFull(client_id="c", redirect_uris=["http://localhost/callback"], scope="read write")
print(granted(client, "read"), client.validate_redirect_uri(None))
