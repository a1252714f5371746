#!/usr/bin/env python3
"""Renames of a repository's history are made again in a synced folder with `links: keep`.

usage: replayed_renames_test.py [-v] [REPOSITORY...]

For each commit that renames a file: its parent's files are tied and synced, the renames alone are made as `mv` makes them,
and `ws sync` runs. Then are counted
- links that led to a file before, and those of them that lead to the same file afterwards;
- repairs of people: the same link in a line that is otherwise unchanged, which the commit points to where its file went,
  and those of them that `ws sync` pointed to the same file;
- bytes that changed outside of the targets of links, or in a target that led to no file.
Links are read by a reader of this script's own. Without a repository it makes a small one. WS_BIN_DIR: where the programs
are. SHARE: 1 of so many steps. BACKWARDS=1: from each commit to its parent. ONE_BY_ONE=1: each rename is followed by a
sync of its own and judged by itself, as if it had been a commit of its own. Fails where a bar is missed.
"""
import collections
import difflib
import html
import os
import posixpath
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote

PROGRAMS = Path(os.environ["WS_BIN_DIR"]).resolve()
KEPT, REPRODUCED = 0.995, 0.95  # the bars
ONE_BY_ONE = bool(os.environ.get("ONE_BY_ONE"))
NOTE = re.compile(r"\.(md|markdown)$", re.I)
PICTURE = re.compile(r"\.(png|jpe?g|gif|svg|webp|pdf|mp4)$", re.I)
FENCE = re.compile(r"(?:[ \t>]|[-*+] |\d+[.)] )*(`{3,}|~{3,})")
CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
BARE = r"(?:\\.|[^\s()<>\\]|\((?:\\.|[^\s()\\])*\))"
TARGETS = [
    re.compile(r"\]\(\s*(<[^<>\n]*>|" + BARE + r"*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"),
    re.compile(r"^[ >]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]*(<[^<>\n]*>|\S+)", re.M),
    re.compile(r"<(?:img|video|audio|source|a)\b[^>]*?\s(?:src|href)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.I),
    re.compile(r"\[\[([^\]\[|#\n]+)"),
]
WIKI = TARGETS[3]
FRONT_MATTER = re.compile(r"---\r?\n.*?^(?:---|\.\.\.)[ \t\r]*$", re.M | re.S)
# A value that may be a path; it is a link where it names a file.
VALUE = re.compile(r"^[ \t]*(?:-[ \t]+)*(?:[\w-]+:[ \t]+)?(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'#\[{|>][^\n]*?)[ \t\r]*$", re.M)


def run(*command, cwd=None, check=True):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} in {cwd} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done


