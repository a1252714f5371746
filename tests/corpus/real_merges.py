#!/usr/bin/env python3
"""Three-way merges of Markdown out of git histories, made again by `git merge-file` and by `ws merge`.

usage: real_merges.py [--most N] [--show FOLDER] [--each] [NAME=]REPOSITORY...
       real_merges.py --check | --published NODE_MODULES

A case is a file of a merge commit with two parents that both changed since their merge base; branches of pull requests
count, equal cases count once. The columns:
  merges    cases;  git: of these, `git merge-file` leaves a conflict
  settled   of git's conflicts: those that `ws merge` settles. Of these, beside what the person committed:
  kept      each entry that a side brought in or edited stands in it, in other words too: by the label or target of its link
  lines     the same lines, in any order and without blank ones
  bytes     the same
  twice     an entry, or the target of an entry's first link, stands more often than in either side
  wrong     by the ledger of words, see `out_of_bounds`; both are looked for where git's own result is another
  lost      git is clean, and `ws merge` is not: the last line counts the reasons that `ws merge --explain` states
The lines "by entries" are of those that the list rule settled, by `--explain`: at least one place entry by entry. The last lines are all repositories, and all with none above a fifth of the weight; `lists`: the repositories most of whose
conflicting lines are entries. NAME stands for a repository in the table.

--most N: the newest N merges of each. --show FOLDER: writes base, ours, theirs, made and committed of each case that is
twice, wrong, lost, or settled and not kept. WS_BIN_DIR: where `ws` is; WS_MERGE: another command that takes BASE OURS THEIRS,
writes the result and ends with 0 (clean) or 1. --each: prints a line for each settled case.
--check: makes a small repository and merges it by `ws`, and by programs that drop and double lines, which must be found.
--published: of each package NAME that has an older version beside it as NAME-older, the older notes are the base, and what the
later version changed is dealt out to two sides, halves of what was inserted at one place too; the later version is what the
merge should give. Fails also where git is clean and `ws merge` gives another text, where it conflicts there and states no
reason or does so more than once, where an entry of a side that it settled is not kept, or where nothing was settled.
Fails where an entry stands twice or a merge is wrong. Keep the repositories out of the project: the texts are other people's.
"""
import argparse
import collections
import difflib
import heapq
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

NOTE = re.compile(r"\.(md|markdown)$", re.I)
ENTRY = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s|\s*\||\s*\[[^\]^][^\]]*\]:\s")
NUMBER = re.compile(rb"^(\s*)\d+([.)]\s)")
LINK = re.compile(rb"\]\(<?([^()\s<>]+)|(https?://[^\s)>|]+)")
LABEL = re.compile(rb"\[([^\[\]]+)\]\(")
WORD = re.compile(rb"[\w\x80-\xff]+")
LARGEST = 1 << 20
COLUMNS = ["merges", "git", "settled", "kept", "lines", "bytes", "twice", "wrong", "lost"]
BY_ENTRIES = ["settled", "kept", "lines", "bytes", "twice", "wrong"]


def git(repository, *words, feed=None):
    return subprocess.run(["git", "-C", repository, *words], input=feed, stdout=subprocess.PIPE, check=True).stdout


class Graph:
    """The commits of a repository, and the first of the best common ancestors of two."""

    def __init__(self, repository):
        self.parents, self.depth, self.merges = {}, {}, []
        for line in git(repository, "rev-list", "--all", "--topo-order", "--parents").decode().splitlines():
            commit, *parents = line.split()
            self.parents[commit] = parents
            if len(parents) == 2:
                self.merges.append(commit)
        for commit in reversed(self.parents):
            self.depth[commit] = 1 + max((self.depth.get(each, 0) for each in self.parents[commit]), default=0)

    def base(self, one, other):
        seen, queue = {one: 1, other: 2}, []
        for commit in {one, other}:
            heapq.heappush(queue, (-self.depth.get(commit, 0), commit))
        while queue:
            _, commit = heapq.heappop(queue)
            if seen[commit] == 3 or one == other:
                return commit
            for parent in self.parents.get(commit, []):
                if parent not in seen:
                    heapq.heappush(queue, (-self.depth.get(parent, 0), parent))
                seen[parent] = seen.get(parent, 0) | seen[commit]
        return None


