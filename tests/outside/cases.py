"""Cases of one feature, or of two that meet: fixed courses with the one outcome that the documents allow."""
import os
import signal
import time

import judge
import matrix
from episodes import guarded
from exact import (CUTS, Matrix, beside, case, cut, holds, ids, normal, normal_rows, one_sided, quiet, requests, sent, serves,
                   shown_rows, stats, told)
from tree import NOTE, digest


def begin(desk, files, trees=None):
    """All trees hold these, in step."""
    first, *others = trees or desk.trees
    for path, content in files.items():
        first.put(path, content)
    for tree in (first, *others):
        desk.run(tree, "sync", "--json")
        desk.agreed[tree.name] = dict(files)
        holds(desk, tree, files, "at the beginning")
    serves(desk, files, "at the beginning")
    return ids(desk)


def both(desk):
    return desk.trees[0], desk.trees[1]


def all_alike(desk, files, why, further=True):
    for tree in desk.trees:
        desk.run(tree, "sync", "--json", "--allow-deletes")
    for tree in desk.trees:
        desk.run(tree, "sync", "--json", "--allow-deletes")
    for tree in desk.trees:
        holds(desk, tree, files, why)
    serves(desk, files, why)
    if further:
        for tree in desk.trees:
            quiet(desk, tree)


def same_ids(desk, old, moved=(), why="", but=()):
    """Each path has the document that it had; `moved`: (new path, old path)."""
    now, moved = ids(desk), dict(moved)
    for path, identity in now.items():
        of = moved.get(path, path)
        if of in old and path not in but:
            desk.expect(identity == old[of], "ids stay", "%s is another document, %s" % (path, why))


# Back and forth.

@case("", "keep")
def ladder(desk, how=""):
    """Runs of every command, one upon the other; undo leads back over each, redo up again, and undo to the beginning:
    the files lie here as before the first run, and the service has none of them."""
    tree, other = both(desk)
    if how:
        tree.set_filters([], {"links": "keep"})
    note = lambda links=(): desk.text(links=links)
    a, b, c = note(["[b](b.md) and [c](sub/c.md)", "![p](img/p.png)"]), note(["![q](img/q.png)"]), note(["[up](../a.md)"])
    tree.put("a.md", a)
    tree.put("b.md", b)
    tree.put("sub/c.md", c)
    tree.put("img/p.png", desk.picture())
    tree.put("img/q.png", desk.picture())

    def see():
        desk.look(True)
        return desk.lying(tree.files()), desk.state.by_path(), dict(desk.state.files)

    rungs = []  # (what, what lay before, what lies after): a run that sent something, with the commands whose edits it sent

    def run(what, before, *commands):
        for words in (*commands, []):
            desk.run(tree, "sync", *words, "--json", codes=(0,))
        rungs.append((what, before, see()))

    beginning = see()
    run("first", beginning)
    old = see()
    tree.put("a.md", matrix_head(a))
    tree.put("img/p.png", desk.picture())
    run("edit and replace", old)
    old = see()
    tree.rename("sub/c.md", "c2.md")
    tree.remove("img/q.png")
    tree.put("n.md", note())
    run("rename, delete, create", old)
    run("mv of a note", see(), ["mv", "b.md", "far/b.md"])
    run("mv of a picture and of a folder", see(), ["mv", "img/p.png", "pics/p 1.png"], ["mv", "far", "near"])
    old = see()
    tree.remove("n.md")
    tree.put("n.md/inner.md", note())
    run("a note became a folder", old)
    old = see()
    tree.remove("c2.md")
    run("deleted", old)
    run("restored", see(), ["restore", "c2.md"])
    for what, before, after in rungs:
        desk.expect(before != after, "harness", "%s changed nothing" % what)

    def compare(wanted, what):
        for name, one, now in zip(("here", "on the service", "in the list of files"), wanted, see()):
            desk.expect(one == now, "undo takes back", "%s, after %s, other: %s" % (
                name, what, judge.short(judge.differing(one, now))))

    for turn in range(2):
        for what, before, _ in reversed(rungs):
            desk.run(tree, "sync", "undo", "--json", "--allow-deletes", codes=(0,))
            compare(before, "undo of `%s`, turn %d" % (what, turn + 1))
        desk.run(tree, "sync", "undo", "--json", "--allow-deletes", codes=(0, 6))
        compare(beginning, "undo of nothing")
        for what, _, after in rungs if turn == 0 else ():
            desk.run(tree, "sync", "redo", "--json", "--allow-deletes", codes=(0,))
            compare(after, "redo of `%s`" % what)
        if turn == 0:
            quiet(desk, tree)
    desk.run(other, "sync", "--json")
    holds(desk, other, {}, "after all was taken back")
    desk.run(tree, "sync", "--json", codes=(0,))
    compare(rungs[0][2], "a run after all was taken back")
    quiet(desk, tree)


def matrix_head(text, word=b"queen"):
    lines = text.split(b"\n")
    at = [number for number, line in enumerate(lines) if line.startswith(b"w")][0]
    lines[at] = lines[at].replace(b"stone", word)
    return b"\n".join(lines)


def matrix_tail(text, word=b"steel"):
    lines = text.split(b"\n")
    at = [number for number, line in enumerate(lines) if line.startswith(b"w")][-1]
    lines[at] = lines[at].replace(b"stone", word)
    return b"\n".join(lines)


@case(*[(operation, phase) for operation, phase in CUTS])
def undo_cut(desk, operation, phase):
    """An undo that was killed at a request and is finished is all of the undo, or nothing of it; then undo is whole."""
    world = Matrix(desk, shapes=(0,), keep=one_sided)
    world.do()
    world.sync_there()
    desk.run(world.here, "sync", "--json")
    cut(desk, world.here, ["sync", "undo", "--allow-deletes", "--json"], operation, phase)
    for _ in range(2):
        desk.run(world.here, "sync", "--json", "--allow-deletes", codes=(0, 7), faulty=True)
    here = desk.lying(world.here.files())
    desk.expect(here in (world.base, world.after), "undo takes back", "a cut undo left half: %s" % judge.short(
        judge.differing(world.base, here) & judge.differing(world.after, here) or judge.differing(world.base, here)))
    serves(desk, here, "after a cut undo was finished")
    if here == world.after:
        desk.run(world.here, "sync", "undo", "--allow-deletes", "--json")
        holds(desk, world.here, world.base, "taken back")
    else:
        desk.run(world.here, "sync", "redo", "--allow-deletes", "--json")
        holds(desk, world.here, world.after, "redone")
        serves(desk, world.after, "redone")
    quiet(desk, world.here)


@case("")
def undo_previewed(desk):
    """`undo -n` shows the rows of notes and of pictures that undo then does."""
    tree, _ = both(desk)
    text = desk.text(links=["![p](p.png) ![q](q.png)"])
    begin(desk, {"d/a.md": text, "d/p.png": desk.picture(), "d/q.png": desk.picture(), "d/b.md": desk.text()})
    tree.rename("d/p.png", "d/r.png")
    tree.put("d/q.png", desk.picture())
    tree.put("d/a.md", matrix_head(text))
    desk.run(tree, "sync", "--json")
    shown = normal_rows(desk.run(tree, "sync", "undo", "-n", "--json"))
    done = normal_rows(desk.run(tree, "sync", "undo", "--json"))
    desk.expect(shown == done, "plan = act", "undo -n shows no row of a picture, or another: %s" % judge.short(set(shown) ^ set(done)))


# Rules.

RULES = {  # name -> (rules of .wsignore, settings, which kind they hide)
    "folder": (["hid*/"], {}, "both"),
    "notes": (["*.md", "!keep.md"], {}, "note"),
    "path": (["/hid*/a.md"], {}, "note"),
    "pictures": (["*.png"], {}, "picture"),
    "nested": (None, {}, "both"),
    "off": ([], {"attachments": "off"}, "picture"),
    "exclude": ([], {"attachments_exclude": ["**/p.png"]}, "picture"),
    "max bytes": ([], {"attachments_max_bytes": 20}, "picture"),
    "file bytes": ([], {"max_file_bytes": 30}, "note"),
    "include": ([], {"include": ["*.txt"]}, "text"),
    "portable": ([], {"names": "portable"}, "odd"),
}
WHATS = ["missing_here", "missing_there", "edited_here", "edited_there", "edited_both", "nothing"]


@case(*[(rule,) for rule in RULES])
def rule_set_and_removed(desk, rule):
    """A rule hides many; each goes missing, or changes, here or there; nothing is deleted by it, nor when it goes."""
    ignored, settings, kind = RULES[rule]
    tree, other = both(desk)
    name = {"odd": "wh?t.md", "text": "a.txt"}.get(kind, "a.md")
    files = {}
    if kind == "text":
        for one in (tree, other):
            one.set_filters([], {"include": ["*.txt"]})
    for what in WHATS:
        files["hid_%s/%s" % (what, name)] = desk.text(links=["![p](p.png)"] if kind != "text" else ())
        if kind != "text":
            files["hid_%s/p.png" % what] = desk.picture(40)
    for number in range(16):
        files["keep/%d/keep.md" % number] = desk.text(1)
    old = begin(desk, files)
    # The rule, here.
    if rule == "nested":
        for what in WHATS:
            tree.put("hid_%s/.wsignore" % what, b"*\n")
    elif rule == "include":
        tree.set_filters([], {})
    else:
        tree.set_filters(ignored, settings)
    kinds = {"both": ("note", "picture"), "note": ("note",), "odd": ("note",), "text": ("note",), "picture": ("picture",)}[kind]
    hidden = {}
    for what in WHATS:
        for which in kinds:
            hidden[what, which] = "hid_%s/%s" % (what, name if which == "note" else "p.png")
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    told(desk, ended, [], "a rule does nothing")
    desk.run(other, "sync", "--json", codes=(0,))
    for one in both(desk):
        holds(desk, one, files, "once the rule is set")
    serves(desk, files, "once the rule is set")
    # What happens meanwhile.
    want = dict(files)
    change = lambda which, text, edit: desk.picture(40) if which == "picture" else edit(text)
    for (what, which), path in hidden.items():
        if what == "missing_here":
            tree.remove(path)
        elif what == "missing_there":
            other.remove(path)
        elif what == "edited_here":
            want[path] = change(which, files[path], matrix_head)
            tree.put(path, want[path])
        elif what == "edited_there":
            want[path] = change(which, files[path], matrix_tail)
            other.put(path, want[path])
        elif what == "edited_both" and which == "note":
            tree.put(path, matrix_head(files[path]))
            other.put(path, matrix_tail(files[path]))
            want[path] = matrix_head(matrix_tail(files[path]))
    before_there = desk.look(True).state
    other_wants = {path: other.files()[path] for path in desk.lying(other.files())}
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    told(desk, ended, [], "what a rule hides is not sent")
    desk.expect(desk.state.by_path() == before_there.by_path() and desk.state.files == before_there.files, "a rule takes nothing",
                "the service changed under a rule")
    desk.run(other, "sync", "--json", codes=(0,))
    holds(desk, other, other_wants, "under a rule elsewhere")
    here = desk.lying(tree.files())
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    desk.expect({path: content for path, content in desk.lying(tree.files()).items() if path in hidden.values()} ==
                {path: content for path, content in here.items() if path in hidden.values()}, "a rule takes nothing",
                "hidden files are changed here: %s" % judge.short(judge.differing(desk.lying(tree.files()), here)))
    # The rule goes.
    if rule == "nested":
        for what in WHATS:
            tree.remove("hid_%s/.wsignore" % what)
    elif rule == "include":
        tree.set_filters([], {"include": ["*.txt"]})
    else:
        tree.set_filters([], {})
    desk.run(tree, "sync", "--json", codes=(0,))
    gone = [hidden["missing_there", which] for which in kinds]
    for path in gone:  # archived there: kept here and told
        desk.expect(tree.files().get(path) == files[path], "a rule takes nothing", "%s is gone here once the rule is" % path)
        desk.expect(path not in desk.state.by_path() and path not in desk.state.files, "a rule takes nothing", "%s came to life again" % path)
    there = {path: content for path, content in want.items() if path not in gone}
    serves(desk, there, "once the rule is gone")
    holds(desk, tree, want, "once the rule is gone")
    desk.run(other, "sync", "--json", codes=(0,))
    holds(desk, other, there, "once the rule is gone elsewhere")
    same_ids(desk, old, why="once the rule is gone")
    told(desk, desk.run(tree, "sync", "--json", codes=(0,)), [], "a further run does nothing")


