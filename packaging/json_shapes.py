#!/usr/bin/env python3
"""The shapes of what ws and ws-mock print with --json themselves, as JSON Schema, read off their real answers.

usage: json_shapes.py BIN     the schemas, as docs/reference/own-schemas.json holds them

One small world is played with a mock: two folders, edits, a conflict, attachments, an undo. What one command prints at
several points of it makes one schema: a member that is missing in one answer is not required, one that is null in one and
text in another may be both, and one that was null in all of them has no type. The answers of operations are not here: their
schemas come from the table.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EVENTS_WORK = "!WS_TOKEN=$(cat scribe.key) ws events work --worker scribe --once --wait-seconds 0 --json "
WRITE_FAULT = "echo '[{operation: agents.list, effect: {status: {status: 200, body: {data: [], extra: 1}}}}]' >faults.yaml"
GET_FAULT = "echo '[{operation: docs.get, effect: {status: {status: 404, body: {detail: gone}}}}]' >get.yaml"

# (the command that a schema is for, folder, arguments); None in its place: only played. "{NAME}" is what `kept` names.
SCENARIO = [
    ("ws version", "a", "version"), ("ws exit-codes", "a", "exit-codes"), ("ws commands", "a", "commands"),
    ("ws doctor", "a", "doctor"), ("ws doctor", "a", "!WS_BASE_URL= ws doctor --json"), ("ws config list", "a", "config list"), ("ws config get", "a", "config get base_url"),
    ("ws config explain", "a", "config explain base_url"), ("ws config explain", "a", "config explain format"), ("ws auth status", "a", "auth status"),
    ("ws auth list", "a", "auth list"), ("ws skill show", "a", "skill show"), ("ws sync init", "a", "sync init --name notes"),
    ("ws sync plan", "a", "sync plan"), ("ws sync run", "a", "sync run"), ("ws sync status", "a", "sync status"),
    ("ws sync init", "b", "sync init --source {source}"), ("ws sync pull", "b", "sync pull"),
    ("ws sync attachments", "b", "sync attachments"), ("ws links check", "a", "links check"),
    ("ws sync mv", "a", "sync mv plan.md plans.md -n"), ("ws links fix", "a", "links fix -n"),
    ("ws links mv", "a", "links mv plan.md plans.md -n"),
    (None, "b", "!printf '# Plan\\n\\nTheirs.\\n' >plan.md"), ("ws sync run", "b", "sync run"),
    (None, "a", "!printf '# Plan\\n\\nOurs.\\n' >plan.md"), ("ws sync diff", "a", "sync diff"),
    (None, "a", "!printf x >>map.png"), ("ws sync diff", "a", "sync diff"), (None, "a", "!truncate -s 8 map.png"), ("ws sync run", "a", "sync run"),
    ("ws sync status", "a", "sync status"), ("ws sync conflicts", "a", "sync conflicts"),
    ("ws sync resolve", "a", "sync resolve plan.md --keep local"),
    ("ws sync run", "a", "sync run"), ("ws sync log", "a", "sync log"), ("ws sync log --runs", "a", "sync log --runs"),
    ("ws sync show RUN", "a", "sync show 1"), ("ws sync show STATE PATH", "a", "sync show {state} plan.md"),
    ("ws sync blame", "a", "sync blame plan.md"), (None, "a", "!rm today.md"), ("ws sync run", "a", "sync run"),
    ("ws sync undo", "a", "sync undo -n"), ("ws sync undo", "a", "sync undo"), ("ws sync redo", "a", "sync redo"),
    ("ws sync restore", "a", "sync restore plan.md --at {state}"), ("ws sync push", "a", "sync push"),
    (None, "a", "!echo more >>plan.md"), ("ws sync commit", "a", "sync commit"), ("ws sync roots", "a", "sync roots"),
    ("ws sync gc", "a", "sync gc"), ("ws docs export", "a", "docs export out"),
    (None, "a", "!" + GET_FAULT), ("ws docs export", "a", "!ws-mock exec --faults get.yaml -- ws docs export ../other --json"),
    ("ws files uploads", "a", "files uploads"),
    ("ws docs create --dry-run", "a", "docs create Soup --dry-run"), ("an error", "a", "docs get nothing-of-that-name"),
    ("ws sync untie", "b", "sync untie --yes"), ("ws skill install", "a", "skill install"),
    ("many at once", "a", "files upload map.png plan.md"), ("many at once", "a", "docs get plan.md 00000000-0000-7000-8000-000000000000"),
    ("ws files download", "a", "files download {asset} -o got/"), (None, "a", "!echo High water. | ws docs create Tides -f -"),
    (None, "a", "!ws agents create scribe --name Scribe --permissions read,comment --secret-out scribe.key"),
    (None, "a", "!ws docs share Tides --with @scribe --permission comment"), ("ws events work", "a", EVENTS_WORK + "-- false"),
    (None, "a", "!ws comments add Tides -m '@scribe when?'"), ("ws events work", "a", EVENTS_WORK + "-- true"),
    ("ws-mock diff", "a", "ws-mock diff --against {server}"), (None, "a", "!" + WRITE_FAULT),
    ("ws-mock diff", "a", "!ws-mock exec --faults faults.yaml -- sh -c 'ws-mock diff --against $WS_BASE_URL --json'"),
    ("ws-mock version", "a", "ws-mock version"), ("ws-mock sweep", "a", "ws-mock sweep --sample 2 --seed 7 -- ws docs list --quiet"),
]


# Members whose own members are data: what is linked in or installed, what was counted, what is sent.
TABLES = {"libraries": ["null", "string"], "counts": ["integer"], "headers": ["string"]}

# Members of an error that may be null, whichever of them the errors met here fill in.
OF_ERROR = {"hint": "string", "http_status": "integer", "operation": "string", "request_id": "string", "retry_after_ms": "integer",
            "idempotency_key": "string", "details": "object"}


def schema_of(value, name=""):
    if isinstance(value, dict) and name in TABLES:
        return {"type": ["object"], "additionalProperties": {"type": list(TABLES[name])}}
    if isinstance(value, dict) and name == "result":  # an operation's answer: `ws schema ID` has it
        return {"type": ["object"]}
    if isinstance(value, dict):
        nullable = OF_ERROR if name == "error" else {}
        members = {key: {"type": sorted(["null", nullable[key]])} if key in nullable else schema_of(member, key) for key, member in value.items()}
        return {"type": ["object"], "properties": members, "required": sorted(value)}
    if isinstance(value, list):
        items = None
        for item in value:
            items = merged(items, schema_of(item))
        return {"type": ["array"], **({"items": items} if items else {})}
    kind = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}[type(value)]
    return {"type": [kind]}


def merged(one, other):
    """What both describe."""
    if one is None or other is None:
        return one or other
    both = {"type": sorted(set(one["type"]) | set(other["type"]))}
    if "number" in both["type"] and "integer" in both["type"]:
        both["type"].remove("integer")
    if "properties" in one or "properties" in other:
        mine, theirs = one.get("properties", {}), other.get("properties", {})
        names = list(mine) + [name for name in theirs if name not in mine]
        both["properties"] = {name: merged(mine.get(name), theirs.get(name)) for name in names}
        sides = [set(side["required"]) for side in (one, other) if "required" in side]
        both["required"] = sorted(set.intersection(*sides))
    if "additionalProperties" in one or "additionalProperties" in other:
        both["additionalProperties"] = one.get("additionalProperties") or other["additionalProperties"]
    items = merged(one.get("items"), other.get("items"))
    if items:
        both["items"] = items
    return both


def rounded(schema):
    """A single type is written without a list. What was null wherever it was met may be anything else another time."""
    for name, part in schema.get("properties", {}).items():
        if part["type"] == ["null"] and name != "next_cursor":
            schema["properties"][name] = {}
        else:
            rounded(part)
    for key in ("items", "additionalProperties"):
        if key in schema:
            rounded(schema[key])
    if len(schema["type"]) == 1:
        schema["type"] = schema["type"][0]
    return schema


def play(folder):
    """Inside `ws-mock exec`: the answers of the scenario, by command."""
    kept, shapes = {"server": os.environ["WS_BASE_URL"]}, {}
    for side in ("a", "b"):
        (folder / side).mkdir()
    notes = folder / "a"
    (notes / "plan.md").write_text("# Plan\n\n![](map.png) and [today](today.md), [lost](lots.md)\n")
    (notes / "today.md").write_text("# Today\n")
    (notes / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name, side, words in SCENARIO:
        words = words.format(**kept) if not words.startswith("!") else words
        command = words[1:] if words.startswith("!") else (words if words.startswith("ws-mock") else "ws " + words) + ("" if " -- " in words else " --json")
        if " -- " in command and not words.startswith("!"):
            command = command.replace(" -- ", " --json -- ", 1)
        ran = subprocess.run(command, shell=True, cwd=folder / side, capture_output=True, text=True)
        if name is None:
            continue
        said = (ran.stderr if name == "an error" else ran.stdout).strip()
        try:
            answer = json.loads(said.splitlines()[-1] if name == "an error" else said)
        except (ValueError, IndexError):
            raise SystemExit(f"{command} ends with {ran.returncode} and prints no JSON:\n{ran.stdout}{ran.stderr}")
        if name == "ws sync status":
            kept["source"] = answer["source_id"]
        if name == "many at once":
            kept.setdefault("asset", answer["data"][0]["result"]["id"])
        if name == "ws sync log":
            kept["state"] = answer["data"][-1]["state"]
        shapes[name] = merged(shapes.get(name), schema_of(answer))
    return {name: rounded(shape) for name, shape in shapes.items()}


def shapes(bin_folder):
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        environment = {"PATH": f"{Path(bin_folder).resolve()}:{os.environ['PATH']}", "HOME": name, "WS_DEVICE_NAME": "desk", "LC_ALL": "C.UTF-8", "WS_NO_INPUT": "1",
                       "NO_COLOR": "1"}
        ran = subprocess.run(["ws-mock", "exec", "--", sys.executable, __file__, "--play", name], env=environment, cwd=home,
                             capture_output=True, text=True)
        if ran.returncode != 0:
            raise SystemExit(ran.stdout + ran.stderr)
        return json.loads(ran.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--play"]:
        print(json.dumps(play(Path(sys.argv[2]))))
    elif len(sys.argv) == 2:
        print(json.dumps(shapes(sys.argv[1]), indent=1, ensure_ascii=False))
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
