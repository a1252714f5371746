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
        elif what == "missing_there" and which == "note":
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
    gone = ["hid_missing_there/" + name] if "note" in kinds else []
    for path in gone:  # archived there: kept here and told
        desk.expect(tree.files().get(path) == files[path], "a rule takes nothing", "%s is gone here once the rule is" % path)
        desk.expect(path not in desk.state.by_path(), "a rule takes nothing", "%s came to life again" % path)
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