# The guard.

GUARDS = [  # notes, of them gone, pictures, of them gone
    (44, 11, 0, 0), (43, 11, 0, 0), (30, 10, 0, 0), (4, 2, 0, 0), (4, 3, 0, 0), (3, 2, 0, 0), (3, 3, 0, 0), (2, 2, 0, 0), (1, 1, 0, 0),
    (9, 0, 3, 3), (9, 0, 4, 4), (9, 0, 4, 2), (9, 0, 5, 3), (30, 5, 12, 6), (30, 4, 12, 6), (12, 5, 13, 6)]


@case(*GUARDS, *[("emptied", *one) for one in GUARDS if one[1] and not one[2]])
def guard_weighs(desk, *words):
    """What stops is what promise 6 says; it changes nothing on either side, sends no edit beside it, and a yes lets it go."""
    emptied = words[0] == "emptied"
    notes, gone_notes, pictures, gone_pictures = words[-4:]
    tree, other = both(desk)
    files = {"n/%02d.md" % number: desk.text(1) for number in range(notes)}
    if pictures:
        files["n/%02d.md" % (notes - 1)] += b"\n" + b"".join(b"![p](../p/%02d.png)\n" % number for number in range(pictures))
        files.update({"p/%02d.png" % number: desk.picture() for number in range(pictures)})
    begin(desk, files)
    gone = ["n/%02d.md" % number for number in range(gone_notes)] + ["p/%02d.png" % number for number in range(gone_pictures)]
    want = dict(files)
    for path in gone:
        if emptied:
            tree.put(path, b"")
            want[path] = b""
        else:
            tree.remove(path)
            want.pop(path)
    stops = guarded(gone_notes, notes, 2) or guarded(gone_pictures, pictures, 4) if pictures else guarded(gone_notes, notes, 2)
    stops = stops or bool(pictures and gone_notes and gone_pictures) and guarded(gone_notes + gone_pictures, notes + pictures, 2)
    desk.met("guard %s: %s" % (words, "stops" if stops else "goes on"))
    edited = "n/%02d.md" % (notes - 1)
    if edited not in gone and not pictures:
        want[edited] = matrix_head(files[edited])
        tree.put(edited, want[edited])
    if stops:
        for verb in (["sync"], ["sync", "--yes"], ["sync", "status", "--exit-code"], ["sync", "-n"]):
            before, stat = desk.look(True), stats(tree)
            desk.world.service.forget_requests()
            ended = desk.run(tree, *verb, "--json", codes={"status": (13,), "-n": (0, 7)}.get(verb[1] if verb[1:] else "", (7,)))
            desk.expect(not desk.changed(before) and stats(tree) == stat, "7 changed nothing", "`%s` did" % " ".join(verb))
            desk.expect(not desk.world.service.writes(), "7 changed nothing", "`%s` sent %s" % (" ".join(verb), desk.world.service.writes()))
        desk.run(tree, "sync", "--allow-deletes", "--json", codes=(0,))
    else:
        desk.run(tree, "sync", "--json", codes=(0,))
    holds(desk, tree, want, "let go")
    serves(desk, want, "let go")
    # On the other side, where it comes.
    ended = desk.run(other, "sync", "--json", codes=(7,) if stops else (0,))
    if stops:
        holds(desk, other, files, "stopped by the guard")
        desk.run(other, "sync", "--allow-deletes", "--json", codes=(0,))
    holds(desk, other, want, "let go elsewhere")
    for one in both(desk):
        quiet(desk, one)
    desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, tree, files, "brought back by undo")
    serves(desk, files, "brought back by undo")


# Many.

def many_notes(desk, count, folder="many"):
    return {"%s/%03d.md" % (folder, number): desk.text(1) for number in range(count)}


@case((101, "new"), (101, "edited"), (101, "renamed"), (101, "deleted"), (100, "new"), (201, "edited"), (12, "pictures"))
def border(desk, count, what):
    """At and beyond a batch: each is sent once, received, one operation, taken back; and cut in its second batch."""
    tree, other = both(desk)
    pictures = what == "pictures"
    if pictures:
        files = {"many/%03d.png" % number: desk.picture() for number in range(count)}
        start = {"many/a.md": desk.text()}
    else:
        files = many_notes(desk, count)
        start = {"keep.md": desk.text()}
    base = {**start, **({} if what in ("new", "pictures") else files)}
    old = begin(desk, base)
    want = dict(base)
    rows = []
    if what in ("new", "pictures"):
        for path, content in files.items():
            tree.put(path, content)
        want.update(files)
        rows = [("push_create", path, "") for path in files]
        if pictures:
            want["many/a.md"] += b"\n" + b"".join(b"![p](%03d.png)\n" % number for number in range(count))
            tree.put("many/a.md", want["many/a.md"])
            rows.append(("push_update", "many/a.md", ""))
    elif what == "edited":
        for path in files:
            want[path] = matrix_head(files[path])
            tree.put(path, want[path])
        rows = [("push_update", path, "") for path in files]
    elif what == "renamed":
        tree.rename("many", "other")
        want = {path.replace("many/", "other/"): content for path, content in want.items()}
        rows = [("push_move", path.replace("many/", "other/"), path) for path in files]
    else:
        for path in files:
            tree.remove(path)
            want.pop(path)
        rows = [("push_delete", path, "") for path in files]
    moved = [(path.replace("many/", "other/"), path) for path in files] if what == "renamed" else []
    desk.world.service.forget_requests()
    cut(desk, tree, ["sync", "--allow-deletes", "--json"], "upload.put" if pictures else "sync.commit", "after", 3 if pictures else 1)
    ended = desk.run(tree, "sync", "--json", "--allow-deletes", faulty=True)
    desk.run(tree, "sync", "--json", "--allow-deletes")
    holds(desk, tree, want, "cut and finished")
    serves(desk, want, "cut and finished")
    runs = [row["run"] for row in desk.world.runs(tree)]
    desk.expect(runs == [2, 1], "one operation", "the log has %s" % runs)
    named = {name for row in shown_rows(desk, tree, 2) for name in (row["path"], row["previous_path"]) if name}
    desk.expect({row[1] for row in rows} <= named, "one operation", "not named: %s" % judge.short({row[1] for row in rows} - named))
    same_ids(desk, old, moved, "cut and finished")
    desk.run(tree, "sync", "undo", "--allow-deletes", "--json")
    holds(desk, tree, base, "taken back")
    serves(desk, base, "taken back")
    desk.run(tree, "sync", "redo", "--allow-deletes", "--json")
    holds(desk, tree, want, "redone")
    # The same in one go, from the beginning.
    desk.run(tree, "sync", "undo", "--allow-deletes", "--json")
    again = ids(desk)
    for path in [path for path in base if path not in want]:
        (tree.folder / path).unlink() if what == "deleted" else None
    if what == "renamed":
        tree.rename("many", "other")
    for path, content in want.items():
        if what != "renamed" and base.get(path) != content:
            tree.put(path, content)
    desk.world.service.forget_requests()
    ended = desk.run(tree, "sync", "--allow-deletes", "--json")
    told(desk, ended, rows)
    items, operations = sent(desk)
    notes = [row for row in rows if NOTE.search(row[1])]
    desk.expect(len(items) == len(notes) == len({item["path"] for item in items}), "sent once", "%d items for %d rows" % (len(items), len(notes)))
    if not pictures:
        desk.expect(operations["sync.commit"] <= 1 + count // 100 and operations["sync.push"] <= 1 + count // 100,
                    "O(N/100) calls", str(dict(operations)))
    same_ids(desk, again, moved, "in one go")
    ended = desk.run(other, "sync", "--json", "--allow-deletes")
    told(desk, ended, matrix.received(rows))
    holds(desk, other, want, "received")
    for one in both(desk):
        quiet(desk, one)


# Links.

def tiny(links):
    return links.encode() + b"\n"