def changed_notes(repository, pairs):
    """For each pair of trees: path -> (blob of the first, blob of the second) of the notes that changed."""
    feed = "".join(f"{one} {other}\n" for one, other in pairs).encode()
    told = git(repository, "-c", "core.quotepath=off", "diff-tree", "--stdin", "-r", "--raw", "--no-abbrev", "--no-renames",
               "--diff-filter=M", feed=feed)
    found, current = {pair: {} for pair in pairs}, None
    for line in told.decode("utf-8", "replace").splitlines():
        if not line.startswith(":"):
            current = tuple(line.split())
            continue
        fields, _, path = line.partition("\t")
        if NOTE.search(path):
            found[current][path] = tuple(fields.split()[2:4])
    return found


def named(repository, names):
    """The object that each name stands for, or None."""
    told = git(repository, "cat-file", "--batch-check", feed="".join(f"{name}\n" for name in names).encode())
    return [None if line.endswith(" missing") else line.split()[0] for line in told.decode("utf-8", "replace").splitlines()]


def blobs(repository, names):
    told = git(repository, "cat-file", "--batch", feed="".join(f"{name}\n" for name in names).encode())
    texts, at = {}, 0
    while at < len(told):
        end = told.index(b"\n", at)
        name, kind, *size = told[at:end].decode().split()
        at = end + 1
        if size:
            texts[name] = told[at:at + int(size[0])]
            at += int(size[0]) + 1
    return texts


def cases_of(repository, most):
    """(merge, path, base, ours, theirs, committed) of each case, the texts as bytes."""
    graph = Graph(repository)
    merges = [(merge, graph.base(*graph.parents[merge]), *graph.parents[merge]) for merge in graph.merges[:most]]
    merges = [each for each in merges if each[1] and each[1] not in each[2:]]
    trees = iter(named(repository, [f"{commit}^{{tree}}" for _, *three in merges for commit in three]))
    trees = [(next(trees), next(trees), next(trees)) for _ in merges]
    changed = changed_notes(repository, list(dict.fromkeys((base, side) for base, *sides in trees for side in sides)))
    cases = {}
    for (merge, *_), (base, ours, theirs) in zip(merges, trees):
        by_us, by_them = changed[base, ours], changed[base, theirs]
        for path in sorted(by_us.keys() & by_them.keys()):
            if by_us[path][1] != by_them[path][1]:
                cases.setdefault((by_us[path][0], by_us[path][1], by_them[path][1]), (merge, path))
    committed = named(repository, [f"{merge}:{path}" for merge, path in cases.values()])
    found = [(*where, *blob, made) for (blob, where), made in zip(cases.items(), committed) if made]
    for start in range(0, len(found), 200):
        part = found[start:start + 200]
        texts = blobs(repository, list(dict.fromkeys(name for each in part for name in each[2:])))
        for merge, path, *names in part:
            four = [texts.get(name) for name in names]
            if all(each is not None and len(each) <= LARGEST and b"\0" not in each for each in four):
                yield merge, path, *four


def lines_of(text):
    """Its lines without the numbers of lists, blanks at their ends, and how blanks stand between words."""
    return [NUMBER.sub(rb"\g<1>1\2", b" ".join(line.split())) for line in text.splitlines() if line.strip()]


def entries_of(text):
    return [line for line in lines_of(text) if ENTRY.match(line) and WORD.search(line)]


def targets_of(text):
    links = (LINK.search(line) for line in entries_of(text))
    return [re.sub(rb"^https?://(www\.)?|/$", b"", link.group(1) or link.group(2)) for link in links if link]


def words_of(text):
    return [word for line in lines_of(text) for word in WORD.findall(NUMBER.sub(b"", line).lower())]


