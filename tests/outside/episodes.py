"""The episodes: small scripts of two people and one thing, each with the one outcome that `docs/deciding.md` allows."""
import unicodedata

from actions import relative

EPISODES = {}  # name -> function


def episode(function):
    EPISODES[function.__name__] = function
    return function


# One note, two people.

def lines_of(text):
    return text.decode().split("\n")


def edited(desk, text, side):
    """An edit near the head (side 0) or near the end (side 1): the two do not touch. Returns what does it to any such text."""
    lines = lines_of(text)
    at = [number for number, line in enumerate(lines) if line.startswith("w")][0 if side == 0 else -1]
    old, how = lines[at], desk.dice.choice(["change", "same", "same", "insert", "drop", "after"])
    word = desk.word()

    def apply(text):
        lines = lines_of(text)
        at = lines.index(old)
        if how == "change":
            lines[at] = word + " changed"
        elif how == "same":
            lines[at] = old.replace("stone", "river" if side else "queen")
        elif how == "insert":
            lines[at:at] = [word + " inserted", ""]
        elif how == "drop":
            del lines[at:at + 2]
            if side and lines[-1] != "":
                lines.append("")
            while len(lines) > 1 and lines[-2] == "" and lines[-1] == "":
                lines.pop()
        else:
            lines[at + 1:at + 1] = ["", word + " after"]
        return "\n".join(lines).encode()
    return apply


class Change:
    """What one person does to one note: edits it, renames it, both in either order, deletes it."""

    def __init__(self, desk, what, path, text, side, target=None):
        self.what, self.path = what, path
        self.edit = edited(desk, text, side) if "edit" in what else lambda text: text
        self.target = (target or desk.new_name(path)) if "rename" in what else path
        self.other_form = "form" in what
        self.deletes, self.renames, self.edits = what == "delete", "rename" in what, "edit" in what

    def do(self, desk, tree):
        desk.met("change " + self.what)
        if self.deletes:
            return tree.remove(self.path)
        if self.other_form:
            tree.rename(self.path, unicodedata.normalize("NFD", self.path))
            self.path = unicodedata.normalize("NFD", self.path)
        steps = ["edit"] * self.edits + ["rename"] * self.renames
        path = self.path
        for step in desk.dice.sample(steps, len(steps)):
            if step == "rename":
                tree.rename(path, self.target)
                path = self.target
            else:  # a rename and a save beside it in one go could not be seen as one note
                desk.put(tree, path, self.edit(tree.files()[path]), "place" if self.renames or self.other_form else None)


CHANGES = ["edit", "edit", "rename", "edit rename", "delete", "form", "edit form"]


@episode
def one_note_two_people(desk):
    path = "%s/\u00fcb a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text, path[:-3] + "2.md": desk.text()})
    first, second = desk.two()
    x, y = desk.dice.choice(CHANGES), desk.dice.choice(CHANGES)
    x = Change(desk, x, path, text, 0)
    y = Change(desk, y, path, text, 1, x.target if x.renames and desk.dice.random() < 0.3 else None)
    x.do(desk, first)
    y.do(desk, second)
    desk.met("pair %s / %s" % (x.what, y.what))
    desk.sync(first)
    new = set()
    # A name in the other Unicode form is the same name: beside a deletion that is no change.
    if "delete" in (x.what, y.what) and {x.what, y.what} <= {"delete", "form"}:
        desk.drop(path)
    elif x.deletes and y.edits:
        desk.sync(second, 7)
        keep = desk.dice.choice(["local", "remote", "both"])
        desk.conflict(second)
        desk.run(second, "sync", "resolve", y.target, "--keep", keep)
        desk.drop(path)
        if keep != "remote":
            desk.want[y.target if keep == "local" else y.target[:-3] + " (local).md"] = y.edit(text)
    elif x.deletes:
        desk.drop(path)
        desk.want[y.target] = text
    elif y.deletes:
        desk.moved(path, x.target)
        desk.want[x.target] = x.edit(text)
    else:
        target = x.target if x.renames else y.target
        if x.renames and y.renames and x.target != y.target:
            desk.sync(second, 7)
            whose = desk.dice.choice(["local", "remote"])
            desk.run(second, "sync", "resolve", desk.conflict(second)["id"], "--path", whose)
            target = y.target if whose == "local" else x.target
        desk.moved(path, target)
        desk.want[target] = y.edit(x.edit(text))
    desk.settle()