@case(*[(how, moving) for how in ("mv", "fix", "keep", "fix rename", "keep cut") for moving in ("note", "picture", "linking", "folder")])
def short_notes(desk, how, moving):
    """Notes that are nothing but links: they change wholly and keep their documents; of two links the one that must changes."""
    tree, other = both(desk)
    files = {"d/a.md": tiny("[b](b.md) ![p](img/p.png)"), "d/b.md": tiny("[a](a.md)"), "c.md": tiny("[b](d/b.md)"),
             "d/two.md": tiny("[b](b.md#x) [c](../c.md \"T\") `[b](b.md)`"), "d/img/p.png": desk.picture(),
             "e.md": tiny("![p](d/img/p.png) [a]: no"), "z/far.md": desk.text(), "front.md": b"---\nx: as in d/b.md\n---\n[b](/d/b.md)\n"}
    old = begin(desk, files)
    source, target = {"note": ("d/b.md", "z/b2.md"), "picture": ("d/img/p.png", "d/q.png"), "linking": ("d/a.md", "a.md"),
                      "folder": ("d", "f/d")}[moving]
    want = dict(files)
    change = {
        "note": {"d/a.md": (b"(b.md)", b"(../z/b2.md)"), "c.md": (b"d/b.md", b"z/b2.md"), "d/two.md": (b"(b.md#x)", b"(../z/b2.md#x)"),
                 "front.md": (b"(/d/b.md)", b"(/z/b2.md)"), "d/b.md": (b"a.md", b"../d/a.md")},
        "picture": {"d/a.md": (b"img/p.png", b"q.png"), "e.md": (b"d/img/p.png", b"d/q.png")},
        "linking": {"d/a.md": (b"[b](b.md) ![p](img/p.png)", b"[b](d/b.md) ![p](d/img/p.png)"), "d/b.md": (b"a.md", b"../a.md")},
        "folder": {"c.md": (b"d/b.md", b"f/d/b.md"), "e.md": (b"d/img", b"f/d/img"), "d/two.md": (b"../c.md", b"../../c.md"),
                   "front.md": (b"(/d/b.md)", b"(/f/d/b.md)")},
    }[moving]
    for path, (one, another) in change.items():
        desk.expect(one in want[path], "harness", path)
        parts = want[path].split(b"---\n") if path == "front.md" else [want[path]]
        want[path] = b"---\n".join([*parts[:-1], parts[-1].replace(one, another, 1)])
    moved = {path: target + path[len(source):] for path in files if path == source or path.startswith(source + "/")}
    want = {moved.get(path, path): content for path, content in want.items()}
    identity = [(new, path) for path, new in moved.items()]
    if how.startswith("keep"):
        tree.set_filters([], {"links": "keep"})
    if how == "mv":
        shown = desk.run(tree, "sync", "mv", "-n", source, target, "--json")
        holds(desk, tree, files, "after mv -n")
        desk.run(tree, "sync", "mv", source, target, "--json")
        holds(desk, tree, want, "after mv")
        serves(desk, files, "after mv")
        desk.run(tree, "sync", "undo", "--json")
        holds(desk, tree, files, "mv taken back")
        desk.run(tree, "sync", "redo", "--json")
        holds(desk, tree, want, "mv redone")
    else:
        tree.rename(source, target)
        if how == "fix rename":
            desk.run(tree, "links", "fix", "--rename", "%s=%s" % (source, target), "--yes", codes=(0,))
            holds(desk, tree, want, "after links fix --rename")
        elif how == "fix":
            desk.run(tree, "sync", "--json")
            desk.run(tree, "links", "fix", "--yes", codes=(0,))
            holds(desk, tree, want, "after links fix")
        elif how == "keep cut":
            cut(desk, tree, ["sync", "--json"], "sync.commit", "before")
            desk.run(tree, "sync", "--json", faulty=True)
    desk.run(tree, "sync", "--json")
    holds(desk, tree, want, how)
    serves(desk, want, how)
    same_ids(desk, old, identity, how)
    quiet(desk, tree)
    desk.run(tree, "links", "check", "--json", codes=(0, 1))
    # An edit of one of those notes at the other, meanwhile; then all is taken back here.
    desk.run(other, "sync", "--json")
    holds(desk, other, want, "%s, received" % how)
    for _ in range(3):
        desk.run(tree, "sync", "undo", "--json", "--allow-deletes", codes=(0,))
        if desk.lying(tree.files()) == files:
            break
    holds(desk, tree, files, "%s, taken back" % how)
    serves(desk, files, "%s, taken back" % how)
    same_ids(desk, old, why="%s, taken back" % how)
    desk.run(other, "sync", "--json")
    holds(desk, other, files, "%s, taken back, received" % how)
    for one in both(desk):
        quiet(desk, one)


@case("edit", "delete", "rename")
def mended_here_changed_there(desk, what):
    """`links: keep` mends a note here that somebody changed there: both, and no other document."""
    tree, other = both(desk)
    text = desk.text(links=["[b](b.md) and ![p](p.png)"])
    files = {"a.md": text, "b.md": desk.text(), "p.png": desk.picture(), "c.md": desk.text(), "d.md": desk.text()}
    old = begin(desk, files)
    tree.set_filters([], {"links": "keep"})
    tree.rename("b.md", "s/b.md")
    tree.rename("p.png", "s/p.png")
    mend = lambda text: text.replace(b"(b.md)", b"(s/b.md)").replace(b"(p.png)", b"(s/p.png)")
    want = {"s/" + path if path in ("b.md", "p.png") else path: content for path, content in files.items()}
    want["a.md"] = mend(text)
    moved = [("s/b.md", "b.md")]
    if what == "edit":
        other.put("a.md", matrix_head(text))
        want["a.md"] = matrix_head(want["a.md"])
    elif what == "delete":
        other.remove("c.md")
        want.pop("c.md")
    else:
        other.rename("a.md", "a2.md")
        want["a2.md"] = want.pop("a.md")
        moved.append(("a2.md", "a.md"))
    desk.run(other, "sync", "--json")
    all_alike(desk, want, what)
    same_ids(desk, old, moved, what)


# Merges that are certain, and those that are not.

def fm(*lines, body="body"):
    return "---\n%s---\n# T\n\n%s\n" % ("".join(line + "\n" for line in lines), body)


LONG = "The old stone bridge over the river was built by the monks in the year of the flood"
MERGES = {  # name -> base, there, here, merged (None: a conflict)
    "distant": ("a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nC\n", "A\n\nb\n\nC\n"),
    "one line gap": ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
    "equal append": ("a\n", "a\nx\n", "a\nx\n", "a\nx\n"),
    "same and more": ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nB\nc\nD\n"),
    "delete elsewhere": ("a\n\nb\n\nc\n\nd\n", "a\n\nc\n\nd\n", "a\n\nb\n\nc\n\nD\n", "a\n\nc\n\nD\n"),
    "two words": (LONG + "\n", LONG.replace("old", "ancient") + "\n", LONG.replace("monks", "nuns") + "\n",
                  LONG.replace("old", "ancient").replace("monks", "nuns") + "\n"),
    "table cells": ("|a|b|\n|---|---|\n|one|two|\n", "|a|b|\n|---|---|\n|eins|two|\n", "|a|b|\n|---|---|\n|one|zwei|\n",
                    "|a|b|\n|---|---|\n|eins|zwei|\n"),
    "same word": (LONG + "\n", LONG.replace("old", "ancient") + "\n", LONG.replace("old", "new") + "\n", None),
    "crlf here": ("a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\r\n\r\nb\r\n\r\nc\r\n", "A\r\n\r\nb\r\n\r\nc\r\n"),
    "crlf there": ("a\n\nb\n\nc\n", "a\r\n\r\nb\r\n\r\nc\r\n", "a\n\nb\n\nC\n", "a\r\n\r\nb\r\n\r\nC\r\n"),
    "no final newline": ("a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nc", "A\n\nb\n\nc"),
    "keys": (fm("one: 1", "two: 2"), fm("one: 10", "two: 2"), fm("one: 1", "two: 20"), fm("one: 10", "two: 20")),
    "key and body": (fm("one: 1"), fm("one: 2"), fm("one: 1", body="other"), fm("one: 2", body="other")),
    "same key": (fm("one: 1"), fm("one: 2"), fm("one: 3"), None),
    "key new alike": (fm("one: 1"), fm("one: 1", "n: 2"), fm("one: 1", "n: 2"), fm("one: 1", "n: 2")),
    "stamp here later": (fm("updated: 2026-01-01", body="a\n\nb\n\nc"), fm("updated: 2026-02-02", body="A\n\nb\n\nc"),
                         fm("updated: 2026-03-03", body="a\n\nb\n\nC"), fm("updated: 2026-03-03", body="A\n\nb\n\nC")),
    "stamp there later": (fm("modified: 2026-01-01T10:00:00Z", "x: 1"), fm("modified: 2026-03-03T10:00:00Z", "x: 2"),
                          fm("modified: 2026-02-02T10:00:00Z", "x: 1", body="new"), fm("modified: 2026-03-03T10:00:00Z", "x: 2", body="new")),
    "stamp of ours": (fm("seen: 2026-01-01"), fm("seen: 2026-02-02"), fm("seen: 2026-03-03"), None),
    "key deleted here": (fm("one: 1", "two: 2", "x: 3"), fm("one: 5", "two: 2", "x: 3"), fm("one: 1", "two: 2"), fm("one: 5", "two: 2")),
    "key deleted, changed": (fm("one: 1", "two: 2"), fm("one: 5", "two: 2"), fm("two: 2"), None),
    "delete against edit": ("a\n\nb\n\nc\n", "a\n\nc\n", "a\n\nB\n\nc\n", None),
    "unicode": ("\u00e4\u00f6\n\n\u00fc\n\n\U0001f600\n", "\u00e4\u00f6!\n\n\u00fc\n\n\U0001f600\n", "\u00e4\u00f6\n\n\u00fc\n\n\U0001f600?\n",
                "\u00e4\u00f6!\n\n\u00fc\n\n\U0001f600?\n"),
}


