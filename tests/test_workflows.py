"""The action, the workflows and the recipes keep to their schemas, and do what they say when their steps are run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
import yaml
from runner import PATIENCE, Runner, clean_env, setup_python

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SERVERS = ROOT / "fixtures" / "servers" / "notes_chain"
LEGACY, MIGRATED = ((SERVERS / name / "server.py").read_text() for name in ("before", "after_dual"))
SCHEMAS = {
    "action.yml": "github-actions",
    "docs/ci/github-check.yml": "github-workflows",
    "docs/ci/github-refactor.yml": "github-workflows",
    "docs/ci/github-fresh-resolve.yml": "github-workflows",
    "docs/ci/gitlab-ci.yml": "gitlab-ci",
    "docs/fleet/renovate.json": "renovate",
}


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of the action as it is in this checkout, with what its installation needs."""
    repo = tmp_path_factory.mktemp("product")
    for name in ("migrate", "rules"):
        shutil.copytree(ROOT / name, repo / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "action.yml"):
        shutil.copy(ROOT / name, repo / name)
    git(repo, clean_env(), "init", "-q", "-b", "main")
    git(repo, clean_env(), "add", ".")
    git(repo, clean_env(), "commit", "-qm", "all")
    return repo


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, product: Path) -> dict[str, str]:
    """An environment in which the address of the repository leads to `product`."""
    config = tmp_path_factory.mktemp("home") / "gitconfig"
    config.write_text(f'[url "file://{product}"]\n\tinsteadOf = https://github.com/OWNER/mcp-migrate\n')
    # What little of an installation is imported is compiled then.
    pip = {"PIP_CONSTRAINT": str(ROOT / ".ci" / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_COMPILE": "0"}
    return clean_env(GIT_CONFIG_GLOBAL=str(config), **pip)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, env: dict[str, str]) -> Path:
    """The folder of the programs of a fresh environment, as a job's container has one."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=PATIENCE)
    return folder / "bin"


@pytest.fixture
def job(tmp_path: Path, product: Path, env: dict[str, str]) -> Runner:
    """A job in a checkout of a repository with a legacy server."""
    workspace, temp = tmp_path / "work", tmp_path / "temp"
    temp.mkdir()
    repository(workspace, env, {"server.py": LEGACY})
    github = {
        "mcp_migrate": str(product),
        "action_repository": "OWNER/mcp-migrate",
        "server_url": "https://github.com",
        "token": "t",
        "ref_name": "main",
    }
    taken = {
        "actions/checkout": lambda given: {},
        "actions/setup-python": setup_python,
        "github/codeql-action/upload-sarif": lambda given: {},
    }
    return Runner(workspace, temp, env, taken, github)


def repository(folder: Path, env: Mapping[str, str], files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, env, "init", "-q", "-b", "main")
    git(folder, env, "add", ".")
    git(folder, env, "commit", "-qm", "as it was")
    return folder


def git(folder: Path, env: Mapping[str, str], *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


def bash(script: str, folder: Path, env: Mapping[str, str], programs: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(programs), env["PATH"]])
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env={**env, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False)


# Schemas


@pytest.mark.parametrize(("name", "schema"), SCHEMAS.items(), ids=SCHEMAS)
def test_files_for_other_programs_keep_to_the_schemas_of_these(name, schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(ROOT / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout


def test_every_file_of_the_docs_for_other_programs_is_proven_here():
    told = {path.relative_to(ROOT).as_posix() for folder in ("ci", "fleet") for path in (DOCS / folder).iterdir() if path.is_file()}
    run = {f"docs/fleet/{name}" for name in ("multi-gitter.yml", "multi-gitter.sh", "renovate-config.js", "batch-spec.yaml")}
    assert told == (SCHEMAS.keys() - {"action.yml"}) | run


def test_every_output_of_the_action_is_one_that_a_step_writes():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = {step["id"]: step for step in action["runs"]["steps"]}
    for name, about in action["outputs"].items():
        step, output = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", about["value"]).groups()
        assert output == name
        assert re.search(rf'["\s]{output}["=]', steps[step]["run"]), name
    for step in steps.values():
        used = re.findall(r"inputs\.([\w-]+)", str(step))
        assert set(used) <= action["inputs"].keys()


# The action


def test_the_action_annotates_counts_and_fails(job):
    outputs, done = job.action(Path(job.github["mcp_migrate"]), {"sarif-file": "found.sarif"})
    assert not done
    assert "::error file=server.py,line=94,endLine=94,title=MCP103 ping,col=20,endColumn=26::" in job.log
    assert {name: outputs[name] for name in ("findings", "errors", "warnings", "notes", "fixable", "exit-code", "sarif-file")} == {
        "findings": "12", "errors": "6", "warnings": "6", "notes": "0", "fixable": "12", "exit-code": "1", "sarif-file": "found.sarif",
    }  # fmt: skip
    sarif = json.loads((job.workspace / "found.sarif").read_text())
    jsonschema.validate(sarif, json.loads((ROOT / "tests" / "sarif.schema.json").read_text()), jsonschema.Draft202012Validator)
    assert len(sarif["runs"][0]["results"]) == len(json.loads(Path(outputs["json-file"]).read_text())["findings"]) == 12
    assert job.summary.startswith("### MCP 2026-07-28: 12 findings, 12 with a fix\n")
    assert re.search(r"^\| MCP103 \| ping \| error \| 1 \|$", job.summary, re.MULTILINE)
    version = subprocess.run([outputs["command"], "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("mcp-migrate ")


@pytest.mark.parametrize(
    ("given", "outputs", "done"),
    [
        ({"fail-on": "never"}, {"exit-code": "0", "findings": "12"}, True),
        ({"paths": "docs folder\n\nclean.py\n"}, {"exit-code": "0", "findings": "0"}, True),
        ({"paths": "server.py", "era": "modern"}, {"exit-code": "1"}, False),
        ({"paths": "no such folder"}, {"exit-code": "2", "findings": ""}, False),
        ({"era": "$(touch owned)"}, {"exit-code": "2"}, False),
    ],
    ids=["never", "paths", "era", "no such path", "no script from an input"],
)
def test_inputs_of_the_action_are_flags_of_check(job, given, outputs, done):
    (job.workspace / "docs folder").mkdir()
    (job.workspace / "clean.py").write_text("x = 1\n")
    job.known = INSTALLED
    made, well = job.action(Path(job.github["mcp_migrate"]), given)
    assert (well, {name: made[name] for name in outputs}) == (done, outputs)
    assert not (job.workspace / "owned").exists()


def test_the_action_can_run_another_version_of_itself(job):
    outputs, done = job.action(Path(job.github["mcp_migrate"]), {"version": "main", "paths": "server.py", "fail-on": "never"})
    assert (done, outputs["findings"]) == (True, "12")
    job.github = {**job.github, "action_repository": ""}
    _, done = job.action(Path(job.github["mcp_migrate"]), {"version": "main"})
    assert not done
    assert "::error::version needs an action that is named by its repository" in job.log


# Workflows

# The command that these tests run with, in place of one that the action installs each time; that it does is shown above.
INSTALLED = {"install": {"command": str(Path(sys.executable).with_name("mcp-migrate")), "python": sys.executable}}


@pytest.fixture
def installed(job: Runner) -> Runner:
    """A job in which the action need not install the command."""
    job.known = INSTALLED
    return job


def test_the_check_of_a_pull_request_fails_and_still_uploads(installed):
    assert not installed.job(DOCS / "ci" / "github-check.yml")
    name, given = installed.used[-1]
    assert name.startswith("github/codeql-action/upload-sarif@")
    assert given["sarif_file"] == "mcp-migrate.sarif"
    assert (installed.workspace / "mcp-migrate.sarif").is_file()


def test_the_check_of_a_pull_request_passes_where_the_server_is_migrated(installed):
    (installed.workspace / "server.py").write_text(MIGRATED)
    shutil.copy(ROOT / "migrate" / "runtime" / "mcp_stateless.py", installed.workspace / "mcp_stateless.py")
    assert installed.job(DOCS / "ci" / "github-check.yml")


GH = """#!/usr/bin/env bash
# Stands for the command of GitHub: keeps what it is called with, and the pull request in a file.
set -e
echo "$*" >> "$GH_LOG"
case "$1 $2" in
  "pr list") if [ -f "$GH_LOG.open" ]; then echo 7; fi ;;
  "pr create" | "pr edit") touch "$GH_LOG.open"; cp "${@: -1}" "$GH_LOG.body" ;;
  *) exit 1 ;;