@episode
def adjacent_lines(desk):
    """Merged with every line of both, or a conflict; nothing between."""
    path = "%s/a.md" % desk.folder()
    lines = ["# " + desk.word(first=True), ""] + ["- %s stone river" % desk.word() for _ in range(6)]
    desk.start({path: ("\n".join(lines) + "\n").encode()})
    first, second = desk.two()
    at = desk.dice.randint(2, 6)
    for tree, place in ((first, at), (second, at + 1)):
        one = list(lines)
        one[place] = "- %s changed" % desk.word() if desk.dice.random() < 0.5 else one[place].replace("stone", "queen")
        desk.put(tree, path, ("\n".join(one) + "\n").encode())
        lines_after = one if tree is first else lines_after[:place] + [one[place]] + lines_after[place + 1:]
    desk.sync(first)
    desk.calm = True
    ended = desk.run(second, "sync", "--json", codes=(0, 7))
    if ended.code == 7:
        desk.run(second, "sync", "resolve", path, "--keep", "merged", "--file", "-", codes=(2, 7, 0))
    if ended.code == 7:
        desk.run(second, "sync", "resolve", path, "--keep", "remote", codes=(0, 6))
        desk.want[path] = first.files()[path]
    else:
        desk.want[path] = ("\n".join(lines_after) + "\n").encode()
    desk.settle()


@episode
def colliding_edits(desk):
    """One line, two texts: each way to decide it."""
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text})
    first, second = desk.two()
    old = [line for line in lines_of(text) if line.startswith("w")][2].encode()
    theirs, ours = (text.replace(old, desk.word().encode() + end) for end in (b" one", b" other"))
    desk.put(first, path, theirs)
    desk.put(second, path, ours)
    desk.sync(first)
    keep = desk.dice.choice(["local", "remote", "both", "on local", "on remote", "markers", "file"])
    desk.met("decided " + keep)
    if keep.startswith("on "):
        desk.plain(second, 0, ("--on-conflict", keep[3:]))
    else:
        desk.sync(second, 7)
        if desk.dice.random() < 0.5:
            desk.sync(first)
            desk.sync(second, 7)
        if keep == "markers":
            desk.run(second, "sync", "resolve", path, "--markers", codes=(7, 0))
            held = second.files()[path]
            desk.expect(b"<<<<<<<" in held and tokens_in(theirs, held) and tokens_in(ours, held), "merges",
                        "--markers does not show both texts")
            desk.plain(second, 7)
            desk.put(second, path, theirs + b"\ndecided\n")
            desk.run(second, "sync", "resolve", path, "--keep", "merged")
        elif keep == "file":
            decided = desk.world.scratch / "decided.md"
            decided.write_bytes(theirs + b"\ndecided\n")
            desk.run(second, "sync", "resolve", path, "--file", str(decided))
        else:
            desk.run(second, "sync", "resolve", path, "--keep", keep)
    kept = keep.split()[-1]
    desk.want[path] = {"local": ours, "remote": theirs, "both": theirs}.get(kept, theirs + b"\ndecided\n")
    if kept == "both":
        desk.want[path[:-3] + " (local).md"] = ours
    desk.settle()


def tokens_in(text, held):
    from tree import tokens
    return tokens(text) <= tokens(held)


@episode
def new_at_one_path(desk):
    """Both make a note of one name: alike, or not."""
    folder = desk.folder()
    desk.start({folder + "/z.md": desk.text()})
    first, second = desk.two()
    theirs = desk.text()
    ours = theirs if desk.dice.random() < 0.4 else desk.text()
    path = folder + "/new.md"
    desk.put(first, path, theirs)
    desk.put(second, path, ours)
    desk.sync(first)
    desk.want[path] = theirs
    if ours != theirs:
        desk.sync(second, 7)
        keep = desk.dice.choice(["local", "remote", "both"])
        desk.run(second, "sync", "resolve", path, "--keep", keep)
        if keep == "local":
            desk.want[path] = ours
        elif keep == "both":
            desk.want[folder + "/new (local).md"] = ours
    desk.settle()


@episode
def front_matter(desk):
    """Each adds keys of their own at one place."""
    path = "%s/a.md" % desk.folder()
    body = desk.text().decode()
    desk.start({path: ("---\ntopic: stone\nend: x\n---\n" + body).encode()})
    first, second = desk.two()
    desk.put(first, path, ("---\ntopic: stone\none: 1\nend: x\n---\n" + body).encode())
    desk.put(second, path, ("---\ntopic: stone\nother: 2\nend: x\n---\n" + body).encode())
    desk.sync(first)
    desk.calm = True
    desk.sync(second)
    merged = second.files()[path].decode()
    desk.expect(sorted(merged.split("\n")) == sorted(("---\ntopic: stone\none: 1\nother: 2\nend: x\n---\n" + body).split("\n"))
                and merged.endswith("end: x\n---\n" + body), "merges", "front matter became %r" % merged[:200])
    desk.want[path] = merged.encode()
    desk.settle()


