"""Runs the steps of workflows and composite actions as a runner of GitHub Actions does, as far as ours need it.

Scripts run in the shell, with the options and the files that the runner gives them. Expressions are names alone, such as
`inputs.era`; of actions by others only those that a test stands in for.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

PATIENCE = 300
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class Runner:
    """One job in the checkout `workspace`. `actions` stand for actions by others, by name without the part behind `@`.

    `known` has the outputs of steps that need not run, by their ids.
    """

    workspace: Path
    temp: Path
    env: dict[str, str]
    actions: Mapping[str, Callable[[Mapping[str, str]], Mapping[str, str]]] = field(default_factory=dict)
    github: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    used: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def job(self, workflow: Path) -> bool:
        """Runs the one job of a workflow; whether it succeeds. A step with a condition of its own runs whatever came before it."""
        document = yaml.safe_load(workflow.read_text())
        (job,) = document["jobs"].values()
        _, done = self.steps(job["steps"], document.get("env", {}))
        return done

    def action(self, folder: Path, given: Mapping[str, str]) -> tuple[dict[str, str], bool]:
        """Runs the composite action of a folder; its outputs, and whether it succeeds."""
        document = yaml.safe_load((folder / "action.yml").read_text())
        assert not given.keys() - document["inputs"].keys()
        inputs = {name: given.get(name, about.get("default", "")) for name, about in document["inputs"].items()}
        before, self.github = self.github, {**self.github, "action_path": str(folder)}
        outputs, done = self.steps(document["runs"]["steps"], {}, inputs)
        self.github = before
        values = {name: self._filled(about["value"], outputs, inputs) for name, about in document["outputs"].items()}
        return values, done

    def steps(
        self, steps: list[dict[str, Any]], env: Mapping[str, str], inputs: Mapping[str, str] = {}
    ) -> tuple[dict[str, Mapping[str, str]], bool]:
        """The outputs of the steps that have an id, and whether all succeed."""
        outputs: dict[str, Mapping[str, str]] = {}
        done = True
        for step in steps:
            if not done and "if" not in step:
                continue
            given = {name: self._filled(str(value), outputs, inputs) for name, value in step.get("with", {}).items()}
            made: Mapping[str, str]
            if step.get("id") in self.known:
                made, well = self.known[step["id"]], True
            elif "run" in step:
                filled = {name: self._filled(value, outputs, inputs) for name, value in {**env, **step.get("env", {})}.items()}
                assert "${{" not in step["run"], "what comes from outside is no part of a script"
                made, well = self._script(step["run"], filled, strict="shell" in step)
            else:
                name = step["uses"].partition("@")[0]
                self.used.append((step["uses"], given))
                if name == "OWNER/mcp-migrate":
                    made, well = self.action(Path(self.github["mcp_migrate"]), given)
                else:
                    made, well = self.actions[name](given), True
            if "id" in step:
                outputs[step["id"]] = made
            done = done and well
        return outputs, done

    def _script(self, script: str, env: Mapping[str, str], *, strict: bool) -> tuple[dict[str, str], bool]:
        output, summary = self.temp / "output", self.temp / "summary"
        output.write_text("")
        summary.write_text("")
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(self.temp)}
        # A step that names the shell gets `pipefail` as well.
        command = ["bash", "--noprofile", "--norc", *(["-eo", "pipefail"] if strict else ["-e"]), "-c", script]
        run = subprocess.run(
            command,
            cwd=self.workspace,
            env={**self.env, **files, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.log += run.stdout
        self.summary += summary.read_text()
        return dict(line.split("=", 1) for line in output.read_text().splitlines()), run.returncode == 0

    def _filled(self, text: str, outputs: Mapping[str, Mapping[str, str]], inputs: Mapping[str, str]) -> str:
        def value(found: re.Match[str]) -> str:
            match found[1].split("."):
                case ["inputs", name]:
                    return inputs[name]
                case ["steps", step, "outputs", name]:
                    return outputs.get(step, {}).get(name, "")
                case ["github", name]:
                    return self.github[name]
            raise AssertionError(f"no expression that is known: {found[0]}")

        return _EXPRESSION.sub(value, text)


def setup_python(given: Mapping[str, str]) -> Mapping[str, str]:
    """What actions/setup-python does, with the Python that runs the tests."""
    assert given["python-version"]
    return {"python-path": sys.executable}


def clean_env(**more: str) -> dict[str, str]:
    """The environment without what git, pytest and virtual environments leave in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_", "VIRTUAL_ENV"))} | more
