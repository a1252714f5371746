#!/usr/bin/env python3
"""Sweeps the clients of this folder and writes what was found as the tables of its README.md.

recipes/retries/table.py                                          all of it, some minutes: ws-mock and ws on the PATH
recipes/retries/table.py --check --setups ws --columns refused    compares these cells with the README.md; 1: they differ
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
README = HERE / "README.md"

SETUPS = {
    "requests": ("requests + urllib3 Retry", "requests_retry.py"),
    "tenacity": ("tenacity", "tenacity_retry.py"),
    "httpx": ("httpx", "httpx_retry.py"),
    "axios": ("axios-retry", "axios_retry.mjs"),
    "got": ("got", "got_retry.mjs"),
    "ky": ("ky", "ky_retry.mjs"),
    "undici": ("undici RetryAgent", "undici_retry.mjs"),
    "openapi-fetch": ("openapi-fetch", "openapi_fetch_retry.mjs"),
    "curl": ("curl --retry", "curl_retry.sh"),
    "ws": ("ws", "ws_retry.sh"),
}

# A column is a family of faults: what stands in its cells is what any of them led to.
COLUMNS = {
    "cut before": ("reset-before", "close-before"),
    "500": ("500-before",),
    "503 + Retry-After": ("503-before",),
    "429 + Retry-After": ("429-before",),
    "503 for good": ("outage",),
    "cut after": ("reset-after", "close-after"),
    "5xx after": ("500-after", "503-after"),
    "unreadable": ("truncated-after", "bad-json-after"),
    "cut after + down": ("lost-and-down",),
    "8 s": ("timeout-before",),
    "silence": ("silence",),
    "refused": ("403-before", "404-before", "key-expired", "key-revoked", "member-removed"),
    "redirect": ("redirect-before", "see-other-before"),
}

OPERATIONS = {"docs.create": "Creating (POST)", "docs.get": "Reading (GET)"}

# The words of the sweep as the table has them, the worst first.
WORDS = {
    "doubled": "**doubles**",
    "stuck": "*stuck*",
    "lost": "**loses**",
    "wrong": "**wrong**",
    "hidden": "**hides**",
    "output": "**output**",
    "leaked": "**leaks**",
    "hung": "*hung*",
    "crashed": "crashed",
    "storm": "storm",
    "careless": "careless",
    "impatient": "impatient",
    "gives up": "gives up",
    "ok": "ok",
}


def command_of(setup, document):
    client = str(HERE / SETUPS[setup][1])
    return (["node"] if client.endswith(".mjs") else []) + [client, document]


def a_document():
    """The id of a document of the mock's own world, which each sandbox has."""
    found = subprocess.run(["ws-mock", "exec", "--", "ws", "docs", "list", "--limit", "1", "--format", "ids"],
                           capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit("table.py: ws-mock or ws does not work: " + found.stderr)
    return found.stdout.split()[0]


def sweep(setup, columns, document, jobs):
    """The words of each cell of a set-up: {(operation, column): {word}}."""
    if not columns:
        return {}
    faults = [fault for column in columns for fault in COLUMNS[column]]
    # Longer than any client here goes on by itself. In silence those who wait 120 s and more are hung, even where a busy
    # machine makes the limit some times longer.
    flags = ["--json", "--jobs", str(jobs), "--patience", "8s", "--limit", "15s" if "silence" in faults else "30s"]
    planned = subprocess.run(["ws-mock", "sweep", "--plan", "--", *command_of(setup, document)],
                             capture_output=True, text=True)
    if planned.returncode != 0:
        sys.exit(f"table.py: {setup}: {planned.stderr}")
    rows = [line.split()[0] for line in planned.stdout.splitlines() if "#" in line.split(" ")[0]]
    wanted = [row for row in rows if row.split(":")[1] in faults]  # `--only` refuses what no request can have
    ran = subprocess.run(["ws-mock", "sweep", *flags, "--only", ",".join(wanted), "--", *command_of(setup, document)],
                         capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        sys.exit(f"table.py: {setup}: {ran.stderr}")
    cells = {}
    for row in json.loads(ran.stdout)["rows"]:
        operation, fault = row["id"].split("#")[0], row["id"].split(":")[1]
        column = next(name for name, members in COLUMNS.items() if fault in members)
        words = {finding["word"] for finding in row["findings"]}
        # A client that stays stuck, or repeats in vain, has given up too: the worse word says so.
        words = words or {"ok" if row["exit"] == 0 else "gives up"}
        cells.setdefault((operation, column), set()).update(words)
    return cells


def text_of(words):
    words = words - {"ok"} or words
    if "doubled" in words:
        words = words - {"careless"}  # that is how it doubled
    return ", ".join(text for word, text in WORDS.items() if word in words)


def columns_of(found, columns, operation):
    """The columns whose faults this operation can have."""
    return [column for column in columns if any((operation, column) in cells for cells in found.values())]


def tables(found, columns):
    lines = []
    for operation, title in OPERATIONS.items():
        shown = columns_of(found, columns, operation)
        lines += [f"### {title}", "", "| set-up | " + " | ".join(shown) + " |", "|---" * (len(shown) + 1) + "|"]
        for setup, cells in found.items():
            row = [text_of(cells[operation, column]) for column in shown]
            lines.append(f"| [{SETUPS[setup][0]}]({SETUPS[setup][1]}) | " + " | ".join(row) + " |")
        lines.append("")
    return lines


def checked_in():
    """The cells of the README.md: {(operation, set-up, column): text}."""
    cells, operation, columns = {}, None, []
    names = {f"[{name}]({client})": setup for setup, (name, client) in SETUPS.items()}
    for line in README.read_text().splitlines():
        operation = next((one for one, title in OPERATIONS.items() if line == "### " + title), operation)
        row = [one.strip() for one in line.strip("|").split("|")]
        if row[0] == "set-up":
            columns = row[1:]
        elif row[0] in names:
            cells |= {(operation, names[row[0]], column): text for column, text in zip(columns, row[1:])}
    return cells


def check(found, columns):
    expected = checked_in()
    differences = []
    count = 0
    for setup, cells in found.items():
        for operation in OPERATIONS:
            for column in columns_of(found, columns, operation):
                count += 1
                now = text_of(cells[operation, column])
                before = expected.get((operation, setup, column))
                if now != before:
                    differences.append(f"{setup}, {operation}, {column}: {now}; README.md says {before}")
    print("\n".join(differences) or f"{count} cells are as in README.md")
    return 1 if differences else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with README.md in place of writing it")
    parser.add_argument("--setups", default=",".join(SETUPS), help="with --check: only these")
    parser.add_argument("--columns", default=",".join(COLUMNS), help="with --check: only these")
    parser.add_argument("--jobs", type=int, default=4, help="runs side by side; two set-ups are swept at a time")
    options = parser.parse_args()
    setups, columns = options.setups.split(","), options.columns.split(",")
    for name in [*set(setups) - set(SETUPS), *set(columns) - set(COLUMNS)]:
        parser.error(f"there is no {name}")
    document = a_document()
    found = {setup: {} for setup in setups}
    # Silence is slept through: more at a time.
    for part, at_a_time in (([name for name in columns if name != "silence"], 2), ([*{"silence"} & set(columns)], 5)):
        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
            for setup, cells in zip(setups, pool.map(lambda one: sweep(one, part, document, options.jobs), setups)):
                found[setup] |= cells
    if options.check:
        return check(found, columns)
    if setups != list(SETUPS) or columns != list(COLUMNS):
        parser.error("the tables are written whole")
    head, _, rest = README.read_text().partition("<!-- made by table.py -->\n")
    tail = rest.partition("<!-- end -->\n")[2]
    README.write_text(head + "<!-- made by table.py -->\n" + "\n".join(tables(found, columns)) + "<!-- end -->\n" + tail)
    return 0


if __name__ == "__main__":
    sys.exit(main())