@episode
def names_in_a_ring(desk):
    """Two or three notes, or pictures, change names in a ring, while another person edits them."""
    folder, many = desk.folder(), desk.dice.choice([2, 3])
    paths = ["%s/%s.md" % (folder, letter) for letter in "abc"[:many]]
    texts = {path: desk.text() for path in paths}
    desk.start(texts)
    first, second = desk.two()
    change = {path: edited(desk, texts[path], 1) for path in paths}
    ring, other = (first, second) if desk.dice.random() < 0.5 else (second, first)
    targets = paths[1:] + [paths[0] if desk.dice.random() < 0.6 else folder + "/new.md"]
    ring.rename(paths[-1], folder + "/tmp.md")
    for place in reversed(range(many - 1)):
        ring.rename(paths[place], targets[place])
    ring.rename(folder + "/tmp.md", targets[-1])
    edits = desk.dice.sample(paths, desk.dice.randint(0, many))
    for path in edits:
        desk.put(other, path, change[path](texts[path]), "place")
    desk.sync(first)
    identities = [desk.ids.pop(path) for path in paths]
    for path in paths:
        desk.want.pop(path)
    for path, target, identity in zip(paths, targets, identities):
        desk.want[target] = change[path](texts[path]) if path in edits else texts[path]
        desk.ids[target] = identity
    desk.settle()


@episode
def folder_renamed(desk):
    """A folder is renamed at one tree; at the other its notes are edited, one is deleted, or one is new."""
    folder = desk.folder()
    names = ["a.md", "b.md", "deep/c.md"]
    texts = {folder + "/" + name: desk.text() for name in names}
    picture = desk.picture()
    texts[folder + "/a.md"] += b"\n![p](p.png)\n"
    texts[folder + "/p.png"] = picture
    desk.start(texts)
    first, second = desk.two()
    renaming, other = (first, second) if desk.dice.random() < 0.5 else (second, first)
    target = desk.dice.choice([folder + "x", folder.upper(), "moved/" + folder])
    renaming.rename(folder, target)
    what = desk.dice.choice(["edit", "nothing", "edit two"])
    changed = {}
    for name in names[:{"edit": 1, "edit two": 2, "nothing": 0}[what]]:
        path = folder + "/" + name
        changed[path] = edited(desk, texts[path], 1)(texts[path])
        desk.put(other, path, changed[path], "place")
    desk.sync(first)
    for path in texts:
        desk.moved(path, target + path[len(folder):])
        if path in changed:
            desk.want[target + path[len(folder):]] = changed[path]
    desk.settle()


@episode
def emptied(desk):
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text, path[:-4] + "b.md": desk.text(), path[:-4] + "c.md": desk.text()})
    first, second = desk.two()
    first.put(path, b"")
    theirs = edited(desk, text, 1)(text) if desk.dice.random() < 0.5 else None
    if theirs:
        desk.put(second, path, theirs)
    desk.sync(first)
    desk.want[path] = b""
    if theirs:
        desk.sync(second, 7)
        desk.run(second, "sync", "resolve", path, "--keep", "local")
        desk.want[path] = theirs
    desk.settle()


# Pictures.

@episode
def one_picture_two_people(desk):
    """Replaced, renamed with its links, deleted, at two trees; one note or two show it."""
    folder = desk.folder()
    path, note, other_note = folder + "/p.png", folder + "/a.md", folder + "/d/b.md"
    bytes_of = desk.picture(40)
    shown = [note] + [other_note] * desk.dice.randint(0, 1)
    files = {name: desk.text(links=["![p](%s)" % relative(name, path)]) for name in shown}
    desk.start({path: bytes_of, **files})
    first, second = desk.two()
    what = desk.dice.choice(["replace", "rename", "delete"]), desk.dice.choice(["replace", "rename", "delete"])
    if what == ("rename", "rename"):
        what = "rename", "replace"
    desk.met("picture %s / %s" % what)
    target = folder + desk.dice.choice(["/q.png", "/sub/p.png", "/P.png"])
    news = [desk.picture(40), desk.picture(40)]
    by_mv = False
    for tree, act, content in zip((first, second), what, news):
        if act == "replace":
            desk.put(tree, path, content)
        elif act == "delete":
            tree.remove(path)
        elif desk.dice.random() < 0.5:
            by_mv = desk.run(tree, "sync", "mv", path, target)
        else:
            tree.rename(path, target)
            for name in shown:
                tree.put(name, files[name].replace(relative(name, path).encode(), relative(name, target).encode()))
    if "rename" in what:
        for name in shown:
            desk.want[name] = files[name].replace(b"(%s)" % relative(name, path).encode(), b"(%s)" % relative(name, target).encode())
    desk.calm = bool(by_mv)
    desk.sync(first)
    place = target if "rename" in what else path
    content = news[what.index("replace")] if "replace" in what else bytes_of
    desk.want.pop(path)
    if what == ("delete", "delete"):
        pass
    elif what in (("replace", "replace"), ("delete", "replace")):
        desk.sync(second, 7)
        keep = desk.dice.choice(["local", "remote"])
        theirs = news[0] if what[0] == "replace" else None
        desk.run(second, "sync", "resolve", path, "--keep", keep)
        content = news[1] if keep == "local" else theirs
        if content:
            desk.want[path] = content
    else:
        desk.want[place] = content
    desk.settle()