def out_of_bounds(base, ours, theirs, made, committed):
    """The words of which the merge made too few or too many, and not as many as the person committed.

    At least as many as a side has where the other removed none of them; where one removed some, as many as both changes
    together leave. At most as many as both changes together leave; where both removed some, no more than either has."""
    in_base, in_ours, in_theirs, in_made, in_committed = (
        collections.Counter(words_of(text)) for text in (base, ours, theirs, made, committed))
    wrong = []
    for word in in_base.keys() | in_ours.keys() | in_theirs.keys() | in_made.keys():
        before, by_us, by_them, now = in_base[word], in_ours[word], in_theirs[word], in_made[word]
        together = by_us + by_them - before
        least = max(by_us, by_them) if min(by_us, by_them) >= before else max(0, together)
        most = min(by_us, by_them) if max(by_us, by_them) < before else max(0, together)
        if not min(least, most) <= now <= max(least, most) and now != in_committed[word]:
            wrong.append((word, before, by_us, by_them, now, in_committed[word]))
    return wrong


def doubled(things, ours, theirs, made):
    """Those of which the merge has more than either side."""
    in_ours, in_theirs, in_made = (collections.Counter(things(text)) for text in (ours, theirs, made))
    return [each for each, count in in_made.items() if count > max(in_ours[each], in_theirs[each], 1)]


def names_of(entry):
    """The entry, and what says what it is about: the target and the label of its first link."""
    label = LABEL.search(entry)
    return {entry, *targets_of(entry)} | ({label.group(1).lower()} if label else set())


def all_kept(base, made, committed):
    before, now = (collections.Counter(entries_of(text)) for text in (base, made))
    kept = {name for entry in entries_of(committed) for name in names_of(entry)}
    return all(names_of(entry) & kept for entry, count in now.items() if count > before[entry])


