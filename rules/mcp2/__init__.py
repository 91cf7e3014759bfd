"""Official SDK `mcp` 1.x to 2.x."""