@episode
def equal_pictures(desk):
    """Two names with equal bytes; one is replaced, renamed or deleted; the other stays."""
    folder = desk.folder()
    one, other, note = folder + "/p.png", folder + "/q.png", folder + "/a.md"
    same = desk.picture()
    text = desk.text(links=["![p](p.png) ![q](q.png)"])
    desk.start({note: text, one: same, other: same})
    first, second = desk.two()
    what = desk.dice.choice(["replace", "delete", "swap in", "third"])
    if what == "replace":
        desk.want[one] = desk.picture()
        desk.put(first, one, desk.want[one])
    elif what == "delete":
        first.remove(one)
        desk.drop(one)
    elif what == "swap in":  # one gets new bytes, and then the other gets the same
        desk.want[one] = desk.want[other] = desk.picture()
        desk.put(first, one, desk.want[one])
        desk.put(second, other, desk.want[one])
    else:
        desk.want[folder + "/r.png"] = same
        desk.want[note] = text + b"\n![r](r.png)\n"
        first.put(folder + "/r.png", same)
        first.put(note, desk.want[note])
    desk.sync(first)
    desk.settle()


@episode
def one_of_two_links_goes(desk):
    """A picture that two notes show stays when one of them goes, or its link."""
    folder = desk.folder()
    picture, note, other = folder + "/p.png", folder + "/a.md", folder + "/b.md"
    texts = {name: desk.text(links=["![p](p.png)"]) for name in (note, other)}
    desk.start({picture: desk.picture(), **texts})
    first, second = desk.two()
    if desk.dice.random() < 0.5:
        first.remove(note)
        desk.drop(note)
    else:
        desk.want[note] = texts[note].replace(b"![p](p.png)", b"no picture")
        desk.put(first, note, desk.want[note])
    desk.want[other] = edited(desk, texts[other], 0)(texts[other])
    desk.put(second, other, desk.want[other])
    desk.sync(first)
    desk.settle()


# The guard.

def guarded(gone, tracked, least):
    """Promise 6: more than ten and a quarter; more than half of at least four; all of at least `least`."""
    return (gone > 10 and gone * 4 > tracked) or (tracked >= 4 and gone * 2 > tracked) or (gone == tracked and gone >= least)


