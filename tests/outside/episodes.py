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
    if x.deletes and y.deletes:
        desk.drop(path)
    elif x.deletes and y.edits:
        desk.sync(second, 7)
        keep = desk.dice.choice(["local", "remote", "both"])
        desk.conflict(second)
        desk.run(second, "sync", "resolve", y.target, "--keep", keep)
        desk.drop(path)
        if keep != "remote":
            desk.want[y.target] = y.edit(text)
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
