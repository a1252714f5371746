#!/usr/bin/env python3
"""Runs every command block of every document with the real programs, and compares what they show.

usage: documents_test.py [--accept | --lenient] BIN SOURCE [DOCUMENT...]

Each document is one world: a home of its own, a port of its own, its blocks one after another in one bash. A block marked
`sh` must end with 0, command by command; one marked `console` shows commands behind "$ " and under each what it prints on
a terminal, which is compared: ids, times and hashes may differ. --accept writes what was printed into the document.

A block that a comment above it gives to another check (`<!-- run by: packaging/check.sh -->`) is left to that one, which
must exist and have a line with the first two words of each command, or read the document itself. Blocks of any other language are not commands. A fence without a language, or
with one that is not known here, is an error: so no command block is passed over by accident. With --lenient what is printed may have other words than what is
shown; that is told, and is no error.
"""
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

NOT_COMMANDS = {"yaml", "json", "text", "cpp", "markdown", "toml", "python", "js", "diff"}
PORT = "4711"  # of every document; each run takes another
LIMIT_SECONDS = 150
MARK = "\x1e"


class Block:
    def __init__(self, language, lines, first, owner):
        self.language, self.lines, self.first, self.owner = language, lines, first, owner

    def commands(self):
        """(command, lines shown, index of the first line shown) of a `console` block."""
        found, i = [], 0
        while i < len(self.lines):
            if not self.lines[i].startswith("$ "):
                raise ValueError(f"line {self.first + i}: a console block begins with a command behind \"$ \"")
            start = i
            i += 1
            while i < len(self.lines) and not self.lines[i].startswith("$ "):
                i += 1
            found.append((self.lines[start][2:], self.lines[start + 1:i], start + 1))
        return found