@episode
def guard(desk):
    """Most notes, or most pictures, go or are emptied at one tree: here, and there."""
    desk.clear()
    folder, many = desk.folder(), desk.dice.choice([1, 2, 3, 4, 5, 6, 12])
    what = desk.dice.choice(["notes", "notes", "emptied", "pictures"])
    if what == "pictures":
        names = ["%s/%d.png" % (folder, number) for number in range(many)]
        notes = ["%s/%d.md" % (folder, number) for number in range(2 * many + 4)]
        shown = "\n" + "".join("![p](%d.png)\n" % number for number in range(many))
        files = {**{name: desk.picture() for name in names}, **{note: desk.text(1) for note in notes}}
        files[notes[0]] += shown.encode()
    else:
        names = ["%s/%d.md" % (folder, number) for number in range(many)]
        files = {name: desk.text(1) for name in names}
    desk.start(files)
    first, second = desk.two()
    gone = desk.dice.choice([many, many // 2, many // 2 + 1, many - 1])
    gone = max(1, min(gone, many))
    for name in names[:gone]:
        if what == "emptied":
            first.put(name, b"")
            desk.want[name] = b""
        else:
            first.remove(name)
            desk.drop(name)
    stops = guarded(gone, many, 4 if what == "pictures" else 2)
    desk.met("guard %s %d of %d: %s" % (what, gone, many, "stops" if stops else "goes on"))
    desk.calm = True
    if not stops:
        desk.settle()
        return
    words = desk.dice.choice([["sync"], ["sync", "push"], ["sync", "--yes"]])
    pushes_pictures = words[-1] == "push" and what == "pictures"  # it stages notes alone
    ended = desk.run(first, *words, "--json", codes=(0, 7) if pushes_pictures else (7,))
    desk.expect(ended.is_guard() or pushes_pictures, "guard", "7, and not by the guard")
    if words[1:] == ["push"]:
        desk.run(first, "sync", "commit", "--json", codes=(0, 7))
        desk.expect(all(name in desk.state.by_path() or name in desk.state.files for name in names[:gone]), "guard",
                    "what it stopped was committed")
    desk.plain(first, 7)
    desk.plain(first, 0, ("--allow-deletes",))
    ended = desk.run(second, "sync", "--json", codes=(7,))
    desk.expect(ended.is_guard(), "guard", "7, and not by the guard")
    desk.settle(flags=("--allow-deletes",))


# Rules: what they hide is kept, here and there.

def rules(desk, folder):
    """(what hides the note or the picture, the name of the note, which of them)."""
    ignored = [(folder + "/", "note"), (folder + "/", "picture"), ("/%s/a.md" % folder, "note"), ("a.md", "note"), ("*.md", "note"),
               ("/%s/p.png" % folder, "picture"), ("*.png", "picture")]
    settings = [("attachments", "off", "picture"), ("attachments_exclude", ["**/p.png", "p.png"], "picture"),
                ("attachments_max_bytes", 20, "picture"), ("max_file_bytes", 30, "note"), ("names", "portable", "note")]
    kind = desk.dice.choice(["ignored", "settings", "settings", "nested", "hidden", "stub"])
    if kind == "ignored":
        rule, which = desk.dice.choice(ignored)
        return ([rule], {}), "a.md", which
    if kind == "settings":
        key, value, which = desk.dice.choice(settings)
        return ([], {key: value}), "What?.md" if key == "names" else "a.md", which
    return kind, "a.md", desk.dice.choice(["note", "picture"])


def hide(tree, rule, folder, path):
    """Sets the rule, or gives the file a name that is out of sight."""
    name = path.rsplit("/", 1)[-1]
    if rule == "nested":
        tree.put(folder + "/.wsignore", name.encode() + b"\n")
    elif rule in ("hidden", "stub"):
        tree.rename(path, "%s/.%s%s" % (folder, name, ".icloud" if rule == "stub" else ""))
    else:
        tree.set_filters(*rule)


def show(tree, rule, folder, path):
    name = path.rsplit("/", 1)[-1]
    if rule == "nested":
        tree.remove(folder + "/.wsignore")
    elif rule in ("hidden", "stub"):
        tree.rename("%s/.%s%s" % (folder, name, ".icloud" if rule == "stub" else ""), path)
    else:
        tree.set_filters([], {})


@episode
def hidden_by_a_rule(desk):
    """A rule hides a note or its picture; it goes missing, or changes, here or there; the rule is taken away."""
    folder = desk.folder()
    rule, name, which = rules(desk, folder)
    note, picture = folder + "/" + name, folder + "/p.png"
    text = desk.text(links=["![p](p.png)"])
    desk.start({note: text, picture: desk.picture(), folder + "x/keep.md": desk.text()})
    here, other = desk.two()
    path = picture if which == "picture" else note
    desk.calm = True
    hide(here, rule, folder, path)
    seen = rule != "stub" and rule != "hidden"  # the file still has its name here
    desk.met("rule %s" % (rule if isinstance(rule, str) else (list(rule[1]) or "ignored")))

    def kept(trees, why):
        for tree in trees:
            desk.expect(path in tree.files(), "a rule takes nothing", "%s is gone in %s %s" % (path, tree.name, why))
        desk.expect(path in desk.look(True).state.by_path() or path in desk.state.files, "a rule takes nothing",
                    "%s is gone on the service %s" % (path, why))

    def all_sync(trees):
        for tree in trees:
            desk.run(tree, "sync", "--json", codes=(0,))

    all_sync([here, other])
    kept([here, other] if seen else [other], "once the rule is set")
    what = desk.dice.choice(["missing here", "missing there", "edited here", "edited there", "nothing"] if seen else
                            ["missing there", "edited there", "nothing"])
    desk.met("hidden: " + what)
    change = desk.picture() if path == picture else edited(desk, text, 0)(text)
    tree = here if what.endswith(" here") else other
    if what.startswith("missing"):
        tree.remove(path)
    elif what.startswith("edited"):
        desk.put(tree, path, change)
        desk.want[path] = change
    all_sync([here, other, here] if desk.dice.random() < 0.5 else [other, here, other])
    if what != "missing there":
        kept([other] if what == "missing here" or not seen else [here, other], "when it is %s" % what)
    show(here, rule, folder, path)
    if what == "missing there":  # gone there: kept here and told, until somebody deletes it here too
        all_sync([here])
        desk.expect(path in here.files(), "a rule takes nothing", "%s is gone here once the rule is" % path)
        here.remove(path)
        desk.drop(path)
    desk.settle()


@episode
def only_some(desk):
    """`--only` sends and takes what it names, and nothing else."""
    folder = desk.folder()
    one, other = folder + "/one/a.md", folder + "/two/b.md"
    texts = {one: desk.text(), other: desk.text(), folder + "/two/p.png": desk.picture()}
    texts[other] += b"\n![p](p.png)\n"
    desk.start(texts)
    first, second = desk.two()
    for path in (one, other):
        desk.want[path] = edited(desk, texts[path], 1)(texts[path])
        desk.put(first, path, desk.want[path])
    desk.want[folder + "/two/p.png"] = desk.picture()
    desk.put(first, folder + "/two/p.png", desk.want[folder + "/two/p.png"])
    before = desk.look()
    desk.run(first, "sync", "--only", folder + "/one/*", "--json", codes=(0,))
    there = desk.state.by_path()
    desk.expect(there[one] == desk.want[one] and there[other] == texts[other] and desk.state.files == before.state.files,
                "only", "--only one/* sent something else, or nothing")
    desk.run(second, "sync", "--only", folder + "/two/*", "--json", codes=(0,))
    desk.expect(second.files()[one] == texts[one], "only", "--only two/* took one/a.md")
    desk.settle()


# Links.

def linked(folder, note, other, picture, word):
    """The text of `note`, with links of each style."""
    other_link, picture_link = relative(note, other), relative(note, picture)
    return ("# %s\n\n[a](%s) and [again](%s#part), ![p](%s)\n\n<img src=\"%s\"> `[code](b.md)` [[%s]]\n\n[r]: %s \"Title\"\n" % (
        word, other_link, other_link, picture_link, picture_link, other.rsplit("/", 1)[-1][:-3], other_link)).encode()


@episode
def moved_with_links(desk):
    """`mv` of a note, a picture, a folder: exactly the link targets change; and back; taken back; or mended by `links fix`."""
    folder = desk.folder()
    note, other, picture = folder + "/a.md", folder + "/x%d.md" % desk.made, folder + "/img/p.png"
    words = desk.word(first=True), desk.word(first=True), desk.word(first=True)
    lasting = folder + "/s/c.md"
    third = linked(folder, lasting, other, picture, words[2])
    texts = {note: linked(folder, note, other, picture, words[0]), other: linked(folder, other, note, picture, words[1]).replace(
        b"[[a]]", b""), lasting: third, picture: desk.picture()}
    desk.start(texts)
    first, second = desk.two()
    moving = desk.dice.choice(["note", "picture", "linking"])
    target = {"note": folder + "/far/" + other.rsplit("/", 1)[1], "picture": folder + "/q r.png", "linking": folder + "/s/t/a.md"}[moving]
    source = {"note": other, "picture": picture, "linking": note}[moving]
    how = desk.dice.choice(["mv", "mv", "fix", "keep"])
    before = first.files()
    desk.calm = how != "mv"
    if how == "mv":
        desk.run(first, "sync", "mv", "-n", source, target)
        desk.expect(first.files() == before, "looking changes nothing", "mv -n did")
        desk.run(first, "sync", "mv", source, target)
    elif how == "fix":
        first.rename(source, target)
        if moving == "picture" or desk.dice.random() < 0.5:  # of a picture's rename it knows once a run has seen it
            desk.run(first, "sync", "--json", codes=(0,))
        desk.run(first, "links", "fix", "--yes", codes=(0,))
    else:
        first.set_filters([], {"links": "keep"})
        first.rename(source, target)
        desk.run(first, "sync", "--json", codes=(0,))
        first.set_filters([], {})
    now = {path: target if path == source else path for path in texts}
    wanted = {now[note]: linked(folder, now[note], now[other], now[picture], words[0]),
              now[other]: linked(folder, now[other], now[note], now[picture], words[1]).replace(b"[[a]]", b""),
              lasting: linked(folder, lasting, now[other], now[picture], words[2]), now[picture]: texts[picture]}
    desk.met("links by %s of %s" % (how, moving))
    here = {path: content for path, content in first.files().items() if path.startswith(folder + "/")}
    desk.differ("after %s" % how, wanted, here)
    if how == "mv" and desk.dice.random() < 0.4:
        back = desk.dice.choice(["mv", "undo"])
        desk.run(first, *(["sync", "mv", target, source] if back == "mv" else ["sync", "undo"]))
        desk.differ("moved back by " + back, before, first.files())
        if back == "undo":
            desk.run(first, "sync", "redo")
            desk.differ("redone", here, {p: c for p, c in first.files().items() if p.startswith(folder + "/")})
        else:
            wanted = texts
    if source not in wanted:
        desk.moved(source, target)
    for path in texts:
        if path not in wanted and path in desk.want:
            desk.drop(path)
    desk.want.update(wanted)
    if desk.dice.random() < 0.5 and lasting in wanted:
        edit = lambda text: text + b"\nnew at the end\n"
        desk.put(second, lasting, edit(texts[lasting]))
        desk.want[lasting] = edit(wanted[lasting])
        desk.calm = True
        desk.sync(first)
        ended = desk.run(second, "sync", "--json", codes=(0, 7))
        if ended.code == 7:
            desk.run(second, "sync", "resolve", lasting, "--keep", "remote")
            desk.want[lasting] = wanted[lasting]
    desk.settle()


# The history.

@episode
def restored(desk):
    """An older text, or a deleted note or picture, comes back; then perhaps a rename by hand."""
    folder = desk.folder()
    note, picture = folder + "/a.md", folder + "/p.png"
    text = desk.text(links=["![p](p.png)"])
    desk.start({note: text, picture: desk.picture(), folder + "/b.md": desk.text()})
    first, second = desk.two()
    what = desk.dice.choice(["edited", "deleted", "picture", "picture deleted"])
    path = picture if "picture" in what else note
    old = desk.want[path]
    if "deleted" in what:
        first.remove(path)
        desk.drop(path)
    else:
        desk.want[path] = desk.picture() if path == picture else edited(desk, text, 0)(text)
        desk.put(first, path, desk.want[path])
    desk.sync(first)
    desk.calm = True
    desk.settle()
    by = desk.dice.choice([first, second])
    desk.run(by, "sync", "restore", path)
    desk.expect(by.files().get(path) == old, "restore", "%s is not as it was" % path)
    desk.want[path] = old
    if path == note and desk.dice.random() < 0.5:
        by.rename(note, folder + "/later.md")
        desk.moved(note, folder + "/later.md")
    desk.calm = False
    desk.settle()


@episode
def undone_later(desk):
    """A run of several kinds of change is taken back: in parts, twice, from the middle, after another edit, when killed."""
    folder = desk.folder()
    edit, gone, ren, picture, pic2 = (folder + "/" + name for name in ("e.md", "g.md", "r.md", "p.png", "q.png"))
    files = {path: desk.text() for path in (edit, gone, ren)}
    files[edit] += b"\n![p](p.png) ![q](q.png)\n"
    files.update({picture: desk.picture(), pic2: desk.picture()})
    desk.start(files)
    base = dict(desk.want)
    first, second = desk.two()
    change = edited(desk, files[edit], 0)
    desk.put(first, edit, change(files[edit]))
    first.remove(gone)
    first.rename(ren, folder + "/s.md")
    desk.put(first, picture, desk.picture())
    first.remove(pic2)
    new = folder + "/n.md"
    first.put(new, desk.text())
    desk.calm = True
    desk.plain(first, 0)
    after_run = desk.lying(first.files())
    by = desk.dice.choice([first, second])
    desk.plain(second, 0)
    how = desk.dice.choice(["all", "part", "edited since", "killed", "twice"])
    desk.met("taken back: %s, %s" % (how, "where it was sent" if by is first else "where it came"))
    desk.want = dict(base)
    desk.ids_anew = True
    if how == "part":
        desk.run(by, "sync", "undo", "--only", folder + "/e.md", "--json", codes=(0, 13))
        desk.differ("taken back in part", {**after_run, edit: base[edit]}, desk.lying(by.files()))
        desk.run(by, "sync", "undo", "--allow-deletes", "--json", codes=(0, 13))
    elif how == "edited since":
        later = edited(desk, files[edit], 1)
        desk.put(by, edit, later(by.files()[edit]))
        if desk.dice.random() < 0.5:
            desk.plain(by, 0)
            run = desk.world.runs(by)[1]["run"]
            desk.run(by, "sync", "undo", str(run), "--allow-deletes", "--json", codes=(0, 13))
        else:
            desk.run(by, "sync", "undo", "--allow-deletes", "--json", codes=(0, 13))
        desk.want[edit] = later(files[edit])
    elif how == "killed":
        from tree import after
        for _ in range(2):
            ended = desk.stopped(by, ["sync", "undo", "--allow-deletes"], after(desk.dice.randint(5, 60) / 1000))
            if not ended.stopped or ended.code == 0:
                break  # it came to its end: another one would take back the run before
        desk.again(by, 0)
        desk.differ_from_either(by, base, after_run)
        if desk.lying(by.files()) == after_run:
            desk.run(by, "sync", "undo", "--allow-deletes", "--json", codes=(0, 13))
    else:
        desk.run(by, "sync", "undo", "--allow-deletes", "--json", codes=(0, 13))
        if how == "twice":
            desk.differ("taken back", base, desk.lying(by.files()))
            desk.run(by, "sync", "redo", "--allow-deletes", "--json")
            desk.differ("redone", after_run, desk.lying(by.files()))
            desk.run(by, "sync", "undo", "--allow-deletes", "--json")
    desk.differ("taken back", desk.want, desk.lying(by.files()))
    desk.settle()


# Steps, folders, new names, people who look.

@episode
def steps_with_another_between(desk):
    """`push` in one tree, another's sync, `commit` in the first."""
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text, path[:-4] + "b.md": desk.text()})
    first, second = desk.two()
    x = Change(desk, desk.dice.choice(["edit", "rename", "edit rename"]), path, text, 0)
    y = Change(desk, desk.dice.choice(["edit", "form"]), path, text, 1)
    x.do(desk, first)
    y.do(desk, second)
    desk.run(first, "sync", "push", "--json", codes=(0,))
    desk.plain(second, 0)
    desk.run(first, "sync", "commit", "--json", codes=(0, 7, 13))
    desk.moved(path, x.target)
    desk.want[x.target] = y.edit(x.edit(text))
    desk.settle()