@case("run", "no merge", "pull", "steps", "on local", "on remote", "on both", "keep merged")
def merges(desk, how):
    """All the usual merges in one run, to the byte; what collides waits."""
    tree, other = both(desk)
    name = lambda key: "m/%s.md" % key.replace(" ", "_").replace(",", "")
    old = begin(desk, {name(key): texts[0].encode() for key, texts in MERGES.items()})
    for key, (base, there, here, _) in MERGES.items():
        other.put(name(key), there.encode())
        tree.put(name(key), here.encode())
    desk.run(other, "sync", "--json")
    served = {name(key): texts[1].encode() for key, texts in MERGES.items()}
    serves(desk, served, "sent")
    alike = {name(key) for key, texts in MERGES.items() if texts[1] == texts[2]}
    collide = {name(key) for key, texts in MERGES.items() if texts[3] is None}
    if how == "no merge":
        collide = {name(key) for key in MERGES} - alike
    merged = {name(key): (texts[3] or "").encode() for key, texts in MERGES.items() if name(key) not in collide}
    ours = {name(key): texts[2].encode() for key, texts in MERGES.items()}
    local, there = {**ours, **merged}, {**served, **merged}
    flags = {"no merge": ["--no-merge"], "on local": ["--on-conflict", "local"], "on remote": ["--on-conflict", "remote"],
             "on both": ["--on-conflict", "both"], "pull": ["pull"], "steps": ["push"]}.get(how, [])
    if how == "pull":
        desk.run(tree, "sync", "pull", "--json", codes=(7, 0))
        holds(desk, tree, local, "pulled")
        serves(desk, served, "pulled")
        desk.run(tree, "sync", "push", "--json", codes=(7, 0, 13))
        desk.run(tree, "sync", "commit", "--json", codes=(7, 0, 13))
        desk.run(tree, "sync", "--json", codes=(7,))
    elif how == "steps":
        desk.run(tree, "sync", "push", "--json", codes=(7, 0, 13))
        desk.run(tree, "sync", "commit", "--json", codes=(7, 0, 13))
        desk.run(tree, "sync", "--json", codes=(7,))
    else:
        ended = desk.run(tree, "sync", *flags, "--json", codes=(0,) if how.startswith("on ") else (7,))
        if not how.startswith("on "):
            wanted = [("conflict", path, "") for path in collide] + [("merge", path, "") for path in merged if path not in alike
                                                                    and ours[path] != merged[path]]
            rows = [row for row in normal_rows(ended) if row[0] in ("conflict", "merge")]
            desk.expect({row for row in rows if row[0] == "conflict"} == {row for row in wanted if row[0] == "conflict"}, "merges",
                        "conflicts: %s" % judge.short({row for row in rows if row[0] == "conflict"} ^ {row for row in wanted if row[0] == "conflict"}))
    if how.startswith("on "):
        whose = how[3:]
        for path in collide:
            local[path] = there[path] = ours[path] if whose == "local" else served[path]
            if whose == "both":
                local[beside(path, "local")] = there[beside(path, "local")] = ours[path]
    holds(desk, tree, local, how)
    serves(desk, there, how)
    same_ids(desk, old, why=how)
    if how == "keep merged":
        decided = desk.world.scratch / "decided.md"
        for number, path in enumerate(sorted(collide)):
            decided.write_bytes(b"decided %d\n" % number)
            local[path] = there[path] = b"decided %d\n" % number
            desk.run(tree, "sync", "resolve", path, "--file", str(decided), codes=(0,))
    elif not how.startswith("on "):
        for path in collide:
            local[path] = served[path]
        desk.run(tree, "sync", "resolve", "--all", "--keep", "remote", codes=(0,))
        desk.run(tree, "sync", "resolve", sorted(collide)[0], "--keep", "remote", codes=(6,))
    all_alike(desk, local, how)
    same_ids(desk, old, why=how)


# How commands end.

def error_of(ended):
    import json
    return json.loads(ended.err.strip().splitlines()[-1])["error"]


def some(desk):
    text = desk.text(links=["![p](p.png) ![q](q.png)"])
    return {"d/a.md": text, "d/b.md": desk.text(), "d/c.md": desk.text(), "d/p.png": desk.picture(), "d/q.png": desk.picture()}


@case("upload.put", "files.upload_start", "files.upload_finish", "files.content", "bad bytes")
def part_fails(desk, operation):
    """One picture fails: 13, a row that says so; the rest is done; the next run does that one alone."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    sending = operation not in ("files.content", "bad bytes")
    maker, taker = (tree, other) if sending else (other, tree)
    want = {**files, "d/p.png": desk.picture(), "d/q.png": desk.picture(), "d/a.md": matrix_head(files["d/a.md"]), "d/n.md": desk.text()}
    for path, content in want.items():
        if files.get(path) != content:
            maker.put(path, content)
    if not sending:
        desk.run(maker, "sync", "--json")
    effect = {"truncate_at": 5} if operation == "bad bytes" else {"status": 422 if operation != "files.content" else 404}
    desk.world.fault({"operation": "files.content" if operation == "bad bytes" else operation, "nth": 1, "effect": effect})
    ended = desk.run(tree, "sync", "--no-retry", "--json", faulty=True)
    desk.world.no_faults()
    desk.state = None
    rows = ended.report()["actions"]
    failed = [row for row in rows if row["state"] == "failed"]
    desk.met("part fails at %s: %d, %d rows" % (operation, ended.code, len(failed)))
    desk.expect(ended.code == 13 and len(failed) == 1 and failed[0]["error"], "partial", "ended %d; failed: %s" % (ended.code, failed))
    way = "push" if sending else "pull"
    done = {(row["action"], row["path"]) for row in rows if row["state"] == "done"}
    others = {(way + "_update", "d/a.md"), (way + "_create", "d/n.md")} | {(way + "_update", path) for path in ("d/p.png", "d/q.png")
                                                                      if path != failed[0]["path"]}
    desk.expect(done == others, "partial", "done: %s" % judge.short(done ^ others))
    left = failed[0]["path"]
    held = {**want, left: want[left] if sending else files[left]}
    holds(desk, tree, held, "with one failed")
    serves(desk, {**want, left: files[left]} if sending else want, "with one failed")
    desk.expect(desk.run(tree, "sync", "status", "--exit-code", "--json", codes=(13,)).code == 13, "status tells", "")
    ended = desk.run(tree, "sync", "--json")
    told(desk, ended, [(way + "_update", left, "")])
    all_alike(desk, want, "all done")


@case("sync.push", "sync.commit", "sync.pull", "upload.put")
def classes(desk, operation):
    """Each class of failure has its exit code, says whether it was applied, and the next run finishes."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    for effect, phase, codes in (({"status": 503}, "before", (10,)), ({"retry_after": 0}, "before", (9, 0)), ({"status": 401}, "before", (4,)),
                                 ({"status": 403}, "before", (5, 13)), ({"reset": True}, "before", (11, 12)),
                                 ({"bad_json": True}, "after", (12, 1, 10, 0)), ({"close_without_answer": True}, "after", (12,))):
        if operation == "sync.pull" and phase == "after":
            continue
        if operation == "upload.put":
            codes = (13, 0, *codes)
        tree.put("d/a.md", matrix_head(files["d/a.md"], desk.word().encode()))
        tree.put("d/p.png", desk.picture())
        before = desk.look(True)
        desk.world.fault({"operation": operation, "nth": 1, "times": 9, "phase": phase, "effect": effect})
        ended = desk.run(tree, "sync", "--no-retry", "--json", faulty=True)
        fired = desk.world.service.fired()
        desk.world.no_faults()
        desk.state = None
        desk.met("class %s %s: %d" % (operation, effect, ended.code))
        after = desk.look(True)
        changed = before.state.by_path() != after.state.by_path()
        desk.expect(fired, "harness", "%s did not fire" % operation)
        desk.expect(ended.code in codes or (ended.code == 0 and operation == "sync.commit" and phase == "after"), "exit codes",
                    "%s at %s ended with %d, not %s: %s" % (effect, operation, ended.code, codes, ended.err[-300:]))
        if ended.code not in (0, 13) and not ended.out.strip():
            error = error_of(ended)
            desk.expect(error["applied"] in (("no",) if phase == "before" and "reset" not in effect and operation != "upload.put" else ("no", "unknown", "yes")),
                        "exit codes", "applied: %s" % error["applied"])
            desk.expect(not (error["applied"] == "no" and changed and operation == "sync.commit"), "exit codes",
                        "the error says that nothing was applied, and the service is changed")
        desk.expect(desk.lying(tree.files()) == desk.lying(before.here(tree)), "nothing else", "a run that failed to send changed files")
        desk.run(tree, "sync", "--json", codes=(0,))
        here = desk.lying(tree.files())
        serves(desk, here, "after the next run")
    all_alike(desk, desk.lying(tree.files()), "at the end")
    runs = desk.world.runs(tree)
    desk.expect(all(row["finished"] for row in runs), "one operation", "some run is not finished")