def blocks_of(text):
    blocks, fence, owner, lines = [], None, None, text.split("\n")
    for number, line in enumerate(lines):
        opening = re.match(r"^```(\S*)$", line)
        if fence is None and opening:
            fence = Block(opening.group(1), [], number + 1, owner)
        elif fence is not None and line == "```":
            blocks.append(fence)
            fence, owner = None, None
        elif fence is not None:
            fence.lines.append(line)
        elif line.strip():
            marked = re.match(r"^<!-- run by: (\S+) -->$", line)
            owner = marked.group(1) if marked else None
    return blocks


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def settled(text):
    """Without what differs from run to run."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "TIME", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", text)
    text = re.sub(r"\b(\d+ (seconds?|minutes?|s|ms) ago|just now|now|today \d\d:\d\d|\d\d:\d\d(:\d\d)?)\b", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{12,64}\b", "HASH", text)
    text = re.sub(r"…[0-9a-f]{4,}", "…ID", text)
    text = re.sub(r"\b[A-Z]{4}-[A-Z]{4}\b", "CODE", text)
    text = re.sub(r"\[\d+\] \d+", "[JOB]", text)
    text = re.sub(r"[ \t]+", " ", text)
    return re.sub(r" ?\n", "\n", text).strip()


def script_of(blocks):
    """One bash script; a line of marks before each unit tells which it is and how the one before ended."""
    script = ["set +m", "shopt -s expand_aliases"]
    for number, block in enumerate(blocks):
        if block.language == "sh":
            units = ["set -e\n" + "\n".join(block.lines) + "\nset +e"]
        else:
            units = [command for command, _, _ in block.commands()]
        for index, unit in enumerate(units):
            script.append(f"printf '\\n{MARK}%s {number} {index}{MARK}\\n' $?")
            script.append(unit + (" " if block.language == "console" else ""))
    script.append(f"printf '\\n{MARK}%s end 0{MARK}\\n' $?")
    return "\n".join(script) + "\n"


def run(script, environment, folder):
    """What a terminal shows; nothing is typed."""
    reader, writer = pty.openpty()
    path = folder / "blocks.sh"
    path.write_text(script)
    process = subprocess.Popen(["bash", "--norc", str(path)], cwd=environment["HOME"], env=environment, stdin=subprocess.DEVNULL,
                               stdout=writer, stderr=writer, start_new_session=True)
    os.close(writer)
    shown, until = b"", time.monotonic() + LIMIT_SECONDS
    ended = (MARK + "end").encode()
    while time.monotonic() < until:
        if select.select([reader], [], [], 0.2)[0]:
            try:
                part = os.read(reader, 65536)
            except OSError:
                break
            shown += part
        elif process.poll() is not None:
            break
    try:
        os.killpg(process.pid, signal.SIGKILL)  # servers that blocks left running
    except ProcessLookupError:
        pass
    process.wait()
    os.close(reader)
    text = shown.decode(errors="replace").replace("\r\n", "\n")
    # Progress is drawn and wiped again; how far it got depends on the machine.
    return re.sub(r"\r?\x1b\[K([^\r\n\x1b]*(?=\r?\x1b\[K))?", "", text)


def world(bin_folder, source, folder):
    home = folder / "home"
    home.mkdir()
    keep = {name: os.environ[name] for name in ("LANG", "PYTHONDONTWRITEBYTECODE") if name in os.environ}
    return {**keep, "PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(home), "WS_DEVICE_NAME": "desk", "WS_SOURCE": str(source), "TERM": "xterm",
            "COLUMNS": "100", "NO_COLOR": "1", "PAGER": "cat", "WS_PAGER": "cat", "TZ": "UTC", "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1"}


def left_to(block, source, document):
    """Faults of a block that another check runs."""
    owner = source / block.owner
    if not owner.exists():
        return [f"line {block.first}: {block.owner} does not exist"]
    text = owner.read_text()
    if f"/{document.resolve().relative_to(source.resolve())}\"" in text:
        return []  # it reads the lines
    lines = text.split("\n")
    words = [line.split()[:2] for line in block.lines if line.strip() and not line.lstrip().startswith("#")]
    return [f"line {block.first}: {block.owner} has no `{' '.join(two)}`" for two in words
            if not any(all(word in line for word in two) for line in lines)]


def check_document(path, bin_folder, source, accept):
    text = path.read_text()
    faults, mine = [], []
    for block in blocks_of(text):
        if block.language in NOT_COMMANDS:
            continue
        if block.language not in ("sh", "console"):
            faults.append(f"line {block.first}: a block of `{block.language}`: say sh, console, or {', '.join(sorted(NOT_COMMANDS))}")
        elif block.owner:
            faults += left_to(block, source, path)
        else:
            mine.append(block)
    if not mine:
        return faults, 0
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        environment = world(bin_folder, source, folder)
        shown = run(script_of(mine).replace(PORT, port), environment, folder)
        shown = shown.replace(port, PORT).replace(environment["HOME"], "~").replace(str(source), ".")
    parts = re.split(f"\n?{MARK}(\\d+) (\\w+) (\\d+){MARK}\n", shown)
    units, codes = {}, {}
    last = None
    for i in range(1, len(parts), 4):
        code, number, index, output = parts[i], parts[i + 1], parts[i + 2], parts[i + 3]
        if last is not None:
            codes[last] = int(code)
        last = (number, index)
        units[last] = output
    ran, changes = 0, []
    for number, block in enumerate(mine):
        if block.language == "sh":
            ran += 1
            key = (str(number), "0")
            if codes.get(key) != 0:
                faults.append(f"line {block.first}: the block failed:\n{units.get(key, 'it was not reached')[-1500:]}")
            continue
        for index, (command, expected, at) in enumerate(block.commands()):
            ran += 1
            key = (str(number), str(index))
            if key not in units or key not in codes:
                faults.append(f"line {block.first + at}: not reached: {command}")
                continue
            have = units[key].rstrip("\n")
            if settled(have) != settled("\n".join(expected)):
                faults.append(f"line {block.first + at}: `{command}` prints\n{have}\n  and the document shows\n" + "\n".join(expected))
                changes.append((block.first + at, len(expected), have.split("\n") if have else []))
    if accept and changes:
        lines = text.split("\n")
        for at, count, new in sorted(changes, reverse=True):
            lines[at:at + count] = [line.rstrip() for line in new]
        path.write_text("\n".join(lines))
    return faults, ran


def documents(source):
    listed = subprocess.run(["git", "-C", str(source), "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "**/*.md"],
                            capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [str(p.relative_to(source)) for p in source.rglob("*.md")]
    ours = {n for n in names if n and (("/" not in n) or n.startswith(("docs/", "recipes/", "packaging/")))}
    return [source / name for name in sorted(ours)]


def main():
    arguments = sys.argv[1:]
    accept, lenient = "--accept" in arguments, "--lenient" in arguments
    arguments = [a for a in arguments if not a.startswith("--")]
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    bin_folder, source = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    paths = [Path(a).resolve() for a in arguments[2:]] or documents(source)
    results = {}

    def check(path):
        results[path] = check_document(path, bin_folder, source, accept)

    threads = [threading.Thread(target=check, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = False
    for path in paths:
        faults, ran = results.get(path, (["the check itself failed"], 0))
        for fault in faults:
            failed = failed or not (lenient and " prints\n" in fault)
            print(f"{path.relative_to(source)}: {fault}")
        if ran and not faults:
            print(f"{path.relative_to(source)}: {ran} commands")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