@episode
def pulled_alone(desk):
    """`pull` applies what comes, and leaves a merge as a local edit; then `push` and `commit`, or `sync`."""
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text, path[:-4] + "b.md": desk.text()})
    first, second = desk.two()
    x, y = Change(desk, desk.dice.choice(CHANGES[:4]), path, text, 0), Change(desk, "edit", path, text, 1)
    x.do(desk, first)
    y.do(desk, second)
    desk.sync(first)
    before = desk.look().state.by_path()
    desk.run(second, "sync", "pull", "--json")
    desk.expect(desk.state.by_path() == before, "pull sends nothing", "it did")
    desk.moved(path, x.target)
    desk.want[x.target] = y.edit(x.edit(text))
    desk.expect(second.files().get(x.target) == desk.want[x.target], "pull", "%s is not the merge" % x.target)
    if desk.dice.random() < 0.5:
        desk.run(second, "sync", "push", "--json")
        desk.run(second, "sync", "commit", "--json")
        desk.expect(desk.state.by_path().get(x.target) == desk.want[x.target], "commit", "%s is not the merge" % x.target)
    desk.settle()


@episode
def moved_onto_a_new_note(desk):
    """One renames a note to a name at which the other has just made one."""
    folder = desk.folder()
    path, target = folder + "/a.md", folder + "/b.md"
    text, made = desk.text(), desk.text()
    desk.start({path: text, folder + "/c.md": desk.text()})
    first, second = desk.two()
    renaming, making = (first, second) if desk.dice.random() < 0.5 else (second, first)
    renaming.rename(path, target)
    making.put(target, made)
    desk.sync(first)
    desk.sync(second, 7)
    beside = folder + "/b (remote).md"
    desk.expect(second.files().get(beside) == first.files()[target], "path clash", "the remote text is not beside")
    desk.plain(second, 7)
    ours = second.files()[target]
    whose = desk.dice.choice(["local", "remote"])
    desk.run(second, "sync", "resolve", desk.conflict(second)["id"], "--path", whose)
    desk.drop(path)
    desk.calm = True
    for tree in desk.trees * 2:
        desk.plain(tree, 0)
    held = desk.lying(second.files())
    desk.expect(sorted(content for path, content in held.items() if path.startswith(folder + "/")) ==
                sorted([text, made, desk.want[folder + "/c.md"]]), "path clash", "not both notes are there: %s" % sorted(held))
    desk.expect(held[target] == (ours if whose == "local" else (made if making is first else text)), "path clash",
                "--path %s gave the name to the other" % whose)
    desk.want = held
    desk.settle()


