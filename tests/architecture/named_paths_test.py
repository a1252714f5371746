#!/usr/bin/env python3
"""Every file and folder of the sources that a document names exists.

usage: named_paths_test.py SOURCE

A name is a code span with a slash, or with the ending of a source file. It is meant from the root of the sources, from the
document's folder, or from a folder that the sentence named before: so any path that ends with it will do. `<area>` and `*`
stand for any name.
"""
import os
import re
import sys
from pathlib import Path

DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/reference/terms.md", "tests/**/README.md")
NOT_OURS = {"build", "dist", "node_modules", ".git", ".cache"}
# What lies elsewhere: calls of an API, files of a synced folder, of a repository, of the build, of the system, of examples.
ELSEWHERE = re.compile(r"^(/|\./|\.ws/|\.git/|refs/|build/|dist/|\.ws-mock/|ws-mock-traces/|d\.md|[Aa]\.md)")
ENDING = re.compile(r"\.(cpp|hpp|md|py|sh|cmake|txt|mjs)$")


def paths_of(root):
    found = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        found |= {os.path.relpath(os.path.join(folder, name), root) for name in folders + files}
    return found


def names_in(text):
    """(line, name) of each path; code blocks are not read."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        for span in [] if fenced else re.findall(r"`([^`]+)`", line):
            if re.fullmatch(r"[\w./<>*-]+", span) and ("/" in span or ENDING.search(span)) and not ELSEWHERE.match(span):
                yield number, span.rstrip("/")


def pattern_of(name):
    any_name = re.sub(r"<\w+>|\*", "\0", name.removesuffix(".*"))
    ending = r"\.[ch]pp" if name.endswith(".*") else r"(\.[ch]pp)?"
    return re.compile("(?:.*/)?" + re.escape(any_name).replace("\0", "[^/]*") + ending)


def missing(text, folder, paths):
    for number, name in names_in(text):
        beside = os.path.normpath(os.path.join(folder, name))
        if beside not in paths and beside != "." and not any(map(pattern_of(name).fullmatch, paths)):
            yield number, name


def main():
    root = Path(sys.argv[1])
    paths = paths_of(root)
    # The check itself: what is not there is seen, what is there is not.
    assert list(missing("`cli/nothing.cpp` and\n`run/nowhere.hpp`", "", paths)) == [(1, "cli/nothing.cpp"), (2, "run/nowhere.hpp")]
    assert not list(missing("`cli/main.cpp`, `run/round.cpp`, `server-mock/services/<area>/`, `cli/output/jq.*`", "", paths))
    faults = [f"{path.relative_to(root)}:{number}: there is no {name}" for pattern in DOCUMENTS for path in sorted(root.glob(pattern))
              if "node_modules" not in path.parts
              for number, name in missing(path.read_text(), os.path.relpath(path.parent, root), paths)]
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