def without_code(text):
    """The same length; code and comments are blanks."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group(0))
    lines, fence, after_blank, in_list, in_item = [], None, True, False, False
    for line in text.split("\n"):
        if in_item and line[:1] not in ("", " ", "\t", "\r"):
            fence, in_item = None, False  # the list item ends, and the fence within it
        mark = FENCE.match(line)
        is_code = fence is not None
        if fence is None and mark:
            fence, is_code, in_item = mark.group(1), True, in_list and line[:2] == "  "
        elif fence is not None and mark and mark.group(1).startswith(fence) and not line[mark.end():].strip("`~ \t\r"):
            fence, in_item = None, False
        elif fence is None and line.strip():
            in_list = bool(re.match(r"\s*([-*+]|\d+[.)])\s", line)) or (in_list and line[:1] in " \t")
            is_code = after_blank and not in_list and re.match(r" {4}|\t", line) is not None
        after_blank = not line.strip() or (is_code and fence is None)
        lines.append(" " * len(line) if is_code else line)
    return COMMENT.sub(blank, CODE_SPAN.sub(blank, "\n".join(lines)))


def links_of(text):
    """(begin, end, is_wiki) of each target, in order."""
    found, plain = {}, without_code(text)
    front = FRONT_MATTER.match(text)
    for value in VALUE.finditer(text, 3, front.end()) if front else ():
        begin, end = value.span(1)
        quoted = text[begin] in "\"'"
        if re.search(r"[./]\w", text[begin:end]):
            found[begin + quoted] = (begin + quoted, end - quoted, False)
    for pattern in TARGETS:
        for link in pattern.finditer(plain):
            begin, end = link.span(1)
            if text[begin:begin + 1] in ("<", '"', "'"):
                begin, end = begin + 1, end - 1
            found.setdefault(begin, (begin, end, pattern is WIKI))
    return [found[begin] for begin in sorted(found)]


class Tree:
    """The paths of a folder, and what a link leads to."""

    def __init__(self, files):
        self.files = set(files)
        self.folders = {""}
        self.names = collections.defaultdict(set)
        for path in files:
            self.names[posixpath.basename(path)].add(path)
            while "/" in path:
                path = path.rpartition("/")[0]
                self.folders.add(path)

    def file(self, path):
        return next((each for each in (path, path + ".md", path + ".markdown") if each in self.files), None)

    def resolve(self, note, target, is_wiki):
        if is_wiki and "/" not in target:
            named = self.names.get(target) or self.names.get(target + ".md") or ()
            return next(iter(named)) if len(named) == 1 else None
        if not is_wiki:
            target = html.unescape(re.sub(r"\\([!-/:-@[-`{-~])", r"\1", target))
        if re.match(r"[a-z][a-z0-9+.-]*:|//|[#?]|$", target, re.I):
            return None
        target = unquote(re.split("[#?]", target)[0])
        path = target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(note), target)
        path = posixpath.normpath(path)
        if path.startswith("../") or "\0" in path:
            return None
        return self.file(path) or (path + "/" if path in self.folders else None)


def resolved(tree, note, text):
    return [tree.resolve(note, text[begin:end], is_wiki) for begin, end, is_wiki in links_of(text)]


def masked(text):
    """The text with every target replaced by one sign."""
    out, at = [], 0
    for begin, end, _ in links_of(text):
        out += [text[at:begin], "\0"]
        at = end
    return "".join(out + [text[at:]])


class Service:
    """A ws-mock of its own, and the environment in which `ws` reaches it."""

    def __init__(self, folder):
        ready = Path(folder) / "ready.json"
        self.process = subprocess.Popen([PROGRAMS / "ws-mock", "--ready-file", ready, "--log", "off"], stdout=subprocess.DEVNULL)
        while not ready.exists() or not ready.read_text().endswith("}\n"):
            time.sleep(0.02)
            if self.process.poll() is not None:
                sys.exit("ws-mock did not start")
        told = ready.read_text()
        os.environ.update(WS_TOKEN=re.search(r'"token": *"([^"]*)"', told).group(1), HOME=folder, NO_COLOR="1",
                          WS_BASE_URL=re.search(r'"base_url": *"([^"]*)"', told).group(1))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def renames_of(repository, old, new):
    """Old path to new one, of what `ws sync` takes: no hidden names, and a note stays one."""
    told = run("git", "-C", repository, "diff", "-z", "--name-status", "-M", "--diff-filter=R", "-l0", old, new).stdout
    words = told.decode("utf-8", "surrogateescape").split("\0")
    pairs = dict(zip(words[1::3], words[2::3]))
    return {old: new for old, new in pairs.items() if "/." not in "/" + old + "/" + new and bool(NOTE.search(old)) == bool(NOTE.search(new))}


def export(repository, commit, folder):
    folder.mkdir()
    archive = subprocess.Popen(["git", "-C", repository, "archive", commit], stdout=subprocess.PIPE)
    run_in = subprocess.run(["tar", "x", "--no-same-owner", "-C", folder], stdin=archive.stdout, check=False)
    if archive.wait() != 0 or run_in.returncode != 0:
        sys.exit(f"{commit} of {repository} cannot be exported")


def files_below(folder):
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(place, name), folder) for name in files if not name.startswith(".")]
    return [path for path in found if not os.path.islink(os.path.join(folder, path))]


def notes_below(folder, files):
    notes = {}
    for path in filter(NOTE.search, files):
        try:
            with open(os.path.join(folder, path), encoding="utf-8", newline="") as note:
                notes[path] = note.read()
        except UnicodeDecodeError:
            pass
    return notes


def look_at(folder):
    files = files_below(folder)
    return notes_below(folder, files), Tree(files)


class Counts(collections.Counter):
    def share(self, part, whole):
        return self[part] / self[whole] if self[whole] else 1.0

    def line(self):
        return (f"{self['steps']} steps, {self['renames']} renames; links: {self['held']} of {self['resolved']} lead to the same file "
                f"({self.share('held', 'resolved'):.3%}), repaired by ws: {self['mended']}; repairs of people: {self['reproduced']} of "
                f"{self['repairs']} reproduced ({self.share('reproduced', 'repairs'):.2%}), {self['alike']} of these to the byte; "
                f"other bytes changed in {self['other']} files; broken links by `ws links check`: {self['broken_after'] - self['broken']:+d}")


def tell(verbose, *words):
    if verbose:
        print("   ", *words, file=sys.stderr)


def compare_links(counts, before, tree, after, now, renames, verbose):
    for note, text in before.items():
        new_note = renames.get(note, note)
        if new_note not in after:
            counts["other"] += 1
            tell(verbose, f"{new_note} is gone")
            continue
        new_text = after[new_note]
        if masked(text) != masked(new_text):
            counts["other"] += 1
            tell(verbose, f"{new_note}: other bytes changed")
            continue
        targets = zip(resolved(tree, note, text), resolved(now, new_note, new_text), links_of(text), links_of(new_text))
        for was, became, (begin, end, _), (new_begin, new_end, _) in targets:
            if was is None:
                if text[begin:end] != new_text[new_begin:new_end]:
                    counts["other"] += 1
                    tell(verbose, f"{new_note}: {text[begin:end]} led to nothing and became {new_text[new_begin:new_end]}")
                continue
            counts["resolved"] += 1
            counts["mended"] += text[begin:end] != new_text[new_begin:new_end]
            if became == renames.get(was, was) or (was.endswith("/") and became):
                counts["held"] += 1
            else:
                tell(verbose, f"{note} -> {new_note}: {text[begin:end]} led to {was}, {new_text[new_begin:new_end]} leads to {became}")


def compare_repairs(counts, before, tree, after, now, theirs, theirs_tree, renames, verbose):
    for note, text in before.items():
        new_note = renames.get(note, note)
        if new_note not in theirs or new_note not in after or masked(text) != masked(after[new_note]):
            continue
        edited = theirs[new_note]
        lines, new_lines = masked(text).split("\n"), masked(edited).split("\n")
        ours = list(zip(resolved(tree, note, text), resolved(now, new_note, after[new_note]), links_of(text), links_of(after[new_note])))
        people = list(zip(resolved(theirs_tree, new_note, edited), links_of(edited)))
        first = [line.count("\0") for line in lines]
        new_first = [line.count("\0") for line in new_lines]
        for begin, new_begin, size in difflib.SequenceMatcher(None, lines, new_lines, autojunk=False).get_matching_blocks():
            count = sum(first[begin:begin + size])
            at, new_at = sum(first[:begin]), sum(new_first[:new_begin])
            for (was, became, old, mine), (told, their) in zip(ours[at:at + count], people[new_at:new_at + count]):
                old, mine, their = text[old[0]:old[1]], after[new_note][mine[0]:mine[1]], edited[their[0]:their[1]]
                if was is None or told is None or old == their or told != renames.get(was, was):
                    continue
                if was == renames.get(was, was) and note == new_note:
                    continue  # spelled in another way, though nothing that it names was renamed
                counts["repairs"] += 1
                counts["reproduced"] += became == told
                counts["alike"] += mine == their
                if became != told:
                    tell(verbose, f"{new_note}: people wrote {their}, ws {mine} for {old}")


def broken_links(folder):
    done = run(PROGRAMS / "ws", "links", "check", cwd=folder, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"ws links check: {done.stderr.decode()}")
    return done.stdout.count(b"\n")


def synced(folder):
    done = run(PROGRAMS / "ws", "sync", "--json", "--allow-deletes", cwd=folder, check=False)
    if done.returncode not in (0, 13):
        sys.exit(f"ws sync in {folder} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")


def replay(repository, old, new, renames, work, verbose):
    counts = Counts(steps=1, renames=len(renames))
    here, there = work / "here", work / "theirs"
    export(repository, old, here)
    export(repository, new, there)
    run(PROGRAMS / "ws", "sync", "init", "--name", old[:12], "--attachments", "linked", cwd=here)
    with open(here / ".ws" / "config.yaml", "a") as config:
        config.write("links: keep\n")
    synced(here)
    before, tree = look_at(here)
    after, now = before, tree
    counts["broken"] = broken_links(here)
    for part in [{old: new} for old, new in renames.items()] if ONE_BY_ONE else [renames]:
        for was, now_at in part.items():
            (here / now_at).parent.mkdir(parents=True, exist_ok=True)
            os.rename(here / was, here / now_at)
        synced(here)
        earlier, (after, now) = (after, now), look_at(here)
        compare_links(counts, *earlier, after, now, part, verbose)
    counts["broken_after"] = broken_links(here)
    compare_repairs(counts, before, tree, after, now, *look_at(there), renames, verbose)
    run("rm", "-rf", here, there)
    return counts


def replay_history(repository, verbose):
    counts = Counts()
    with tempfile.TemporaryDirectory() as work:
        service = Service(work)
        try:
            commits = run("git", "-C", repository, "rev-list", "--reverse", "--no-merges", "--min-parents=1", "HEAD").stdout.decode().split()
            for commit in commits[:: int(os.environ.get("SHARE", "1"))]:
                steps = [commit + "^", commit][:: -1 if os.environ.get("BACKWARDS") else 1]
                renames = renames_of(repository, *steps)
                if any(NOTE.search(old) or PICTURE.search(old) for old in renames):
                    tell(verbose, commit[:12], len(renames), "renames")
                    counts.update(replay(repository, *steps, renames, Path(work), verbose))
        finally:
            service.stop()
    print(f"{Path(repository).name}: {counts.line()}", flush=True)
    return counts


def make_history(folder):
    """Three commits: a note is renamed, a folder moves, and a picture; each time somebody mends what broke."""
    git = lambda *words: run("git", "-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.com", *words)
    def commit(files, *moves):
        for old, new in moves:
            (folder / new).parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder / old, folder / new)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", "a step")
    git("init", "-q")
    one = "---\ncover: img/a.png\nof: nothing/a.png\n---\n# One\n\n## Part\n\nSome text\nof several\nlines.\n\n![shown](img/a.png)\n"
    index = "# Index\n\n[one](one.md#part) <img src='img/a.png'>\n\n`[one](one.md)` [[one]] [away](https://example.com/one.md)\n\n[ref]: ./one.md \"t\"\n"
    index += "\n* The fence of an item ends with it:\n\n  ```\n  code\n```\nand so this is one: [code](one.md)\n"
    commit({"one.md": one, "index.md": index, "img/a.png": "picture"})
    index = index.replace("(one.md#part)", "(deep/eins%20zwei.md#part)").replace("./one.md", "./deep/eins%20zwei.md").replace("[[one]]", "[[eins zwei]]")
    one = one.replace("img/a.png", "../img/a.png")
    commit({"deep/eins zwei.md": one, "index.md": index}, ("one.md", "deep/eins zwei.md"))
    commit({"index.md": index.replace("img/", "pictures/"), "deep/eins zwei.md": one.replace("img/", "pictures/")}, ("img/a.png", "pictures/a.png"))
    return {"steps": 2, "renames": 2, "resolved": 12, "held": 12, "repairs": 8, "reproduced": 8, "broken": 0, "broken_after": 0}


def main():
    verbose = "-v" in sys.argv
    repositories = [word for word in sys.argv[1:] if word != "-v"]
    total = Counts()
    with tempfile.TemporaryDirectory() as own:
        expected = {} if repositories else make_history(Path(own))
        for repository in repositories or [own]:
            total.update(replay_history(repository, verbose))
    if len(repositories) > 1:
        print("all:", total.line())
    wrong = {name: (total[name], count) for name, count in expected.items() if total[name] != count}
    missed = total.share("held", "resolved") < KEPT or total.share("reproduced", "repairs") < REPRODUCED or total["other"] != 0
    sys.exit(f"counted, expected: {wrong}" if wrong else 1 if missed else 0)


if __name__ == "__main__":
    main()