@episode
def note_becomes_folder(desk):
    """A note becomes a folder of notes at one tree; the other edits it, or not."""
    folder = desk.folder()
    path = folder + "/a.md"
    text, inner = desk.text(), desk.text()
    desk.start({path: text, folder + "/b.md": desk.text(), folder + "/c.md": desk.text()})
    first, second = desk.two()
    first.remove(path)
    first.put(path + "/inner.md", inner)
    desk.sync(first)
    desk.drop(path)
    desk.want[path + "/inner.md"] = inner
    if desk.dice.random() < 0.5:  # ET: the local text lies beside
        edit = edited(desk, text, 0)(text)
        desk.put(second, path, edit)
        desk.calm = True
        desk.sync(second)
        desk.want[folder + "/a (local).md"] = edit
    desk.settle()


@episode
def one_who_looks(desk):
    """With a viewer's key: what comes is taken, what is written here stays here, and the exit says so."""
    folder = desk.folder()
    path, mine = folder + "/a.md", folder + "/b.md"
    texts = {path: desk.text(), mine: desk.text()}
    desk.start(texts)
    first, second = desk.two()
    desk.want[path] = edited(desk, texts[path], 0)(texts[path])
    desk.put(first, path, desk.want[path])
    desk.sync(first)
    desk.want[mine] = edited(desk, texts[mine], 1)(texts[mine])
    desk.put(second, mine, desk.want[mine])
    before = desk.look()
    ended = second.ws("sync", "--json", as_viewer=True)
    desk.judge(second, before, ended, codes=(13,))
    desk.expect(desk.state.by_path() == before.state.by_path(), "a viewer changes nothing", "the service is changed")
    desk.expect(second.files()[path] == desk.want[path] and second.files()[mine] == desk.want[mine], "a viewer takes what comes",
                "it is not there, or what was written is gone")
    desk.settle()


