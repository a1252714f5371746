#!/usr/bin/env python3
"""A git history of an npm package's published versions, for `replayed_renames_test.py`.

usage: published_history.py FOLDER PACKAGE[@RANGE][:ROOT]...

Makes FOLDER/NAME for each package: a repository with one commit per published version, in the order of the version
numbers; prereleases too, unless a range is given: `npm@>=6`. ROOT, a folder of the package, is taken for the whole: for
documents whose links begin with `/` there. A version is fetched by `npm pack`, which runs none of the package's code.
Kept are notes, pictures, and what a note may link to: other files whose name ends the target of a link. Left out are
hidden names, `node_modules` and files over 1 MiB, and versions in which nothing of this changed. An existing repository
is continued after its last version. MOST: at most so many versions, the newest (default 200).

A step of such a history is all that changed between two versions: renames, and the links that people repaired.
Name a few packages; a registry is no catalogue to search through. Keep the repositories out of the project: the texts are
other people's.
"""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NOTE = re.compile(r"\.(md|markdown)$", re.I)
PICTURE = re.compile(r"\.(png|jpe?g|gif|svg|webp|pdf|mp4)$", re.I)
TARGET = re.compile(rb"\]\(\s*<?([^\s()<>]+)|^\s*\[[^\]\n]+\]:\s*<?([^\s<>]+)|(?:src|href)=[\"']([^\"']+)", re.M)
LARGEST = 1 << 20
AT_ONCE = 20


def run(*command, cwd=None, feed=None):
    done = subprocess.run(command, cwd=cwd, input=feed, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))[:200]}: {done.stderr.decode()[-500:]}")
    return done.stdout


def name_of(spec):
    return spec[:1] + spec[1:].partition("@")[0]


def place_of(version):
    """Sorts versions by number, prereleases before their release."""
    number, _, rest = version.partition("+")[0].partition("-")
    parts = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in rest.split(".")] if rest else []
    return [int(part) for part in number.split(".")], not rest, parts


def versions_of(spec):
    told = json.loads(run("npm", "view", spec, "versions" if name_of(spec) == spec else "version", "--json"))
    return sorted([told] if isinstance(told, str) else told, key=place_of)


def packed(name, versions, folder):
    """Version and archive of those that can be had, in order."""
    specs = [f"{name}@{version}" for version in versions]
    try:
        told = json.loads(run("npm", "pack", *specs, "--json", "--pack-destination", folder, "--cache", folder / "cache"))
    except OSError as error:
        if len(versions) > 1:  # one that cannot be had ends the command
            return [pair for version in versions for pair in packed(name, [version], folder)]
        print(error, file=sys.stderr)
        return []
    return [(each["version"], folder / each["filename"].replace("@", "").replace("/", "-")) for each in told]


def fetched(name, versions, folder):
    for start in range(0, len(versions), AT_ONCE):
        for version, archive in packed(name, versions[start:start + AT_ONCE], folder):
            yield version, archive
            archive.unlink()
        run("rm", "-rf", folder / "cache")


def files_in(archive, root):
    """Path and bytes of the files that are kept."""
    files = {}
    with tarfile.open(archive) as members:
        for member in members:
            path = member.name.partition("/")[2]
            if not path.startswith(root):
                continue
            path = path[len(root):]
            if member.isfile() and member.size <= LARGEST and "/." not in "/" + path and "node_modules/" not in path and ".." not in path:
                files[path] = members.extractfile(member).read()
    ends = {next(filter(None, found)).partition(b"#")[0].rpartition(b"/")[2].decode("utf-8", "replace")
            for path, text in files.items() if NOTE.search(path) for found in TARGET.findall(text)}
    return {path: text for path, text in files.items() if NOTE.search(path) or PICTURE.search(path) or path.rpartition("/")[2] in ends}


def commit(repository, version, files):
    """One commit with exactly these files, by a stream: nothing is checked out."""
    stream = [f"commit refs/heads/main\ncommitter T <t@example.com> 0 +0000\ndata {len(version)}\n{version}\n".encode()]
    parent = subprocess.run(["git", "rev-parse", "-q", "--verify", "refs/heads/main"], cwd=repository, stdout=subprocess.PIPE, check=False).stdout.decode().strip()
    stream += [f"from {parent}\n".encode()] if parent else []
    stream += [b"deleteall\n"]
    for path, text in files.items():
        stream += [f"M 644 inline {json.dumps(path, ensure_ascii=False)}\ndata {len(text)}\n".encode(), text, b"\n"]
    before = run("git", "rev-parse", "main^{tree}", cwd=repository) if parent else b""
    run("git", "fast-import", "--quiet", "--force", cwd=repository, feed=b"".join(stream))
    if run("git", "rev-parse", "main^{tree}", cwd=repository) == before:
        run("git", "update-ref", "refs/heads/main", parent, cwd=repository)


def make_history(folder, what):
    spec, _, root = what.partition(":")
    name = name_of(spec)
    repository = folder / name.replace("@", "").replace("/", "-")
    versions = versions_of(spec)[-int(os.environ.get("MOST", "200")):]
    if not repository.exists():
        run("git", "init", "-q", "-b", "main", repository)
    else:
        last = run("git", "log", "-1", "--format=%s", "main", cwd=repository).decode().strip()
        versions = versions[versions.index(last) + 1:] if last in versions else versions
    with tempfile.TemporaryDirectory() as work:
        for version, archive in fetched(name, versions, Path(work)):
            commit(repository, version, files_in(archive, root and root + "/"))
    print(repository, run("git", "rev-list", "--count", "main", cwd=repository).decode().strip(), "versions", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for spec in sys.argv[2:]:
        make_history(folder, spec)


if __name__ == "__main__":
    main()
