#!/usr/bin/env python3
"""The files for CI services: read by a YAML parser, the shell in them run against the tarball.

usage: ci_files_test.py TARBALL
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
CALL = 'curl -sSf -H "Authorization: Bearer $WS_TOKEN" "$WS_BASE_URL/v1/me" >/dev/null'


def read(name):
    return yaml.safe_load((PACKAGING / name).read_text())


def bash(script, folder, **environment):
    """The servers that it leaves running end with its process group."""
    process = subprocess.Popen(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, start_new_session=True,
                               env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        code = process.wait(timeout=30)
    finally:
        try:
            os.killpg(process.pid, 15)
        except ProcessLookupError:
            pass
    out = process.stdout.read()
    if code != 0:
        raise SystemExit(f"this fails with {code}:\n{script}\n{out}")


def github_action(tarball, folder):
    action = read("github-action/action.yml")
    assert action["runs"]["using"] == "composite"
    (step,) = action["runs"]["steps"]
    files = {name: str(folder / name) for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_ENV")}
    for path in files.values():
        Path(path).touch()
    # What the service does between two steps: the variables of GITHUB_ENV are set.
    script = step["run"] + f'\nset -a; . "$GITHUB_ENV"; set +a\n{CALL}\ngrep -q base_url= "$GITHUB_OUTPUT"\n'
    bash(script, folder, RUNNER_TEMP=str(folder), WS_ARCHIVE=tarball, WS_FLAGS="--seed 3", **files)


def gitlab(tarball, folder):
    job = read("gitlab-ci.yml")[".ws-mock"]
    bash("\n".join(job["before_script"]) + f"\n{CALL}\n", folder, **{**job["variables"], "WS_ARCHIVE": tarball})


def compose():
    mock = read("compose.yaml")["services"]["mock"]
    assert mock["healthcheck"]["test"][:3] == ["CMD", "/ws-mock", "health"]
    assert "--control-token" in mock["command"]


def main():
    tarball = str(Path(sys.argv[1]).resolve())
    for check in (github_action, gitlab):
        folder = Path(tempfile.mkdtemp())
        try:
            check(tarball, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # the server is about to remove its ready file
    compose()
    print("ok")


if __name__ == "__main__":
    main()
