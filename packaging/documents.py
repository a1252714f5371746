#!/usr/bin/env python3
"""Man pages and reference pages from the programs themselves: there is no second text that could drift.

usage: documents.py man BIN OUT          ws(1), ws-NOUN(1), ws-mock(1), ws-config(5), ws-fixtures(5) into the folder OUT
       documents.py reference BIN OUT    the pages of docs/reference/ that are made
       documents.py check BIN DOCS       fails, with a diff, where DOCS are not what the programs in BIN say
       documents.py stale BIN DOCS       fails only where DOCS have a command, flag, code or member that is no more

BIN holds ws and ws-mock; both have a hidden command that tells everything about them as JSON.
"""
import difflib
import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import json_shapes  # noqa: E402



def output(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def told(program):
    return json.loads(output([program, "__reference"]))


class Programs:
    def __init__(self, folder):
        self.ws = told(Path(folder) / "ws")
        self.mock = told(Path(folder) / "ws-mock")
        self.bin = Path(folder)
        self.version = self.ws["version"]
        self.commit = json.loads(output([self.bin / "ws", "version", "--json"]))["commit"]
        self.nouns = {}
        for command in self.ws["commands"]:
            self.nouns.setdefault(command["command"].split()[0], []).append(command)

    def topic(self, name):
        return next(topic for topic in self.ws["topics"] if topic["name"] == name)


def flag_name(flag):
    names = [name for name in (flag["letter"], flag["name"]) if name]
    return ", ".join(names) + (" " + flag["placeholder"] if flag["placeholder"] else "")


def flag_text(flag):
    parts = [flag["help"], flag["limits"], "may be repeated" if flag["takes"] == "many" else None,
             "default " + flag["default"] if flag["default"] and flag["default"] != "false" else None]
    return "; ".join(part for part in parts if part)


def mock_flag_name(flag):
    takes = re.sub(r":.*| .*", "", flag["takes"])
    return flag["name"].replace(",", ", ") + (" " + takes if takes else "")


def mock_flag_text(flag):
    return flag["help"] + (f"; default {flag['default']}" if flag["default"] not in ("", "false") else "")


# ---- man pages ----------------------------------------------------------------------------------------------------

def roff(text):
    """As plain text: no backslash of it is an escape, no dot at the beginning of a line a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


class Man:
    def __init__(self, name, section, version, summary):
        day = os.environ.get("WS_DATE", "")
        # What comes last in a line of NAME is what `apropos` shows.
        self.lines = [f'.TH {name.upper()} {section} "{day}" "ws {version}" "User Commands"', ".nh", ".ad l",
                      ".SH NAME", f"{roff(name)} \\- {roff(summary)}"]

    def heading(self, text):
        self.lines += [f".SH {roff(text.upper())}"]
        return self

    def sub(self, text):
        self.lines += [f'.SS "{roff(text)}"']
        return self

    def text(self, text):
        for paragraph in text.split("\n\n"):
            self.lines += [".PP", roff(paragraph)]
        return self

    def usage(self, text):
        self.lines += [".PP", f"\\fB{roff(text)}\\fR"]
        return self

    def block(self, text):
        self.lines += [".PP", ".nf", ".RS 2", roff(text.rstrip("\n")), ".RE", ".fi"]
        return self

    def item(self, name, text):
        self.lines += [".TP", f"\\fB{roff(name)}\\fR", roff(text) if text else "\\&"]
        return self

    def see_also(self, pages):
        refs = ", ".join(f"\\fB{roff(name)}\\fR({section})" for name, section in pages)
        return self.heading("see also").raw(refs)

    def raw(self, line):
        self.lines.append(line)
        return self

    def write(self, folder, name, section):
        (Path(folder) / f"{name}.{section}").write_text("\n".join(self.lines) + "\n")


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":")) else ".")


def man_command(page, command, alone):
    if not alone:
        page.sub("ws " + command["command"])
    page.usage(command["usage"])
    page.text(sentence(command["summary"]) + (" " + command["details"] if command["details"] else ""))
    for argument in command["arguments"]:
        if argument["help"]:
            page.item(argument["placeholder"], argument["help"])
    for flag in command["flags"]:
        page.item(flag_name(flag), flag_text(flag))
    if command["examples"]:
        page.text("Example:" if len(command["examples"]) == 1 else "Examples:").block("\n".join(command["examples"]))
    if command["operation"]:
        scope = f"; the key needs the scope {command['scope']}" if command["scope"] else ""
        page.text(f"It calls the operation {command['operation']}{scope}.")


def man_noun(programs, noun, folder):
    commands = programs.nouns[noun]
    if len(commands) == 1:
        summary = commands[0]["summary"]
    else:
        verbs = []
        for command in commands:
            verb = command["command"][len(noun) + 1:].split(" ")[0]
            if verb and verb not in verbs:
                verbs.append(verb)
        summary = "commands of ws: " + ", ".join(verbs)
    page = Man(f"ws-{noun}", 1, programs.version, summary[:1].lower() + summary[1:])
    page.heading("synopsis")
    for command in commands:
        page.usage(command["usage"]).raw(".br") if len(commands) > 1 else page.usage(command["usage"])
    page.heading("description" if len(commands) == 1 else "commands")
    for command in commands:
        man_command(page, command, len(commands) == 1)
    page.heading("flags of every command").text("Listed in ws(1), and by `ws help flags`.")
    page.see_also([("ws", 1), ("ws-config", 5)])
    page.write(folder, f"ws-{noun}", 1)


def man_ws(programs, folder):
    page = Man("ws", 1, programs.version, "sync a folder of Markdown with a Workspace service, and call its whole API")
    page.heading("synopsis").usage("ws COMMAND [ARGUMENT...] [flags]")
    page.heading("description").text(
        "ws keeps a folder of Markdown files in sync with a Workspace service: it pulls, merges what merges cleanly, and "
        "pushes; what does not merge becomes a conflict that waits, and nothing is overwritten. Every operation of the "
        "service is a command.\n\nBegin with `ws login --base-url URL`, then `ws sync init` in a folder.")
    page.heading("commands")
    for noun, commands in programs.nouns.items():
        about = commands[0]["summary"] if len(commands) == 1 else ", ".join(
            dict.fromkeys(command["command"][len(noun) + 1:].split(" ")[0] or "(alone)" for command in commands))
        page.item(f"ws {noun}", f"{about}; ws-{noun}(1)")
    page.heading("flags of every command")
    for flag in programs.ws["global_flags"]:
        page.item(flag_name(flag), flag_text(flag))
    page.heading("exit status")
    for code in programs.ws["exit_codes"]:
        page.item(str(code["exit"]), code["meaning"])
    page.heading("environment").block(programs.topic("environment")["text"].split("\n", 1)[1].lstrip("\n"))
    for name in ("attachments", "automation", "conflicts", "ignoring"):
        page.heading(programs.topic(name)["summary"]).block(programs.topic(name)["text"])
    page.heading("files")
    page.item("$XDG_CONFIG_HOME/ws/config.yaml", "settings; ws-config(5)")
    page.item("$XDG_DATA_HOME/ws/credentials", "keys that are kept in a file, readable by you alone")
    page.item("$XDG_STATE_HOME/ws/", "logins and uploads that are under way, and creates that may have to be repeated")
    page.item("$XDG_CACHE_HOME/ws/", "what may be deleted at any time")
    page.item(".ws/", "in a synced folder: its state, its local history, its conflicts")
    page.item(".ws.yaml, .wsignore", "settings of a folder and of all below it; what is not synced")
    page.see_also([(f"ws-{noun}", 1) for noun in programs.nouns] + [("ws-mock", 1), ("ws-config", 5)])
    page.write(folder, "ws", 1)


def man_mock(programs, folder):
    program = programs.mock["program"]
    page = Man("ws-mock", 1, programs.version, program["summary"].rstrip(".")[:1].lower() + program["summary"].rstrip(".")[1:])
    page.heading("synopsis").usage("ws-mock [serve] [flags]").raw(".br").usage("ws-mock exec [flags] -- CMD...").raw(".br")
    page.usage("ws-mock sweep [flags] -- CMD...").raw(".br").usage("ws-mock WORD [flags]")
    page.heading("description").text(
        "ws-mock serves the whole API of a Workspace service, with state, for tests. The first line on its standard output "
        "is its address. Without --data everything is in memory.")
    page.heading("words")
    for word in program["words"]:
        page.item(word["name"], word["summary"])
    page.heading("flags")
    for flag in program["flags"]:
        page.item(mock_flag_name(flag), mock_flag_text(flag))
    for word in program["words"]:
        if not word["flags"]:
            continue
        page.heading("ws-mock " + word["name"])
        for flag in word["flags"]:
            page.item(mock_flag_name(flag), mock_flag_text(flag))
        if word["footer"]:
            page.block(word["footer"])
    page.heading("control calls").text("Under /_mock; a body is JSON, with its content type. `ws-mock openapi --control` "
                                       "describes them as OpenAPI.")
    for path, methods in programs.mock["control"]["paths"].items():
        for method, call in methods.items():
            page.item(f"{method.upper()} {path}", call["summary"])
    page.heading("assumptions").text("What the published API leaves open; --assume KEY=VALUE. The first value is the default.")
    for switch in programs.mock["assumptions"]:
        page.item(switch["key"], ", ".join(switch["values"]))
    page.heading("exit status").text(
        "0; of exec, the command's, 126 and 127 as in a shell; of sweep 0 nothing found, 1 findings, 2 it failed without "
        "faults, 3 stopped; 2 wrong flags or files, 14 a local file or its lock, 1 anything else.")
    page.see_also([("ws", 1), ("ws-fixtures", 5)])
    page.write(folder, "ws-mock", 1)


def members(schema):
    """(name, type, required) of an object's members, in words."""
    needed = schema.get("required", [])
    for name, value in schema.get("properties", {}).items():
        yield name, type_text(value), name in needed


def type_text(schema):
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(type_text(one) for one in schema.get("anyOf", schema.get("oneOf")))
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        kind = " or ".join(kind)
    if "array" in kind:
        return kind + " of " + type_text(schema.get("items", {}))
    low, high = schema.get("minLength", schema.get("minimum")), schema.get("maxLength", schema.get("maximum"))
    if low is not None and high is not None:
        kind += f", {low}-{high}"
    elif high is not None:
        kind += f", at most {high}"
    elif low is not None:
        kind += f", at least {low}"
    if schema.get("format"):
        kind += f" ({schema['format']})"
    return kind


def man_fixtures(programs, folder):
    page = Man("ws-fixtures", 5, programs.version, "the world that ws-mock starts with")
    page.heading("description").text(
        "--fixtures takes a YAML or JSON file of the form below, or a folder of Markdown: its .md files become documents of "
        "a Project of the folder's name, the folders within it Pages. Names refer: people by email, agents by @handle, "
        "Workspaces by name, Projects by title, documents by key or title. `ws-mock check FILE` tells everything that is "
        "wrong with one; `ws-mock check --schema` prints the form as JSON Schema.")
    for name, schema in programs.mock["fixtures"]["$defs"].items():
        page.heading(name)
        for member, kind, needed in members(schema):
            page.item(member, kind + ("; required" if needed else ""))
    page.heading("example").block(EXAMPLE.read_text())
    page.see_also([("ws-mock", 1)])
    page.write(folder, "ws-fixtures", 5)


EXAMPLE = HERE.parent / "server-mock" / "fixtures" / "example.yaml"
FAULTS = HERE.parent / "server-mock" / "fixtures" / "faults.yaml"

CONFIG_EXAMPLE = """defaults:
  format: table
  max_wait: 30
profiles:
  work:
    base_url: https://workspace.example.com
aliases:
  today: docs list --fields title,updated_at --limit 10
"""


def man_config(programs, folder):
    page = Man("ws-config", 5, programs.version, "settings of ws")
    page.heading("description").text(
        "A flag goes before its environment variable, a variable before .ws.yaml (the nearest one upward), that before "
        "config.yaml (the profile's part before `defaults`), and that before what is built in. `ws config explain KEY` shows "
        "which one was used, `ws config set KEY VALUE` writes config.yaml.\n\n.ws.yaml may name the profile, the "
        "Workspace and sync roots alone: it may come with a folder that somebody else made.")
    page.heading("settings")
    for setting in programs.ws["settings"]:
        page.item(setting["key"], setting_text(setting))
    page.heading("example").block(CONFIG_EXAMPLE)
    page.see_also([("ws", 1), ("ws-config", 1)])
    page.write(folder, "ws-config", 5)


def setting_text(setting):
    parts = [setting["help"], setting["flag"], setting["variable"],
             "also in a profile" if setting["in_profile"] else None, "also in .ws.yaml" if setting["in_project_file"] else None,
             "default " + setting["default"] if setting["default"] else None]
    return "; ".join(part for part in parts if part)


def write_man(programs, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    man_ws(programs, folder)
    for noun in programs.nouns:
        if noun == "mock":
            continue  # ws-mock(1) is the page of that program
        man_noun(programs, noun, folder)
    man_mock(programs, folder)
    man_config(programs, folder)
    man_fixtures(programs, folder)


# ---- reference pages ----------------------------------------------------------------------------------------------

def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text):
    return f"`{text}`" if text else ""


def page_commands(programs):
    text = "# Commands\n\n"
    text += "Plural nouns; the singular is the same (`ws doc list`). `ws help WORDS` shows one of these on a terminal.\n\n"
    text += "## Flags of every command\n\n"
    text += table(["flag", "meaning"], [(code(flag_name(flag)), flag_text(flag)) for flag in programs.ws["global_flags"]])
    for noun, commands in programs.nouns.items():
        text += f"\n## ws {noun}\n"
        for command in commands:
            if len(commands) > 1:
                text += f"\n### ws {command['command']}\n"
            details = " " + command["details"] if command["details"] else ""
            text += f"\n`{command['usage']}`\n\n{sentence(command['summary'])}{details}\n"
            rows = [(code(a["placeholder"]), a["help"]) for a in command["arguments"] if a["help"]]
            rows += [(code(flag_name(flag)), flag_text(flag)) for flag in command["flags"]]
            if rows:
                text += "\n" + table(["argument, flag", "meaning"], rows)
            if command["examples"]:
                # Indented, not fenced: examples are run by the tests of the commands.
                text += "\n" + "\n".join("    " + example for example in command["examples"]) + "\n"
            if command["operation"]:
                scope = f", scope `{command['scope']}`" if command["scope"] else ""
                text += f"\nOperation `{command['operation']}`{scope}.\n"
    return text


def page_exit_codes(programs):
    return ("# Exit codes\n\nThey do not change. With `--json` an error is one line on stderr whose members `exit` and "
            "`code` are these.\n\n" +
            table(["exit", "name", "meaning"], [(c["exit"], code(c["name"]), c["meaning"]) for c in programs.ws["exit_codes"]]))


def page_settings(programs):
    text = ("# Settings\n\nA flag goes before its variable, a variable before `.ws.yaml` (the nearest one upward), that before "
            "`config.yaml`, and that before the default. `ws config explain KEY` shows which one was used.\n\n")
    text += table(["setting", "flag", "variable", "in a profile", "in `.ws.yaml`", "default", "meaning"], [
        (code(s["key"]), code(s["flag"]), code(s["variable"]), "yes" if s["in_profile"] else "", "yes" if s["in_project_file"] else "",
         code(s["default"]), s["help"]) for s in programs.ws["settings"]])
    text += "\n## config.yaml\n\n```yaml\n" + CONFIG_EXAMPLE + "```\n"
    return text + "\n## Environment\n\n```text\n" + programs.topic("environment")["text"] + "```\n"


def page_control(programs):
    control = programs.mock["control"]
    text = ("# Control calls of ws-mock\n\nUnder `/_mock`, beside the API. A body is JSON and needs `Content-Type: "
            "application/json`; with `--control-token T` each call needs `Authorization: Bearer T`. `/_mock/openapi.json` is "
            "this page for programs, `/_mock` in a browser the inspector.\n\n")
    rows = []
    for path, methods in control["paths"].items():
        for method, call in methods.items():
            query = [p["name"] for p in call.get("parameters", []) if p["in"] == "query"]
            body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            takes = "" if body is None else "JSON" if not body else f"[{type_text(body)}](#{type_text(body).lower()})"
            rows.append((code(f"{method.upper()} {path}"), call["summary"], takes, ", ".join(code(name) for name in query)))
    text += table(["call", "what it does", "body", "query"], rows)
    for name, schema in control["components"]["schemas"].items():
        text += f"\n## {name}\n\n" + table(["member", "type", "required"],
                                          [(code(m), kind, "yes" if needed else "") for m, kind, needed in members(schema)])
    return text + control_answers(programs)


# Requests to a fresh mock, one after another; the page shows what it answers.
CONTROL_CALLS = [
    ("GET", "/_mock/health", None),
    ("PUT", "/_mock/clock", {"clock": "frozen:2026-11-20T10:00:00Z"}),
    ("POST", "/_mock/clock:advance", {"seconds": 3600}),
    ("POST", "/_mock/snapshots", {"name": "then"}),
    ("POST", "/_mock/snapshots/then:restore", None),
    ("POST", "/_mock/keys", {"person": "mara@example.com", "scopes": ["documents:read"], "role": "viewer"}),
    ("POST", "/_mock/faults", {"operation": "docs.create", "phase": "after", "effect": {"reset": True}}),
    ("GET", "/_mock/faults", None),
    ("DELETE", "/_mock/faults", None),
    ("POST", "/_mock/requests:verify", {"match": {"operation": "docs.create"}, "times": 1}),
    ("PATCH", "/_mock/assumptions", {"question_async": "yes"}),
    ("POST", "/_mock/sandboxes", None),
    ("DELETE", "/_mock/sandboxes/s1", None),
    ("GET", "/_mock/devices", None),
    ("POST", "/_mock/reset", {"to": "seed"}),
]

CONTROL_CLIENT = """
import json, os, sys, urllib.request, urllib.error
for method, path, body in json.load(sys.stdin):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["WS_BASE_URL"] + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    print(json.dumps([status, text.replace(os.environ["WS_BASE_URL"], "http://127.0.0.1:4711")]))
"""


def control_answers(programs):
    run = subprocess.run([programs.bin / "ws-mock", "exec", "--clock", "frozen:2026-11-20T10:00:00Z", "--", sys.executable, "-c", CONTROL_CLIENT],
                         input=json.dumps(CONTROL_CALLS), check=True, capture_output=True, text=True,
                         env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")})
    text = "\n## Requests and their answers\n\nOne after another, to a fresh server:\n"
    for (method, path, body), line in zip(CONTROL_CALLS, run.stdout.splitlines()):
        status, answer = json.loads(line)
        said = json.dumps(json.loads(answer), ensure_ascii=False) if answer else ""
        said = said if len(said) <= 600 else said[:600] + " ..."
        text += f"\n```text\n{method} {path}{'' if body is None else ' ' + json.dumps(body)}\n{status} {said}\n```\n"
    return text


def page_faults(programs):
    return ("# Faults\n\nRules for `ws-mock --faults FILE` and `POST /_mock/faults`. This file has every effect once; it is "
            "loaded by the tests.\n\n```yaml\n" + FAULTS.read_text() + "```\n")


def page_assumptions(programs):
    return ("# Assumptions\n\nWhat the published API leaves open. `ws` works with every value; the mock has the first, until "
            "`--assume KEY=VALUE` or `PATCH /_mock/assumptions` says otherwise, and names the ones that an answer rests on in "
            "`X-Mock-Assumed`. `ws-mock exec --report FILE` lists those that a green test rests on.\n\n" +
            table(["switch", "values"], [(code(a["key"]), ", ".join(code(v) for v in a["values"])) for a in programs.mock["assumptions"]]))


def page_fixtures(programs):
    text = ("# Fixtures\n\nThe world that `ws-mock --fixtures FILE` starts with: YAML, JSON, or a folder of Markdown. `ws-mock "
            "check FILE` tells everything that is wrong with one; `ws-mock check --schema` prints this as JSON Schema.\n")
    for name, schema in programs.mock["fixtures"]["$defs"].items():
        text += f"\n## {name}\n\n" + table(["member", "type", "required"],
                                          [(code(m), kind, "yes" if needed else "") for m, kind, needed in members(schema)])
    return text + "\n## Example\n\n```yaml\n" + EXAMPLE.read_text() + "```\n"


def page_json(programs):
    text = ("# JSON\n\n`--json` prints the API's answer as it came, unknown members included. Each operation's request and "
            "answer as JSON Schema: `ws schema ID`; all of them are in [schemas.json](schemas.json). What `ws` and `ws-mock` "
            "answer themselves carries `v: 1`, and [own-schemas.json](own-schemas.json) has its schemas. A command that is given many ids\n"
            "at once answers with one `data` (schema `many at once`), each `result` an operation's answer; `ws api` and `ws files upload`\n"
            "print the operation's.\n\n")
    text += table(["operation", "request", "command", "scope", "when it is repeated"], [
        (code(o["id"]), code(f"{o['method']} {o['path']}"), code("ws " + o["command"]), code(o["scope"]), o["retry_class"])
        for o in programs.ws["operations"]])
    text += ("\n## Answers of the programs themselves\n\nRead off real answers by `packaging/json_shapes.py`. A member may be "
             "added; none is removed or changes its type.\n\n")
    text += table(["answer", "members"], [(code(name), ", ".join(code(member) for member in schema["properties"]))
                                          for name, schema in own_shapes(programs.bin).items()])
    return text + JSON_OWN


@lru_cache
def own_shapes(bin_folder):
    return json_shapes.shapes(bin_folder)


def own_schemas(programs):
    return json.dumps(own_shapes(programs.bin), indent=1, ensure_ascii=False) + "\n"


JSON_OWN = """
## Errors

One line on stderr, stdout empty:

```json
{"error": {"code": "not_found", "exit": 6, "message": "...", "hint": "...", "http_status": 404, "operation": "docs.get",
           "request_id": "...", "applied": "no", "retryable": false, "retry_after_ms": null, "idempotency_key": null,
           "details": null}}
```

`applied` is `yes`, `no` or `unknown`: whether the change was made.

## Batches

With one argument the answer itself; with several `{"data": [{"ok": true, "id": "...", "result": {}}, {"ok": false, "id":
"...", "error": {}}]}`, exit 13 when some failed.

## ws sync run, status, plan

```json
{"v": 1, "source_id": "...", "base_revision": 3, "revision": 4,
 "actions": [{"path": "a.md", "action": "push_update", "reason": "...", "document_id": "...", "previous_path": null,
              "state": "done", "error": null}],
 "conflicts": [{"id": "...", "path": "b.md", "kind": "revision"}],
 "skipped": [{"path": "c.pdf", "reason": "..."}], "detached": [], "counts": {}, "clean": false}
```

`action`: `push_create push_update push_delete push_move pull_create pull_update pull_delete pull_move conflict unchanged
merge adopt`; `state`: `planned staged done failed`.
"""


def schemas(programs):
    all_of_them = {}
    for operation in programs.ws["operations"]:
        all_of_them[operation["id"]] = json.loads(output([programs.bin / "ws", "schema", operation["id"]]))
    return json.dumps(all_of_them, indent=1, ensure_ascii=False) + "\n"


def page_index(programs):
    return """# Reference

Made from the operation table and the programs' own help by `./dev docs --accept`; a test fails when it has drifted.

| page | what it holds |
|---|---|
| [Commands](commands.md) | every command of `ws`, with its flags |
| [Exit codes](exit-codes.md) | how a command may end |
| [Settings](settings.md) | flags, variables, files |
| [JSON](json.md) | the shapes of `--json`; [schemas.json](schemas.json) has every operation, [own-schemas.json](own-schemas.json) the rest |
| [Control calls](control.md) | `/_mock` of the mock |
| [Faults](faults.md) | what the mock does wrong on purpose |
| [Assumptions](assumptions.md) | what the published API leaves open |
| [Fixtures](fixtures.md) | the world that the mock starts with |
| [Terms](terms.md) | one word for one thing (written by hand) |
"""


PAGES = {"README.md": page_index, "commands.md": page_commands, "exit-codes.md": page_exit_codes, "settings.md": page_settings,
         "control.md": page_control, "faults.md": page_faults, "assumptions.md": page_assumptions,
         "fixtures.md": page_fixtures, "json.md": page_json, "schemas.json": schemas, "own-schemas.json": own_schemas}


def write_reference(programs, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (Path(folder) / name).write_text(page(programs))


def subjects(text):
    """Headings, and what the first cells of tables name: flags without their values, codes, calls; no arguments."""
    named = set(re.findall(r"^#+ .*", text, re.M))
    for cell in re.findall(r"^\| `([^`|]*)` \|", text, re.M):
        named |= set(re.findall(r"--[a-z-]+", cell)) if cell.startswith("-") else set() if cell.isupper() else {cell}
    return named


def stale(programs, folder):
    gone = [f"{name}: {subject.strip()}" for name, page in PAGES.items() if name.endswith(".md")
            for subject in subjects((Path(folder) / "reference" / name).read_text()) - subjects(page(programs))]
    print("\n".join(sorted(gone)))
    if gone:
        print("the programs have these no more: run ./dev docs --accept")
    return 1 if gone else 0


def check(programs, folder):
    drifted = False
    for name, page in PAGES.items():
        path, want = Path(folder) / "reference" / name, page(programs)
        have = path.read_text() if path.exists() else ""
        if have != want:
            drifted = True
            sys.stdout.writelines(list(difflib.unified_diff(have.splitlines(True), want.splitlines(True), str(path), "the programs", n=1))[:40])
    if drifted:
        print("\nthe reference has drifted from the programs: run ./dev docs --accept")
    return 1 if drifted else 0


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("man", "reference", "check", "stale"):
        print(__doc__, file=sys.stderr)
        return 2
    programs = Programs(sys.argv[2])
    if sys.argv[1] in ("check", "stale"):
        return {"check": check, "stale": stale}[sys.argv[1]](programs, sys.argv[3])
    {"man": write_man, "reference": write_reference}[sys.argv[1]](programs, sys.argv[3])
    return 0


if __name__ == "__main__":
    sys.exit(main())