@case("")
def one_writer(desk):
    """While one runs a second ends 14 with `tree_locked` and does nothing; a dead holder's lock is taken over at once."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    tree.put("d/a.md", matrix_head(files["d/a.md"]))
    desk.world.fault({"operation": "sync.commit", "nth": 1, "phase": "before", "effect": {"hang": True}})
    first = tree.start(["sync", "--json"])
    end = time.monotonic() + 20
    while not desk.world.service.fired() and time.monotonic() < end:
        time.sleep(0.01)
    for words in (["sync"], ["sync", "push"], ["sync", "mv", "d/b.md", "d/z.md"], ["sync", "undo"]):
        ended = tree.ws(*words, "--json")
        desk.expect(ended.code == 14 and error_of(ended)["code"] == "tree_locked" and error_of(ended)["retryable"], "one writer",
                    "`%s` ended %d: %s%s" % (" ".join(words), ended.code, ended.out[:200], ended.err[-300:]))
    first.kill()
    tree.ended(["sync"], first)
    desk.world.no_faults()
    desk.state = None
    desk.run(tree, "sync", "--json", codes=(0,))
    want = {**files, "d/a.md": matrix_head(files["d/a.md"])}
    all_alike(desk, want, "after the lock")


@case("")
def words_that_fail(desk):
    """What does not exist ends 6, what is said wrongly 2, and neither changes anything."""
    tree, _ = both(desk)
    files = some(desk)
    begin(desk, files)
    for words, codes in ((["resolve", "d/a.md", "--keep", "local"], (6,)), (["restore", "no.md"], (6,)), (["undo", "99"], (6,)),
                         (["redo"], (6,)), (["show", "99"], (6,)), (["mv", "no.md", "x.md"], (6, 2, 14)), (["mv", "d/a.md", "d/b.md"], (2, 7, 14)),
                         (["mv", "d/a.md", "../x.md"], (2,)), (["mv", "d/a.md", ".ws/x.md"], (2,)), (["resolve"], (0, 2, 6)),
                         (["--on-conflict", "nothing"], (2,)), (["run", "nowhere"], (2, 6, 14)), (["attachments", "accept", "no.png"], (2, 6)),
                         (["log", "no.md"], (0, 6)), (["blame", "no.md"], (6,)), (["diff", "no.md"], (0, 6))):
        before, stat = desk.look(True), stats(tree)
        desk.world.service.forget_requests()
        ended = desk.run(tree, "sync", *words, "--json", faulty=True)
        desk.expect(ended.code in codes, "exit codes", "`ws sync %s` ended with %d, not %s: %s" % (" ".join(words), ended.code, codes, ended.err[-300:]))
        desk.expect(not desk.changed(before) and stats(tree) == stat and not desk.world.service.writes(), "nothing else",
                    "`ws sync %s` changed something" % " ".join(words))


# State and times.

@case("state", "caches", "all", "both sides")
def state_lost(desk, what):
    """Without its state a tree takes what is equal as agreed; nothing is deleted, and only unequal pairs collide."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    if what == "both sides":
        tree.put("d/b.md", matrix_head(files["d/b.md"]))
        other.put("d/c.md", matrix_head(files["d/c.md"]))
        tree.remove("d/q.png")
        other.put("d/n.md", desk.text())
        desk.run(other, "sync", "--json")
    patterns = {"caches": ["*.cache"], "state": ["state.db*"], "both sides": ["*.db*"]}.get(what, ["*.db*", "*.cache"])
    for lost in [lost for pattern in patterns for lost in (tree.folder / ".ws").glob(pattern)]:
        lost.unlink()
        tree.say("rm %s/.ws/%s" % (tree.name, lost.name))
    stat = stats(tree)
    if what == "both sides":
        ended = desk.run(tree, "sync", "--json", codes=(7,))
        kinds = sorted((conflict["kind"], conflict["path"]) for conflict in ended.report()["conflicts"])
        desk.expect(kinds == [("hash", "d/b.md"), ("hash", "d/c.md")], "lost state", "conflicts: %s" % kinds)
        desk.expect(tree.files().get("d/q.png") == files["d/q.png"], "lost state", "what was missing does not come back")
        desk.expect(tree.files()["d/b.md"] == matrix_head(files["d/b.md"]) and tree.files()["d/c.md"] == files["d/c.md"], "lost state",
                    "a file that collides was changed")
        desk.run(tree, "sync", "resolve", "d/b.md", "--keep", "local")
        desk.run(tree, "sync", "resolve", "d/c.md", "--keep", "remote")
        want = {**files, "d/b.md": matrix_head(files["d/b.md"]), "d/c.md": other.files()["d/c.md"], "d/n.md": other.files()["d/n.md"]}
        all_alike(desk, want, "decided")
        same_ids(desk, old, why="decided")
        return
    desk.world.service.forget_requests()
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    desk.expect(not desk.world.service.writes(), "lost state", "it sent %s" % desk.world.service.writes())
    desk.expect(stats(tree) == stat, "lost state", "files were touched")
    holds(desk, tree, files, "without its state")
    serves(desk, files, "without its state")
    if what != "caches":  # whose wish the pictures are is not known any more: they wait, and are told
        held = {row["path"] for row in ended.report()["skipped"] if row["reason"] == "held"}
        desk.expect(held == {"d/p.png", "d/q.png"}, "lost state", "held: %s" % judge.short(held))
        desk.run(tree, "sync", "attachments", "accept", "d/p.png", "d/q.png", codes=(0,))
        desk.run(tree, "sync", "--json", codes=(0,))
        desk.expect(stats(tree) == stat and not desk.world.service.writes(), "lost state", "what was accepted was sent or touched")
    # Then as ever: an edit, a rename, a picture.
    tree.put("d/b.md", matrix_head(files["d/b.md"]))
    tree.rename("d/c.md", "d/c2.md")
    tree.put("d/p.png", desk.picture())
    want = {**files, "d/b.md": matrix_head(files["d/b.md"]), "d/p.png": tree.files()["d/p.png"], "d/c2.md": files["d/c.md"]}
    want.pop("d/c.md")
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    told(desk, ended, [("push_update", "d/b.md", ""), ("push_move", "d/c2.md", "d/c.md"), ("push_update", "d/p.png", "")])
    all_alike(desk, want, "afterwards")
    same_ids(desk, old, [("d/c2.md", "d/c.md")], "afterwards")


