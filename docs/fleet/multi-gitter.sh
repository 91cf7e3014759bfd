#!/usr/bin/env bash
# What multi-gitter runs in the checkout of each repository. It opens a pull request where this changes something and exits with 0;
# a repository without MCP code stays as it is.
set -euo pipefail

# Exit status 2 says that something could not be read or written: then there is no pull request, and the log says why.
exec mcp-migrate fix --tracked --fail-on never