esac
"""


def test_the_refactor_opens_one_pull_request_and_renews_it(installed, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    installed.env = {**installed.env, "PATH": os.pathsep.join([str(programs), installed.env["PATH"]]), "GH_LOG": str(tmp_path / "gh")}
    git(tmp_path, installed.env, "init", "-q", "--bare", "-b", "main", "remote.git")
    git(installed.workspace, installed.env, "remote", "add", "origin", str(tmp_path / "remote.git"))
    (installed.workspace / "scratch.py").write_text("x = 1\n")
    (installed.workspace / ".git" / "info" / "exclude").write_text("scratch.py\n")
    assert installed.job(DOCS / "ci" / "github-refactor.yml"), installed.log
    remote = tmp_path / "remote.git"
    assert git(remote, installed.env, "log", "--format=%s", "mcp-2026-07-28").splitlines() == [
        "Move to MCP protocol revision 2026-07-28",
        "as it was",
    ]
    assert git(remote, installed.env, "show", "mcp-2026-07-28:server.py") == MIGRATED
    assert git(remote, installed.env, "show", "--name-only", "--format=", "mcp-2026-07-28").split() == ["mcp_stateless.py", "server.py"]
    body = (tmp_path / "gh.body").read_text()
    assert re.search(r"^Fixed \d+ findings? in 1 file and wrote 1 new file", body, re.MULTILINE)
    assert body.count("````") == 2
    # The next week, from where the main branch still is.
    git(installed.workspace, installed.env, "checkout", "-q", "-B", "main", "HEAD~1")
    assert installed.job(DOCS / "ci" / "github-refactor.yml"), installed.log
    called = [line.split(" --")[0] for line in (tmp_path / "gh").read_text().splitlines()]
    assert called == ["pr list", "pr create", "pr list", "pr edit 7"]


def test_the_refactor_opens_nothing_where_nothing_is_to_move(installed, tmp_path):
    git(installed.workspace, installed.env, "rm", "-q", "server.py")
    (installed.workspace / "tool.py").write_text("x = 1\n")
    git(installed.workspace, installed.env, "add", ".")
    git(installed.workspace, installed.env, "commit", "-qm", "no server")
    assert installed.job(DOCS / "ci" / "github-refactor.yml"), installed.log
    assert installed.log.endswith("Nothing to move.\n")


@pytest.mark.parametrize("migrated", [True, False], ids=["migrated", "legacy"])
def test_the_fresh_resolve_proves_a_server_with_what_is_released_today(installed, migrated):
    (installed.workspace / "requirements.txt").write_text("packaging>=22\n")
    if migrated:
        (installed.workspace / "server.py").write_text(MIGRATED)
        shutil.copy(ROOT / "migrate" / "runtime" / "mcp_stateless.py", installed.workspace / "mcp_stateless.py")
    else:
        # What check lets pass is still proven.
        (installed.workspace / ".mcp-migrate.toml").write_text('fail-on = "never"\n')
    installed.env = {**installed.env, "PATH": os.pathsep.join([str(Path(sys.executable).parent), installed.env["PATH"]])}
    assert installed.job(DOCS / "ci" / "github-fresh-resolve.yml") is migrated, installed.log
    assert re.search(r"^packaging==\d", installed.log, re.MULTILINE)


def test_the_job_of_gitlab_writes_the_reports_that_it_names(tmp_path, env, programs):
    repo = repository(tmp_path / "work", env, {"server.py": LEGACY})
    job = yaml.safe_load((DOCS / "ci" / "gitlab-ci.yml").read_text())["mcp-migrate"]
    done = bash("\n".join(job["script"]), repo, env, programs)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    assert len(json.loads((repo / reports["codequality"]).read_text())) == 12
    assert (repo / reports["junit"]).read_text().count("<testcase") == 12
    assert job["artifacts"]["when"] == "always"


# Fleets


def test_the_batch_of_sourcegraph_moves_a_copy_that_git_does_not_know(tmp_path, env, programs):
    spec = yaml.safe_load((DOCS / "fleet" / "batch-spec.yaml").read_text())
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "server.py").write_text(LEGACY)
    (step,) = spec["steps"]
    assert step.keys() == {"run", "container"}
    done = bash(step["run"], copy, env, programs)
    assert done.returncode == 0, done.stderr
    assert (copy / "server.py").read_text() == MIGRATED
    assert spec["changesetTemplate"].keys() == {"title", "body", "branch", "commit", "published"}


# The flags of `multi-gitter run` that its configuration may hold, as its help names them.
MULTI_GITTER = {
    "assignees", "author-email", "author-name", "base-branch", "base-url", "branch", "code-search", "commit-message", "concurrent",
    "conflict-strategy", "draft", "dry-run", "fetch-depth", "fork", "fork-owner", "git-type", "group", "include-subgroups", "interactive",
    "labels", "log-file", "log-format", "log-level", "max-reviewers", "max-team-reviewers", "org", "output", "plain-output", "platform",
    "pr-body", "pr-title", "project", "repo", "repo-exclude", "repo-include", "repo-search", "reviewers", "skip-forks", "skip-pr",
    "skip-repo", "ssh-auth", "team-reviewers", "topic", "user",
}  # fmt: skip


def test_the_script_for_multi_gitter_changes_servers_and_nothing_else(tmp_path, env):
    assert yaml.safe_load((DOCS / "fleet" / "multi-gitter.yml").read_text()).keys() <= MULTI_GITTER
    script, here = DOCS / "fleet" / "multi-gitter.sh", Path(sys.executable).parent
    assert os.access(script, os.X_OK)
    server = repository(tmp_path / "server", env, {"server.py": LEGACY})
    tool = repository(tmp_path / "tool", env, {"tool.py": "x = 1\n"})
    (tool / "left.txt").write_text("mine\n")
    for repo in (server, tool):
        done = bash(str(script), repo, env, here)
        assert done.returncode == 0, done.stderr
    assert git(server, env, "status", "--short").split() == ["M", "server.py", "??", "mcp_stateless.py"]
    assert git(tool, env, "status", "--short").split() == ["??", "left.txt"]


def test_the_script_for_multi_gitter_fails_where_something_cannot_be_read(tmp_path, env):
    repo = repository(tmp_path / "bad", env, {"server.py": "import mcp\ndef (\n"})
    assert bash(str(DOCS / "fleet" / "multi-gitter.sh"), repo, env, Path(sys.executable).parent).returncode == 2


def test_renovate_allows_the_command_and_the_command_moves_what_renovate_has_raised(tmp_path, env):
    (rule,) = json.loads((DOCS / "fleet" / "renovate.json").read_text())["packageRules"]
    (command,) = rule["postUpgradeTasks"]["commands"]
    (pattern,) = json.loads(re.search(r"allowedCommands: (\[.*\])", (DOCS / "fleet" / "renovate-config.js").read_text())[1])
    assert re.search(pattern, command)
    assert not re.search(pattern, f"{command}; rm -rf /")
    code = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("desk")\n\n\n@mcp.tool()\ndef add(a: int, b: int) -> int:\n    return a + b\n'
    repo = repository(tmp_path / "repo", env, {"server.py": code, "requirements.txt": "mcp==1.26.0\n"})
    (repo / "requirements.txt").write_text("mcp==2.3.0\n")
    done = bash(command, repo, env, Path(sys.executable).parent)
    assert done.returncode == 0, done.stderr
    assert (repo / "server.py").read_text() == code.replace("mcp.server.fastmcp", "mcp.server.mcpserver").replace("FastMCP", "MCPServer")
    assert (repo / "requirements.txt").read_text() == "mcp==2.3.0\n"


# Pages


def sessions(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of a page's `console` blocks in order, each with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def test_what_the_page_about_adoption_shows_is_what_happens(tmp_path, env):
    repo = repository(tmp_path / "work", env, {"server.py": LEGACY})
    shown = sessions(DOCS / "adoption.md")
    assert len(shown) > 10
    for command, expected in shown:
        done = bash(command, repo, env, Path(sys.executable).parent)
        said = (done.stdout + done.stderr).splitlines()
        assert done.returncode in (0, 1), said
        # `...` stands for any lines; what comes before the first one is all that is printed up to there.
        if "..." not in expected:
            assert said == expected, command
        for part in "\n".join(["", *expected, ""]).split("\n...\n"):
            assert part.strip("\n") in "\n".join(said), command


def test_the_task_for_an_editor_understands_the_concise_report(tmp_path, env):
    repo = repository(tmp_path / "work", env, {"server.py": LEGACY})
    (text,) = re.findall(r"^```json\n(.*?)^```", (DOCS / "adoption.md").read_text(), re.DOTALL | re.MULTILINE)
    (task,) = json.loads(text)["tasks"]
    done = bash(" ".join([task["command"], *task["args"]]), repo, env, Path(sys.executable).parent)
    pattern = task["problemMatcher"]["pattern"]
    matches = [re.match(pattern["regexp"], line) for line in done.stdout.splitlines()]
    assert len(matches) == 12
    assert all(matches)
    ping = next(match for match in matches if match and match[pattern["code"]] == "MCP103")
    assert ping.group(pattern["file"], pattern["line"], pattern["column"]) == ("server.py", "94", "20")


# The index links to pages that the site makes of other sources; building it strictly looks for these.
@pytest.mark.parametrize("page", sorted(page for page in DOCS.glob("*.md") if page.name != "index.md"), ids=lambda page: page.name)
def test_links_of_the_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text())
    assert [link for link in links if not link.startswith("http") and not (page.parent / link).exists()] == []


def test_the_page_about_ci_tells_every_input_and_output_of_the_action():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    rows = re.findall(r"^\| (`[^|]*) \|", (DOCS / "ci.md").read_text(), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert told >= action["inputs"].keys() | action["outputs"].keys()