@case("")
def times_and_modes(desk):
    """Modes stay, what is sent is not touched, an edit of one length with its time put back is seen, a touch is none."""
    tree, other = both(desk)
    files = some(desk)
    files["d/crlf.md"] = b"# T\r\n\r\nstone\r\n\r\nlast without end"
    begin(desk, files)
    for path, mode in (("d/a.md", 0o600), ("d/b.md", 0o640), ("d/p.png", 0o604)):
        os.chmod(other.folder / path, mode)
        tree.say("chmod %o %s/%s" % (mode, other.name, path))
    for one in both(desk):
        quiet(desk, one)
    # An edit of one length with the old time.
    for path, content in (("d/a.md", matrix_head(files["d/a.md"])), ("d/p.png", files["d/p.png"][:-1] + b"!")):
        seen = os.stat(tree.folder / path)
        with open(tree.folder / path, "r+b") as file:
            file.write(content)
        os.utime(tree.folder / path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        files[path] = content
    os.utime(tree.folder / "d/b.md", (1, 1))
    stat = stats(tree)
    ended = desk.run(tree, "sync", "--json")
    told(desk, ended, [("push_update", "d/a.md", ""), ("push_update", "d/p.png", "")])
    desk.expect(stats(tree) == stat, "no drift", "what was sent was touched")
    stat = stats(other)
    told(desk, desk.run(other, "sync", "--json"), [("pull_update", "d/a.md", ""), ("pull_update", "d/p.png", "")])
    for path, seen in stats(other).items():
        desk.expect(seen[0] == stat[path][0], "modes stay", "%s: %o became %o" % (path, stat[path][0], seen[0]))
        if path not in ("d/a.md", "d/p.png"):
            desk.expect(seen == stat[path], "no drift", "%s was touched" % path)
    # A rename there is one rename here: the same inode, mode and time.
    tree.rename("d/a.md", "d/a2.md")
    tree.rename("d/crlf.md", "x/crlf.md")
    desk.run(tree, "sync", "--json")
    stat = stats(other)
    desk.run(other, "sync", "--json")
    now = stats(other)
    for new, past in (("d/a2.md", "d/a.md"), ("x/crlf.md", "d/crlf.md")):
        desk.expect(now[new] == stat[past], "no drift", "%s was not one rename" % new)
    desk.expect(not (other.folder / "d/crlf.md").exists() and other.files()["x/crlf.md"] == files["d/crlf.md"], "as expected", "crlf")
    # A merge and undo keep the mode, too.
    text = files["d/a.md"]
    tree.put("d/a2.md", matrix_tail(text))
    other.put("d/a2.md", matrix_head(text, b"jokes"))
    desk.run(tree, "sync", "--json")
    desk.run(other, "sync", "--json")
    desk.expect(stats(other)["d/a2.md"][0] & 0o777 == 0o600, "modes stay", "a merge made it %o" % stats(other)["d/a2.md"][0])
    desk.run(other, "sync", "undo", "--json")
    desk.expect(stats(other)["d/a2.md"][0] & 0o777 == 0o600, "modes stay", "undo made it %o" % stats(other)["d/a2.md"][0])
    for new in ("d/q.png",):
        desk.expect(stats(other)[new][0] & 0o111 == 0, "modes stay", "a picture that came can be run")


@case("local", "remote", "local picture", "remote picture")
def rewound(desk, keep):
    """A service that went back to an older state: nothing is deleted or overwritten; then who is right is said."""
    tree, other = both(desk)
    keep, _, picture = keep.partition(" ")
    files = {"d/rewound.png": desk.picture(), **some(desk)}
    files["d/b.md"] += b"\n![r](rewound.png)\n"
    begin(desk, files)
    desk.world.service.control("POST", "/snapshots", {"name": "then"})
    tree.put("d/a.md", matrix_head(files["d/a.md"]))
    tree.put("d/n.md", desk.text())
    if picture:
        tree.put("d/rewound.png", desk.picture())
    desk.run(tree, "sync", "--json")
    now = desk.lying(tree.files())
    desk.world.service.control("POST", "/snapshots/then:restore")
    tree.say("curl -s -X POST $U/_mock/snapshots/then:restore")
    desk.state = None
    stat = stats(tree)
    for _ in range(2):
        ended = desk.run(tree, "sync", "--json", codes=(7,))
        desk.expect(stats(tree) == stat, "rewound", "files were touched")
        serves(desk, files, "rewound")
        desk.expect("rewound" in [conflict["kind"] for conflict in ended.report()["conflicts"]], "rewound", "not told")
    ended = desk.run(tree, "sync", "resolve", "rewound", "--keep", keep, codes=(0,))
    desk.run(tree, "sync", "--json", "--allow-deletes", codes=(0, 7))
    desk.run(tree, "sync", "--json", "--allow-deletes", codes=(0,))
    want = now if keep == "local" else files
    holds(desk, tree, want, "rewound, %s" % keep)
    serves(desk, want, "rewound, %s" % keep)
    quiet(desk, tree)


# Conflicts, and what else is done meanwhile.

@case(*[(kind, then, keep) for kind in ("note", "picture") for then in ("renamed", "edited", "deleted", "edited there", "mv")
        for keep in ("local", "remote")])
def conflict_and(desk, kind, then, keep):
    """While a conflict waits its file is renamed, edited or deleted, here or there; then it is decided."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    path = "d/b.md" if kind == "note" else "d/p.png"
    one = matrix_head(files[path], b"theirs") if kind == "note" else desk.picture()
    mine = matrix_head(files[path], b"ours") if kind == "note" else desk.picture()
    other.put(path, one)
    tree.put(path, mine)
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "--json", codes=(7,))
    place = path
    if then in ("renamed", "mv"):
        place = "d/z.md" if kind == "note" else "d/z.png"
        if then == "renamed":
            tree.rename(path, place)
        else:
            ended = desk.run(tree, "sync", "mv", path, place, "--json", codes=(0, 2, 7), faulty=True)
            if ended.code:
                place = path
    elif then == "edited":
        mine = mine + b"\nmore\n"
        tree.put(path, mine)
    elif then == "deleted":
        tree.remove(path)
        mine = None
    elif then == "edited there":
        one = one + b"\nmore there\n"
        other.put(path, one)
        desk.run(other, "sync", "--json")
    before = desk.look(True)
    ended = desk.run(tree, "sync", "--json", codes=(0, 7))
    conflicts = desk.run(tree, "sync", "conflicts", "--json").report()["data"]
    desk.met("conflict of a %s, %s: %d, %d open" % (kind, then, ended.code, len(conflicts)))
    desk.expect((ended.code == 7) == bool(conflicts), "exit codes", "%d, with %d conflicts" % (ended.code, len(conflicts)))
    if kind == "note":
        desk.expect(desk.state.documents[old[path]].content == one, "a conflict waits", "the document changed")
    else:
        desk.expect(desk.state.files[path] == digest(one), "a conflict waits", "the picture there changed")
    if mine is not None:
        desk.expect(mine in tree.files().values(), "a conflict waits", "our bytes are not here any more")
    for conflict in conflicts:
        words = ["--path", keep] if conflict["kind"] == "path" else ["--keep", keep]
        desk.run(tree, "sync", "resolve", conflict["id"], *words)
    for _ in range(3):
        for each in both(desk):
            ended = desk.run(each, "sync", "--json", codes=(0, 7))
            for conflict in desk.run(each, "sync", "conflicts", "--json").report()["data"] if ended.code == 7 else ():
                words = ["--path", keep] if conflict["kind"] == "path" else ["--keep", keep]
                desk.run(each, "sync", "resolve", conflict["id"], *words)
    here = desk.lying(tree.files())
    holds(desk, other, here, "decided")
    serves(desk, here, "decided")
    for each in both(desk):
        quiet(desk, each)
    others = {name: content for name, content in files.items() if name != path}
    desk.expect(all(here.get(name) == content or (then == "mv" and name == "d/a.md") for name, content in others.items()), "nothing else",
                "other files: %s" % judge.short(name for name in others if here.get(name) != others[name]))
    contents = [content for name, content in here.items() if name not in others]
    if mine is not None:
        desk.expect((mine if keep == "local" else one) in contents, "decided", "the text that was chosen is on no side: %s" % sorted(set(here) - set(others)))
    if then in ("edited", "edited there"):
        desk.expect(here.get(path) == (mine if keep == "local" else one), "decided", "%s is not what was chosen" % path)
    if kind == "note":
        desk.expect(old[path] in desk.state.documents or mine is None, "ids stay", "the document is gone")


# What is in the way, and what may not be read.

@case("here", "there")
def not_readable(desk, where):
    """A note that became a link, holds NUL, is no UTF-8 or too large: kept on both sides, told, never a delete; and back again."""
    tree, other = both(desk)
    files = {"d/%s.md" % name: desk.text() for name in ("link", "nul", "latin", "large", "keep", "keep2", "keep3")}
    files["d/p.png"] = desk.picture()
    files["d/keep.md"] += b"\n![p](p.png)\n"
    old = begin(desk, files)
    bad = {"d/nul.md": b"a\0b\n", "d/latin.md": b"caf\xe9\n", "d/large.md": b"x" * (1 << 20) + b"\nmore\n"}
    for path, content in bad.items():
        tree.put(path, content)
    for path in ("d/link.md", "d/p.png"):
        tree.remove(path)
        os.symlink("/etc/hostname", tree.folder / path)
        tree.say("ln -s /etc/hostname %s/%s" % (tree.name, path))
    want = dict(files)
    if where == "there":
        for path in ("d/link.md", "d/nul.md", "d/p.png"):
            want[path] = desk.picture() if path.endswith("png") else matrix_head(files[path])
            other.put(path, want[path])
        desk.run(other, "sync", "--json")
    for _ in range(2):
        ended = desk.run(tree, "sync", "--json", codes=(0, 13), faulty=True)
        serves(desk, want, "with files that cannot be read")
        told_paths = judge.left_out(ended.report())
        desk.expect(set(bad) | {"d/link.md"} <= told_paths, "told", "not told: %s" % judge.short((set(bad) | {"d/link.md"}) - told_paths))
        for path, content in bad.items():
            desk.expect((tree.folder / path).read_bytes() == content, "nothing else", "%s was changed" % path)
        for path in ("d/link.md", "d/p.png"):
            desk.expect((tree.folder / path).is_symlink(), "nothing else", "%s is no link any more" % path)
    desk.run(other, "sync", "--json")
    holds(desk, other, want, "elsewhere")
    for path in [*bad, "d/link.md", "d/p.png"]:
        (tree.folder / path).unlink()
        tree.put(path, files[path])
    desk.run(tree, "sync", "--json")
    all_alike(desk, want, "readable again")
    same_ids(desk, old, why="readable again")


@case("")
def twins(desk):
    """Of names that differ by case or form alone the tracked one is synced, the other is skipped and told."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), "d/\u00fcb.md": desk.text(), "d/x.md": desk.text(), "d/y.md": desk.text()}
    old = begin(desk, files)
    tree.put("d/A.md", desk.text())
    tree.put("d/u\u0308b.md", desk.text())
    held = tree.files()
    for _ in range(2):
        ended = desk.run(tree, "sync", "--json", codes=(0,))
        told(desk, ended, [], "twins")
        reasons = {row["path"]: row["reason"] for row in ended.report()["skipped"]}
        desk.expect(reasons == {"d/A.md": "twin", "d/u\u0308b.md": "twin"}, "twins", str(reasons))
        serves(desk, files, "with twins")
        desk.expect(tree.files() == held, "nothing else", "a twin was changed")
    other.put("d/a.md", matrix_head(files["d/a.md"]))
    desk.run(other, "sync", "--json")
    want = {**files, "d/a.md": matrix_head(files["d/a.md"])}
    desk.run(tree, "sync", "--json")
    desk.expect(tree.files()["d/a.md"] == want["d/a.md"] and tree.files()["d/A.md"] == held["d/A.md"], "twins", "an edit went to the other")
    tree.remove("d/A.md")
    tree.remove("d/u\u0308b.md")
    all_alike(desk, want, "without twins")
    same_ids(desk, old, why="without twins")


@case("note", "picture", "folder", "note edited")
def other_form(desk, what):
    """A name in the other Unicode form is the same name: nothing is sent but edits, and each disk keeps its own form."""
    tree, other = both(desk)
    files = {"\u00e9/\u00fcb.md": desk.text(links=["![p](\u00f6.png)"]), "\u00e9/\u00f6.png": desk.picture(), "a.md": desk.text(), "b.md": desk.text()}
    old = begin(desk, files)
    source = {"picture": "\u00e9/\u00f6.png", "folder": "\u00e9"}.get(what, "\u00e9/\u00fcb.md")
    import unicodedata
    decomposed = unicodedata.normalize("NFD", source) if what == "folder" else "\u00e9/" + unicodedata.normalize("NFD", source[2:])
    tree.rename(source, decomposed)
    want = dict(files)
    rows = []
    if what == "note edited":
        want[source] = matrix_head(files[source])
        tree.put(decomposed, want[source])
        rows = [("push_update", source, "")]
    desk.world.service.forget_requests()
    told(desk, desk.run(tree, "sync", "--json"), rows)
    items, operations = sent(desk)
    desk.expect(len(items) == len(rows) and operations["sync.commit"] == len(rows), "sent once", str(dict(operations)))
    told(desk, desk.run(other, "sync", "--json"), matrix.received(rows))
    desk.expect(any(path.startswith(decomposed) for path in tree.files()), "as found", "the form on disk changed")
    desk.expect(set(other.files()) >= set(files), "as found", "the form elsewhere changed")
    all_alike(desk, want, what)
    same_ids(desk, old, why=what)
    desk.expect(any(path.startswith(decomposed) for path in tree.files()), "as found", "the form on disk changed")


# Whose wish.

@case("edit", "rename", "mv", "merge", "restore", "undo", "resolve", "mend", "cut", "pull")
def no_wish(desk, how):
    """A link that arrives and names a file here sends nothing, whatever `ws` or a person then does with its note."""
    tree, other = both(desk)
    secret = "private/%s.png" % how
    text = desk.text()
    files = {"d/a.md": text, "d/b.md": desk.text(), "d/c.md": desk.text()}
    old = begin(desk, files)
    content = desk.picture()
    tree.put(secret, content)
    linking = text + b"\n![s](../%s)\n" % secret.encode()
    other.put("d/a.md", linking)
    desk.run(other, "sync", "--json")
    want = {**files, "d/a.md": linking}
    if how == "merge":
        tree.put("d/a.md", matrix_head(text))
        want["d/a.md"] = matrix_head(linking)
    if how == "cut":
        cut(desk, tree, ["sync", "--json"], "sync.pull", "after")
    if how == "pull":
        desk.run(tree, "sync", "pull", "--json")
        desk.run(tree, "sync", "push", "--json")
        desk.run(tree, "sync", "commit", "--json")
    ended = desk.run(tree, "sync", "--json")
    if how not in ("cut", "pull"):
        desk.expect(secret in judge.left_out(ended.report()), "told", "the file that the link names is not told: %s" % ended.report()["skipped"])
    listed = {row["path"]: row["state"] for row in desk.run(tree, "sync", "attachments", "--json").report()["data"]}
    desk.expect(listed.get(secret) == "foreign", "own wish", "listed as %s" % listed)
    place = "d/a.md"
    if how == "edit":
        want[place] = matrix_head(want[place])
        tree.put(place, want[place])
    elif how in ("rename", "mv", "mend"):
        place = "d/a2.md" if how != "mv" else "a2.md"
        if how == "mv":
            desk.run(tree, "sync", "mv", "d/a.md", place)
        else:
            if how == "mend":
                tree.set_filters([], {"links": "keep"})
            tree.rename("d/a.md", place)
        want[place] = want.pop("d/a.md").replace(b"(../private", b"(private") if how == "mv" else want.pop("d/a.md")
    elif how == "restore":
        tree.put(place, text)
        desk.run(tree, "sync", "--json")
        desk.run(tree, "sync", "restore", place)
        want[place] = tree.files()[place]
        desk.expect(want[place] == linking, "restore", "another text came back")
    elif how == "undo":
        desk.run(tree, "sync", "undo", "--json")
        desk.run(tree, "sync", "redo", "--json")
    elif how == "resolve":
        other.put(place, matrix_head(linking, b"theirs"))
        tree.put(place, matrix_head(linking, b"ours"))
        desk.run(other, "sync", "--json")
        desk.run(tree, "sync", "--json", codes=(7,))
        desk.run(tree, "sync", "resolve", place, "--keep", "local")
        want[place] = matrix_head(linking, b"ours")
    desk.run(tree, "sync", "--json")
    desk.run(tree, "sync", "--json")
    serves(desk, want, how)
    desk.expect(digest(content) not in desk.state.assets, "own wish", "%s was sent after %s" % (secret, how))
    desk.expect(tree.files()[secret] == content, "nothing else", "it was changed")
    # Another note here that names it, too: the first who named it decided. Then it is added.
    tree.put("d/c.md", files["d/c.md"] + b"\n![s](../%s)\n" % secret.encode())
    want["d/c.md"] = tree.files()["d/c.md"]
    desk.run(tree, "sync", "--json")
    desk.expect(digest(content) not in desk.state.assets, "own wish", "%s was sent for a second link" % secret)
    desk.run(tree, "sync", "attachments", "add", secret, codes=(0,))
    told(desk, desk.run(tree, "sync", "--json"), [("push_create", secret, "")])
    want[secret] = content
    all_alike(desk, want, "added")


@case("accept", "refuse", "own file")
def held(desk, how):
    """What arrives and could do harm is held, and named; accepted it comes, refused it is silent; a file of one's own stays."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), "d/b.md": desk.text()}
    begin(desk, files)
    ending = "png" if how == "own file" else "sh"
    path = "d/run." + ending
    mine = b"mine\n"
    if how == "own file":
        tree.put(path, mine)
    content = b"#!/bin/sh\necho\n"
    other.put(path, content)
    other.put("d/a.md", files["d/a.md"] + b"\n[r](run.%s)\n" % ending.encode())
    desk.run(other, "sync", "--json")
    want = {"d/a.md": other.files()["d/a.md"], "d/b.md": files["d/b.md"]}
    serves(desk, {**want, path: content}, "sent")
    for _ in range(2):
        ended = desk.run(tree, "sync", "--json", codes=(0,))
        desk.expect({row["path"]: row["reason"] for row in ended.report()["skipped"]} == {path: "held"}, "held", str(ended.report()["skipped"]))
        desk.expect(tree.files().get(path) == (mine if how == "own file" else None), "held", "it was written")
    desk.expect(desk.run(tree, "sync", "status", "--exit-code", "--json").code == 0, "status tells", "")
    if how == "refuse":
        desk.run(tree, "sync", "attachments", "refuse", path, codes=(0,))
        ended = desk.run(tree, "sync", "--json")
        desk.expect(path not in tree.files(), "held", "refused, and written")
        serves(desk, {**want, path: content}, "refused")
        return
    desk.run(tree, "sync", "attachments", "accept", path, codes=(0,))
    told(desk, desk.run(tree, "sync", "--json"), [("pull_update" if how == "own file" else "pull_create", path, "")])
    desk.expect(tree.files()[path] == content and stats(tree)[path][0] & 0o111 == 0, "held", "not as it is there")
    if how == "accept":
        other.put(path, content + b"more\n")
        desk.run(other, "sync", "--json")
        desk.run(tree, "sync", "--json", codes=(0,))
        desk.expect(tree.files()[path] == content, "held", "other bytes than those accepted were written")
    else:
        desk.expect(mine in tree.history(), "no byte lost", "what was replaced is not in the history")


# Steps.

@case("edited", "deleted", "renamed", "edited there", "picture")
def staged(desk, then):
    """What was staged is committed, not what was written later; that goes with the next run."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    first = matrix_head(files["d/b.md"])
    tree.put("d/b.md", first)
    desk.run(tree, "sync", "push", "--json")
    serves(desk, files, "staged")
    want, moved = {**files, "d/b.md": first}, []
    if then == "edited":
        tree.put("d/b.md", matrix_tail(first))
    elif then == "deleted":
        tree.remove("d/b.md")
    elif then == "renamed":
        tree.rename("d/b.md", "d/z.md")
    elif then == "picture":
        tree.put("d/p.png", desk.picture())
    else:
        other.put("d/b.md", matrix_tail(files["d/b.md"]))
        desk.run(other, "sync", "--json")
        serves(desk, {**files, "d/b.md": matrix_tail(files["d/b.md"])}, "edited there")
    ended = desk.run(tree, "sync", "commit", "-m", "words of mine", "--json", codes=(0, 7, 13))
    messages = [entry["request_body"].get("message") for entry in requests(desk) if entry["operation"] == "sync.commit"]
    desk.expect(any((message or "").startswith("words of mine") for message in messages) or ended.code, "message", "commits said %s" % messages[-2:])
    desk.look(True)
    there = desk.state.documents[old["d/b.md"]].content
    if then == "edited there":
        desk.expect(matrix_tail(files["d/b.md"]) == there or there == matrix_tail(first), "stale writes", "the edit there is gone")
        want["d/b.md"] = matrix_tail(first)
    elif ended.code == 0:
        desk.expect(there in (first, matrix_tail(first) if then == "edited" else first), "commit", "something else was committed")
    if then == "edited":
        want["d/b.md"] = matrix_tail(first)
    elif then == "deleted":
        want.pop("d/b.md")
    elif then == "renamed":
        want["d/z.md"] = want.pop("d/b.md")
        moved = [("d/z.md", "d/b.md")]
    elif then == "picture":
        want["d/p.png"] = tree.files()["d/p.png"]
    all_alike(desk, want, then)
    same_ids(desk, old, moved, then)


@case("notes", "pictures")
def accepted(desk, kind):
    """`--accept-deletes`: what was deleted here goes, whatever was done there; the texts are in the history."""
    tree, other = both(desk)
    files = {**some(desk), **{"k/%d.md" % number: desk.text() for number in range(6)}}
    begin(desk, files)
    want = dict(files)
    if kind == "notes":
        other.put("k/0.md", matrix_head(files["k/0.md"]))
        other.rename("k/1.md", "k/9.md")
        for path in ("k/0.md", "k/1.md"):
            tree.remove(path)
            want.pop(path)
    else:
        other.put("d/p.png", desk.picture())
        tree.remove("d/p.png")
        want.pop("d/p.png")
    theirs = other.files()
    desk.run(other, "sync", "--json")
    if kind == "notes":
        gone = [("push_delete", "k/0.md", ""), ("push_delete", "k/9.md", "")]
    else:
        gone = [("push_delete", "d/p.png", "")]
    told(desk, desk.run(tree, "sync", "--accept-deletes", "--json"), gone)
    desk.expect(kind == "pictures" or theirs["k/0.md"] in tree.history(), "no byte lost", "the remote text is not in the history")
    all_alike(desk, want, "deletes accepted")


@case("")
def first_of_two(desk):
    """Two filled sides meet: equal bytes are adopted, others collide, the rest flows both ways, nothing is deleted."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    source = desk.state.source
    desk.run(tree, "sync", "untie", "--yes", codes=(0,))
    holds(desk, tree, files, "untied")
    desk.expect(not (tree.folder / ".ws").exists(), "untie", ".ws is still there")
    tree.put("d/b.md", matrix_head(files["d/b.md"]))
    tree.remove("d/c.md")
    tree.put("d/mine.md", desk.text())
    other.put("d/theirs.md", desk.text())
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "init", "--source", source, "--yes", "--json")
    before = desk.lying(tree.files())
    ended = desk.run(tree, "sync", "--json", codes=(7,))
    conflicts = [(conflict["kind"], conflict["path"]) for conflict in ended.report()["conflicts"]]
    desk.expect(conflicts == [("hash", "d/b.md")], "first sync", str(conflicts))
    rows = sorted(row for row in normal_rows(ended))
    wanted = sorted([("adopt", "d/a.md", ""), ("pull_create", "d/c.md", ""), ("pull_create", "d/theirs.md", ""), ("push_create", "d/mine.md", ""),
                     ("conflict", "d/b.md", "")])
    desk.expect([row for row in rows if NOTE.search(row[1])] == wanted, "first sync", str(rows))
    want = {**before, "d/c.md": files["d/c.md"], "d/theirs.md": other.files()["d/theirs.md"]}
    holds(desk, tree, want, "after the first run")
    serves(desk, {**want, "d/b.md": files["d/b.md"]}, "after the first run")
    desk.run(tree, "sync", "resolve", "d/b.md", "--keep", "local")
    all_alike(desk, want, "decided")
    same_ids(desk, old, why="decided")


@case("note", "picture", "deleted note", "deleted picture", "moved")
def restored(desk, what):
    """An older text comes back, is sent as an edit of its document, keeps it when renamed, and is taken back."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    path = "d/p.png" if "picture" in what else "d/b.md"
    want, moved = dict(files), []
    if what.startswith("deleted"):
        tree.remove(path)
        want.pop(path)
    else:
        want[path] = desk.picture() if path.endswith("png") else matrix_head(files[path])
        tree.put(path, want[path])
    desk.run(tree, "sync", "--json")
    if what == "moved":
        desk.run(tree, "sync", "mv", path, "far/b.md")
        want["far/b.md"] = want.pop(path)
        moved, path = [("far/b.md", path)], "far/b.md"
        desk.run(tree, "sync", "--json")
        want[path] = matrix_tail(want[path])
        tree.put(path, want[path])
        desk.run(tree, "sync", "--json")
    middle = dict(want)
    before = matrix_head(files["d/b.md"]) if what == "moved" else files[path]
    desk.run(tree, "sync", "restore", path, codes=(0,))
    want[path] = before
    holds(desk, tree, want, "restored")
    serves(desk, middle, "restored, not sent")
    if path.endswith(".md") and not what.startswith("deleted"):
        tree.rename(path, "again.md")
        want["again.md"] = want.pop(path)
        moved = [("again.md", "d/b.md")]
    all_alike(desk, want, "restored and sent")
    same_ids(desk, old, moved, "restored and sent", but=("d/b.md",) if what == "deleted note" else ())
    desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, tree, middle, "taken back")
    serves(desk, middle, "taken back")
    all_alike(desk, middle, "taken back")


