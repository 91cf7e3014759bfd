"""The typed reading wing: which SDK class, function or field each expression of a project stands for."""
