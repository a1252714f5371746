"""Cases of one feature, or of two that meet: fixed courses with the one outcome that the documents allow."""
import os
import signal
import time

import judge
import matrix
from actions import relative
from episodes import guarded, linked
from exact import (CUTS, Matrix, beside, case, cut, holds, ids, normal, normal_rows, one_sided, quiet, requests, revisions, sent,
                   serves, shown_rows, stats, told)
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

@case((), ("keep",))
def ladder(desk, how=""):
    """Runs of every command, one upon the other; undo leads back over each, redo up again, and undo to the empty beginning."""
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

    empty = ({}, {}, {})
    run("first", empty)
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
        compare(empty, "undo of nothing")
        for what, _, after in rungs if turn == 0 else ():
            desk.run(tree, "sync", "redo", "--json", "--allow-deletes", codes=(0,))
            compare(after, "redo of `%s`" % what)
        quiet(desk, tree)
    desk.run(other, "sync", "--json")
    holds(desk, other, {}, "after all was taken back")
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


@case(*[(operation, phase) for operation, phase in CUTS],
      long=[cut_ for cut_ in CUTS if cut_ not in [("sync.commit", "after"), ("sync.push", "before"), ("upload.put", "before")]])
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


@case("sync")
def undo_previewed(desk, how):
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


@case(*GUARDS, *[("emptied", *one) for one in GUARDS if one[1] and not one[2]],
      long=[*[one for one in GUARDS if one in ((30, 10, 0, 0), (3, 2, 0, 0), (2, 2, 0, 0))],
            *[("emptied", *one) for one in GUARDS if one[1] and not one[2] and one != (4, 3, 0, 0)]])
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


@case((101, "new"), (101, "edited"), (101, "renamed"), (101, "deleted"), (100, "new"), (201, "edited"), (12, "pictures"),
      long=((100, "new"), (201, "edited")))
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


@case(*[(how, moving) for how in ("mv", "fix", "keep", "fix rename", "keep cut") for moving in ("note", "picture", "linking", "folder")],
      long=[("fix rename", "note"), ("fix rename", "folder"), ("keep cut", "picture"), ("fix", "note")])
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
    here = desk.lying(tree.files())
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