@case("")
def cleaned(desk):
    """`gc` drops nothing that this tree needs: merges, undo of what is young, and quiet runs go on."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    for word in (b"one", b"two", b"three"):
        tree.put("d/b.md", matrix_head(files["d/b.md"], word))
        tree.put("d/p.png", desk.picture())
        desk.run(tree, "sync", "--json")
    want = desk.lying(tree.files())
    stat = stats(tree)
    desk.run(tree, "sync", "gc", "-n", "--keep", "30d", codes=(0,))
    desk.run(tree, "sync", "gc", "--keep", "1s", "--yes", codes=(0,))
    desk.expect(stats(tree) == stat, "nothing else", "gc touched files")
    serves(desk, want, "after gc")
    quiet(desk, tree)
    desk.run(other, "sync", "--json")
    other.put("d/b.md", matrix_tail(want["d/b.md"]))
    tree.put("d/b.md", want["d/b.md"].replace(b"three", b"four"))
    want["d/b.md"] = matrix_tail(want["d/b.md"]).replace(b"three", b"four")
    desk.run(other, "sync", "--json")
    told(desk, desk.run(tree, "sync", "--json"), [("merge", "d/b.md", "")])
    all_alike(desk, want, "after gc")


@case("rows", "picture")
def who_looks(desk, what):
    """With a viewer's key all that comes is taken, nothing is sent, and the exit says that something stays."""
    world = Matrix(desk, shapes=(0,), keep=one_sided)
    world.do()
    world.sync_there()
    before = desk.look(True)
    mine = {normal(path) for one in world.cells if one.here for path in {**one.files(one.base), **one.files(one.after)}}
    ours = {path: content for path, content in desk.lying(world.here.files()).items() if path in mine}
    desk.world.service.forget_requests()
    ended = world.here.ws("sync", "--json", as_viewer=True)
    desk.judge(world.here, before, ended, codes=(13,))
    desk.expect(desk.state.by_path() == before.state.by_path() and desk.state.files == before.state.files, "a viewer changes nothing", "it did")
    here = desk.lying(world.here.files())
    desk.differ("what came", {path: content for path, content in world.after.items() if path not in mine},
                {path: content for path, content in here.items() if path not in mine})
    desk.differ("what was written", ours, {path: content for path, content in here.items() if path in mine})
    ended = desk.run(world.here, "sync", "--json")
    told(desk, ended, [row for one in world.cells if one.here for row in
                       [(action, normal(path), normal(previous)) for action, path, previous in one.rows_here]])
    world.ends("with a key that may write")