@episode
def somebody_elses_wish(desk):
    """A link that arrives and names a file that lies here sends nothing; one written here does."""
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text})
    first, second = desk.two()
    secret = "secret-%s.%s" % (second.name, desk.dice.choice(["png", "json"]))
    desk.want[path] = text + ("\n![s](%s)\n" % relative(path, secret)).encode()
    desk.put(first, path, desk.want[path])
    desk.calm = True
    desk.sync(first)
    desk.sync(second)
    if desk.dice.random() < 0.5:  # an edit of the same note is no wish
        desk.want[path] += b"\n" + desk.word().encode() + b" by the other\n"
        desk.put(second, path, desk.want[path])
        desk.sync(second)
        desk.sync(first)
    desk.want[path] = text
    desk.put(first, path, text)
    desk.settle()


@episode
def accepted_deletes(desk):
    """`--accept-deletes`: a delete here wins over an edit or a move there; without it the file comes back."""
    path = "%s/a.md" % desk.folder()
    text = desk.text()
    desk.start({path: text, path[:-4] + "b.md": desk.text(), path[:-4] + "c.md": desk.text(), path[:-4] + "d.md": desk.text()})
    first, second = desk.two()
    x = Change(desk, desk.dice.choice(["edit", "rename", "edit rename"]), path, text, 0)
    x.do(desk, first)
    desk.sync(first)
    second.remove(path)
    desk.plain(second, 0, ("--accept-deletes",))
    desk.drop(path)
    desk.settle()
