"""Dependency files: what code that is moved to mcp 2 needs beside itself."""