@case("")
def watched(desk):
    """A watch sends edits, takes what comes, keeps the document of a file that is written anew, holds a delete, and what the guard stops."""
    tree, other = both(desk)
    files = {**some(desk), **{"k/%d.md" % number: desk.text() for number in range(4)}}
    old = begin(desk, files)
    watch = tree.start(["sync", "watch", "--interval", "1s", "--json"])
    tree.say("%s sync watch --interval 1s &" % tree.name)

    def until(holding, what, seconds=15):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            desk.look(True)
            if holding():
                return
            time.sleep(0.1)
        desk.expect(False, "watch", "not in %d s: %s" % (seconds, what))

    try:
        time.sleep(0.7)
        want = {**files, "d/a.md": matrix_head(files["d/a.md"]), "d/p.png": desk.picture()}
        tree.put("d/a.md", want["d/a.md"])
        tree.put("d/p.png", want["d/p.png"])
        until(lambda: desk.state.by_path().get("d/a.md") == want["d/a.md"] and desk.state.files.get("d/p.png") == digest(want["d/p.png"]), "an edit is sent")
        # Deleted, and written anew within its time; another is deleted for good; one is saved by rename.
        tree.remove("k/0.md")
        tree.remove("k/1.md")
        tree.put("k/2.md", matrix_head(files["k/2.md"]), atomic=True)
        time.sleep(1.5)
        tree.put("k/0.md", matrix_head(files["k/0.md"]))
        want.update({"k/0.md": matrix_head(files["k/0.md"]), "k/2.md": matrix_head(files["k/2.md"])})
        desk.look(True)
        desk.expect(old["k/0.md"] in desk.state.documents and old["k/1.md"] in desk.state.documents, "watch", "a delete was not held")
        want.pop("k/1.md")
        other.put("d/c.md", matrix_head(files["d/c.md"]))
        want["d/c.md"] = matrix_head(files["d/c.md"])
        desk.state = None
        other.ws("sync", "--json")
        until(lambda: desk.state.by_path() == {path: content for path, content in want.items() if NOTE.search(path)}
              and desk.lying(tree.files()) == want, "all is alike")
        same_ids(desk, old, why="watched")
        # Most go: held back, and the rest goes on.
        gone = [path for path in want if NOTE.search(path) and path != "d/a.md"]
        for path in gone:
            tree.remove(path)
        time.sleep(5.5)
        want["d/a.md"] = matrix_tail(want["d/a.md"])
        tree.put("d/a.md", want["d/a.md"])
        until(lambda: desk.state.by_path().get("d/a.md") == want["d/a.md"], "the rest goes on")
        time.sleep(1)
        desk.look(True)
        desk.expect(all(path in desk.state.by_path() for path in gone), "watch", "what the guard stops was archived")
        desk.expect(not any(path in tree.files() for path in gone), "watch", "what the guard held was brought back")
    finally:
        watch.send_signal(signal.SIGTERM)
        ended = tree.ended(["sync", "watch"], watch)
        desk.state = None
    desk.expect(ended.code in (0, 143), "exit codes", "watch ended with %d: %s" % (ended.code, ended.err[-300:]))
    desk.run(tree, "sync", "--json", codes=(7,))
    for path in gone:
        want.pop(path)
    all_alike(desk, want, "let go")


@case("run", "steps")
def deleted_here_another_there(desk, how):
    """The note that was deleted here has another name there, and a new one has its name: the old document is archived."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    other.rename("d/b.md", "d/z.md")
    other.put("d/b.md", desk.text())
    tree.remove("d/b.md")
    want = {**files, "d/b.md": other.files()["d/b.md"]}
    desk.run(other, "sync", "--json")
    if how == "steps":
        desk.run(tree, "sync", "pull", "--json")
    desk.run(tree, "sync", "--json")
    all_alike(desk, want, "a delete and another note, by " + how)


@case("elsewhere", "same place", "renamed", "deleted", "picture", "here")
def undo_after_others(desk, since):
    """What somebody changed since the run is merged or left and named; it is never written over; the rest is taken back."""
    tree, other = both(desk)
    files = some(desk)
    old = begin(desk, files)
    first = matrix_head(files["d/b.md"], b"queen")
    tree.put("d/b.md", first)
    tree.put("d/c.md", matrix_head(files["d/c.md"]))
    tree.put("d/p.png", desk.picture())
    mine = tree.files()["d/p.png"]
    desk.run(tree, "sync", "--json")
    desk.run(other, "sync", "--json")
    want, moved = dict(files), []
    who = tree if since == "here" else other
    if since in ("elsewhere", "here"):
        who.put("d/b.md", matrix_tail(first))
        want["d/b.md"] = matrix_tail(files["d/b.md"])
    elif since == "same place":
        other.put("d/b.md", first.replace(b"queen", b"king"))
    elif since == "renamed":
        other.rename("d/b.md", "d/z.md")
        want["d/z.md"] = want.pop("d/b.md")
        moved = [("d/z.md", "d/b.md")]
    elif since == "deleted":
        other.remove("d/b.md")
        want.pop("d/b.md")
    else:
        other.put("d/p.png", desk.picture())
        want["d/p.png"] = other.files()["d/p.png"]
    theirs = desk.lying(other.files())
    if since != "here":
        desk.run(other, "sync", "--json")
    ended = desk.run(tree, "sync", "undo", "--json", codes=(0, 7, 13))
    report = ended.report()
    desk.expect(digest(files["d/c.md"]) == digest(tree.files()["d/c.md"]), "undo takes back", "what nobody changed since stays")
    if since == "same place":
        desk.look(True)
        desk.expect(desk.state.documents[old["d/b.md"]].content == theirs["d/b.md"], "undo takes back", "an edit of another was written over")
        named = {row["path"] for row in report["left"]} | {conflict["path"] for conflict in report["conflicts"]}
        desk.expect("d/b.md" in named, "undo takes back", "what was left is not named: %s" % report["left"])
        for conflict in desk.run(tree, "sync", "conflicts", "--json").report()["data"]:
            desk.run(tree, "sync", "resolve", conflict["id"], "--keep", "remote")
        want["d/b.md"] = theirs["d/b.md"]
    elif since == "picture":
        desk.expect("d/p.png" in {row["path"] for row in report["left"]} | {conflict["path"] for conflict in report["conflicts"]},
                    "undo takes back", "what was left is not named: %s" % report["left"])
        for conflict in desk.run(tree, "sync", "conflicts", "--json").report()["data"]:
            desk.run(tree, "sync", "resolve", conflict["id"], "--keep", "remote")
    elif since == "deleted":
        desk.run(tree, "sync", "--json", codes=(0, 7))
        for conflict in desk.run(tree, "sync", "conflicts", "--json").report()["data"]:
            desk.run(tree, "sync", "resolve", conflict["id"], "--keep", "remote")
    all_alike(desk, want, "undone after others")
    same_ids(desk, old, moved, "undone after others")
    desk.expect(mine in tree.history() or digest(mine) in desk.state.assets, "no byte lost", "the picture that was taken back")


@case("")
def all_files(desk):
    """`attachments: all` sends what no note shows; narrowed again it leaves it where it is; `off` as well."""
    tree, other = both(desk)
    files = {**some(desk)}
    begin(desk, files)
    more = {"x/one.png": desk.picture(), "x/two.png": desk.picture()}
    for path, content in more.items():
        tree.put(path, content)
    told(desk, desk.run(tree, "sync", "--json"), [])
    tree.set_filters([], {"attachments": "all"})
    for path in tree.files():
        if path.startswith(("secret-", "plain-")):
            (tree.folder / path).unlink()
    told(desk, desk.run(tree, "sync", "--json"), [("push_create", path, "") for path in more])
    told(desk, desk.run(other, "sync", "--json"), [("pull_create", path, "") for path in more])
    want = {**files, **more}
    for mode in ({}, {"attachments": "off"}, {}):
        tree.set_filters([], mode)
        told(desk, desk.run(tree, "sync", "--json"), [], "a narrowed setting takes nothing")
        holds(desk, tree, want, str(mode))
        serves(desk, want, str(mode))
    want["x/one.png"] = desk.picture()
    other.put("x/one.png", want["x/one.png"])
    all_alike(desk, want, "at the end")


@case("")
def who_wrote(desk):
    """`blame` and `log` name the person who made a change; a note that programs obey is named with who changed it."""
    tree, other = both(desk)
    files = {**some(desk), "AGENTS.md": desk.text()}
    begin(desk, files)
    other.put("d/b.md", matrix_head(files["d/b.md"]))
    other.put("AGENTS.md", matrix_head(files["AGENTS.md"]))
    desk.run(other, "sync", "--json")
    ended = desk.run(tree, "sync", "--json")
    told(desk, ended, [("pull_update", "AGENTS.md", ""), ("pull_update", "d/b.md", "")])
    lines = desk.run(tree, "sync", "blame", "d/b.md", "--json").report()["data"]
    text = files["d/b.md"].decode().split("\n")
    changed = [number for number, line in enumerate(matrix_head(files["d/b.md"]).decode().split("\n")[:len(text)]) if line != text[number]]
    for number, line in enumerate(lines):
        desk.expect(("Tomas" in line["author"]) == (number in changed), "blame", "line %d: %s" % (number + 1, line))
    states = desk.run(tree, "sync", "log", "d/b.md", "--json").report()["data"]
    desk.expect(len(states) == 2, "log", "%d states of two" % len(states))
    desk.expect("AGENTS.md" in str(ended.report()["remarks"]), "told", "AGENTS.md is not named, nor who changed it")
