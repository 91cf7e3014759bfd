"""Generated code: the module that `fix` writes beside a hand-written server."""