class Merger:
    def __init__(self, folder, command):
        self.paths, self.command = [folder / name for name in ("base.md", "ours.md", "theirs.md")], command

    def put(self, texts):
        for path, text in zip(self.paths, texts):
            path.write_bytes(text)

    def run(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def by_git(self):
        base, ours, theirs = map(str, self.paths)
        return self.run(["git", "merge-file", "-p", "-q", ours, base, theirs])[:2]

    def by_us(self):
        code, made, told = self.run([*self.command, *map(str, self.paths), "--explain"])
        if code not in (0, 1):
            sys.exit(f"{' '.join(self.command)} ended with {code}")
        return code, made, told


def conflicting_lines(text):
    """Of what git left: lines in conflicts, and those of them that are entries."""
    inside, lines, entries = False, 0, 0
    for line in text.splitlines():
        if line.startswith((b"<<<<<<< ", b">>>>>>> ")):
            inside = line.startswith(b"<")
        elif inside and line.strip() and line != b"=======":
            lines += 1
            entries += ENTRY.match(line) is not None
    return lines, entries


def differing(texts):
    """The lines of each that do not stand equally often in all of them: the rest tells nothing, and is most."""
    counts = [collections.Counter(text.splitlines()) for text in texts]
    kept = {line for count in counts for line in count if len({each[line] for each in counts}) > 1}
    return [b"\n".join(line for line in text.splitlines() if line in kept) for text in texts]


def judge(case, merger):
    """What one case adds to each column, the columns to look at, and lines of lists and all lines that conflict."""
    _, _, base, ours, theirs, committed = case
    merger.put((base, ours, theirs))
    (git_left, by_git), (we_left, made, told) = merger.by_git(), merger.by_us()
    tally = {"merges": 1, "git": git_left != 0, "lost": git_left == 0 and we_left != 0}
    doubts = ["lost"] if tally["lost"] else []
    if tally["lost"]:
        tally |= {reason: 1 for reason in set(re.findall(r": (conflict, .*)", told)) or {"conflict, no reason stated"}}
    lines, entries = conflicting_lines(by_git) if git_left else (0, 0)
    is_same = made == committed
    if not we_left and (git_left or made != by_git):  # else there is nothing of ours to judge
        base, ours, theirs, made_lines, committed = differing((base, ours, theirs, made, committed))
    if git_left and not we_left:
        tally |= {
            "settled": 1,
            "kept": all_kept(base, made_lines, committed),
            "lines": sorted(lines_of(made_lines)) == sorted(lines_of(committed)),
            "bytes": is_same,
        }
        doubts += [] if tally["kept"] else ["kept"]
    if not we_left and (git_left or made != by_git):
        tally["twice"] = bool(doubled(entries_of, ours, theirs, made_lines) or doubled(targets_of, ours, theirs, made_lines))
        tally["wrong"] = bool(out_of_bounds(base, ours, theirs, made_lines, committed))
        doubts += [column for column in ("twice", "wrong") if tally[column]]
    if git_left and not we_left and "merged entry by entry" in told:
        tally |= {f"entries {column}": tally[column] for column in BY_ENTRIES}
    return collections.Counter({name: int(value) for name, value in tally.items()}), doubts, made, lines, entries


def capped(weights):
    """The greatest weight each at which none is above a fifth of all: fewer than five cannot be."""
    cap = max(weights, default=0)
    for cap in sorted(set(weights), reverse=True):
        if 5 * cap <= sum(min(each, cap) for each in weights):
            break
    return cap


def row(name, tally):
    share = lambda part, whole: f"{100 * tally[part] / tally[whole]:.0f} %" if tally[whole] else "-"
    counts = [f"{tally[column]:.0f}" for column in COLUMNS]
    return f"{name:<24}" + "".join(f"{each:>9}" for each in counts) + "".join(
        f"{share(*each):>7}" for each in [("settled", "git"), ("kept", "settled"), ("lines", "settled"), ("bytes", "settled")])


def summary(name, tallies):
    """Weighted: git's conflicts of a repository count as much as the cap lets them."""
    cap, total = capped([each["git"] for each in tallies]), collections.Counter()
    for each in tallies:
        weight = min(1, cap / each["git"]) if each["git"] else 1
        for column in COLUMNS:
            total[column] += each[column] * weight
    return row(name, total)


def by_entries(tally):
    """What the list rule settled, as a tally of its own."""
    return collections.Counter({column: tally[f"entries {column}"] for column in BY_ENTRIES} | {"git": tally["entries settled"]})


def measured(cases, merger, seen=lambda case, counts, doubts, made: None):
    """The tally of the cases of a repository, and whether most of its conflicting lines are entries."""
    tally, lines, entries = collections.Counter(), 0, 0
    for case in cases:
        counts, doubts, made, some, listed = judge(case, merger)
        tally, lines, entries = tally + counts, lines + some, entries + listed
        seen(case, counts, doubts, made)
    return tally, 2 * entries > lines


def dealt(base, later):
    """The changes between two texts as those of two sides, in turn; of lines inserted at one place each has a half."""
    before, after = base.splitlines(True), later.splitlines(True)
    ours, theirs, turn = [], [], 0
    for kind, first, last, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        sides = [before[first:last], before[first:last]]
        if kind == "insert":
            middle = (start + end + 1) // 2
            sides = [after[start:middle], after[middle:end]]
        elif kind != "equal":
            sides[turn % 2] = after[start:end]
            turn += 1
        ours += sides[0]
        theirs += sides[1]
    return b"".join(ours), b"".join(theirs)


def published_cases(modules):
    for older in sorted(modules.glob("*-older")):
        for path in sorted(each for each in older.glob("*") if NOTE.search(each.name)):
            after = modules / older.name.removesuffix("-older") / path.name
            if not after.exists():
                continue
            old, new = path.read_bytes().splitlines(True), after.read_bytes().splitlines(True)
            # One case for each change, that one conflict does not hide what the others do; and one for all of them.
            for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                if kind != "equal":
                    later = b"".join(old[:first] + new[start:end] + old[last:])
                    yield older.name, path.name, b"".join(old), *dealt(b"".join(old), later), later
            yield older.name, path.name, b"".join(old), *dealt(b"".join(old), b"".join(new)), b"".join(new)


def make_repository(folder):
    """Three merges: an entry added by each side, one word changed by both, and edits that git merges too."""
    repository = str(folder / "repository")
    subprocess.run(["git", "init", "-q", "-b", "main", repository], check=True)
    settings = ["-c", "user.name=T", "-c", "user.email=t@example.com"]
    texts = [("- rope\n", "- rope\n- tar of pine\n", "- rope\n- salt of the sea\n", "- rope\n- tar of pine\n- salt of the sea\n"),
             ("one fine line\n", "one good line\n", "one odd line\n", "one good line\n"),
             ("first\n\nsecond\n\nthird\n", "1st\n\nsecond\n\nthird\n", "first\n\nsecond\n\n3rd\n", "1st\n\nsecond\n\n3rd\n")]

    def commit(which, *parents):
        for number, each in enumerate(texts):
            Path(repository, f"{number}.md").write_text(each[which])
        git(repository, "add", "-A")
        tree = git(repository, "write-tree").decode().strip()
        told = [word for parent in parents for word in ("-p", parent)]
        return git(repository, *settings, "commit-tree", tree, *told, "-m", "edit").decode().strip()

    base = commit(0)
    ours, theirs = commit(1, base), commit(2, base)
    git(repository, "update-ref", "refs/heads/main", commit(3, ours, theirs))
    return repository


def check(own):
    with tempfile.TemporaryDirectory() as folder:
        repository, folder = make_repository(Path(folder)), Path(folder)
        tally, _ = measured(cases_of(repository, None), Merger(folder, own))
        wanted = {"merges": 3, "git": 2, "settled": 1, "kept": 1, "lines": 1, "bytes": 1}
        tally = collections.Counter({column: tally[column] for column in COLUMNS})
        assert +tally == wanted, f"{+tally}, not {wanted}"
        dropping, _ = measured(cases_of(repository, None), Merger(folder, ["sh", "-c", 'grep -v -e rope -e second "$2"', "-"]))
        assert dropping["wrong"] >= 1, dropping
        doubling, _ = measured(cases_of(repository, None), Merger(folder, ["sh", "-c", 'cat "$1" "$2"', "-"]))
        assert doubling["twice"] >= 1 and doubling["wrong"] >= 1, doubling


def published(own, modules):
    with tempfile.TemporaryDirectory() as folder:
        merger, different = Merger(Path(folder), own), []

        def seen(case, counts, doubts, made):
            git_left, by_git = merger.by_git()
            is_other = git_left == 0 and not counts["lost"] and made != by_git
            if is_other or {"kept", "twice", "wrong"} & {*doubts} or counts["conflict, no reason stated"]:
                different.append((*case[:2], *doubts))

        tally, _ = measured(published_cases(modules), merger, seen)
    print(dict(tally))
    if different or tally["lost"] > 1 or not tally["settled"]:
        sys.exit(f"not as published: {different}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--most", type=int)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--published", type=Path)
    parser.add_argument("repositories", nargs="*")
    asked = parser.parse_args()
    own = shlex.split(os.environ.get("WS_MERGE") or f"{Path(os.environ['WS_BIN_DIR']).resolve() / 'ws'} merge")
    if asked.check:
        return check(own)
    if asked.published:
        return published(own, asked.published)
    if not asked.repositories:
        sys.exit(__doc__)
    print(f"{'':<24}" + "".join(f"{each:>9}" for each in COLUMNS) + "settled   kept  lines  bytes".rjust(28))
    tallies, of_lists = [], []
    with tempfile.TemporaryDirectory() as folder:
        merger = Merger(Path(folder), own)
        for which in asked.repositories:
            name, _, repository = which.rpartition("=")
            name = name or Path(repository).name

            def seen(case, counts, doubts, made):
                if asked.each and counts["settled"]:
                    print(name, case[0][:12], case[1], *(column for column in COLUMNS[3:] if counts[column]))
                if asked.show and doubts:
                    target = asked.show / "-".join([name, case[0][:12], Path(case[1]).stem, *doubts])
                    target.mkdir(parents=True, exist_ok=True)
                    for file, text in zip(("base", "ours", "theirs", "committed", "made"), (*case[2:], made)):
                        (target / file).write_bytes(text)

            tally, is_listed = measured(cases_of(repository, asked.most), merger, seen)
            tallies.append(tally)
            of_lists += [tally] if is_listed else []
            print(row(name, tally), flush=True)
    total = sum(tallies, collections.Counter())
    print(row("all", total))
    print(summary("all, capped", tallies))
    print(summary("lists, capped", of_lists))
    settled = [by_entries(each) for each in tallies]
    print(row("by entries", sum(settled, collections.Counter())))
    print(summary("by entries, capped", settled))
    print("lost:", ", ".join(f"{total[each]} {each}" for each in sorted(total) if each.startswith("conflict, ")) or "none")
    wrong = sum(each["twice"] + each["wrong"] for each in tallies)
    sys.exit(f"{wrong} merges are wrong" if wrong else 0)


if __name__ == "__main__":
    main()
