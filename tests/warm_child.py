"""Waits with packages loaded, and becomes each program that it is told, in a process of its own: see `warm.py`.

Nothing is loaded that the first import of such a package does not load, so a program that forgets an import fails as it would alone.
"""

import importlib
import json
import os
import sys
import types


def next_program():
    """The program that this process has become, while the one that it comes from goes on waiting."""
    told, said = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in told:
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            told.close()
            said.close()
            return job
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=said, flush=True)
    sys.exit()


for name in sys.argv[1:]:
    importlib.import_module(name)
job = next_program()

os.chdir(job["cwd"])
for number, stream in enumerate(job["streams"]):
    opened = os.open(stream, os.O_RDWR | os.O_CREAT)
    os.dup2(opened, number)
    os.close(opened)
os.environ.clear()
os.environ.update(job["env"])

program = types.ModuleType("__main__")
if job["argv"][0] == "-c":
    text, filename, sys.argv, sys.path[0] = job["argv"][1], "<string>", ["-c", *job["argv"][2:]], ""
else:
    program.__file__ = filename = job["argv"][0]
    with open(filename, "rb") as file:
        text = file.read()
    sys.argv, sys.path[0] = job["argv"], os.path.dirname(os.path.abspath(filename))
sys.path[1:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
sys.modules["__main__"] = program
exec(compile(text, filename, "exec", dont_inherit=True), program.__dict__)
