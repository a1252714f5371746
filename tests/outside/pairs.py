"""Cases in which two features meet: what came by one command and is then touched by another, or by another person."""
import signal
import time

import judge
import matrix
from cases import all_alike, begin, both, matrix_head, matrix_tail, same_ids, some, tiny
from exact import case, cut, holds, ids, sent, serves, stats


def few(desk, count=6, folder="k"):
    return {"%s/%02d.md" % (folder, number): desk.text(1) for number in range(count)}


def steps(desk, tree, how):
    """Syncs by these steps, then wholly."""
    for verb in how.split() if how != "run" else ():
        desk.run(tree, "sync", verb, "--json", codes=(0, 7, 13) if verb == "commit" else (0,))
    return desk.run(tree, "sync", "--json")


# Names and texts of one note, changed at both.

@case(*[(here, there, how) for here, there in (("edit", "edit"), ("edit", "both"), ("both", "edit"), ("both", "both"), ("name", "edit"))
        for how in ("run", "push commit")], ("edit", "both", "pull"), ("both", "edit", "pull push commit"))
def name_and_text(desk, here, there, how):
    """Renamed, edited or both, here and there: both edits, the new name, one document; what lay here before is in the history."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), "d/b.md": desk.text(), **few(desk, 4)}
    old = begin(desk, files)
    target = "d/z.md" if "both" in (here, there) or here == "name" else "d/a.md"
    text = files["d/a.md"]
    for one, what, edit in ((tree, here, matrix_head), (other, there, matrix_tail)):
        if what != "name":
            one.put("d/a.md", edit(text))
        if what in ("both", "name"):
            one.rename("d/a.md", target)
    mine = edited_of(tree, "d/a.md", target)
    want = {**files, target: matrix_tail(text) if here == "name" else matrix_head(matrix_tail(text))}
    if target != "d/a.md":
        want.pop("d/a.md")
    desk.run(other, "sync", "--json")
    steps(desk, tree, how)
    holds(desk, tree, want, "by " + how)
    serves(desk, want, "by " + how)
    desk.expect(mine in tree.history(), "no byte lost", "the text that lay here before the merge is not in the history")
    all_alike(desk, want, "by " + how)
    same_ids(desk, old, [(target, "d/a.md")], "by " + how)


def edited_of(tree, *paths):
    files = tree.files()
    return [files[path] for path in paths if path in files][0]


@case(*[(edited, keep) for edited in ("here", "there", "both") for keep in ("local", "remote")])
def renamed_otherwise(desk, edited, keep):
    """Two new names and an edit: the name is decided, the edits of both arrive; the next edit sends no older text."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), **few(desk, 4)}
    old = begin(desk, files)
    text = want = files["d/a.md"]
    tree.rename("d/a.md", "d/mine.md")
    other.rename("d/a.md", "d/theirs.md")
    if edited in ("here", "both"):
        tree.put("d/mine.md", matrix_head(text))
        want = matrix_head(want)
    if edited in ("there", "both"):
        other.put("d/theirs.md", matrix_tail(text))
        want = matrix_tail(want)
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "--json", codes=(7,))
    desk.run(tree, "sync", "resolve", desk.conflict(tree)["id"], "--path", keep)
    path = "d/mine.md" if keep == "local" else "d/theirs.md"
    files.pop("d/a.md")
    files[path] = want
    all_alike(desk, files, "the name is decided", further=False)
    tree.put(path, want + b"\nmore\n")
    files[path] = want + b"\nmore\n"
    all_alike(desk, files, "edited again")
    same_ids(desk, old, [(path, "d/a.md")], "the name is decided")


@case("note", "folder")
def renamed_alike(desk, what):
    """Both give one new name, each in its own Unicode form: no conflict, one document, and each disk keeps its form."""
    import unicodedata
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), "d/b.md": desk.text(), **few(desk, 3)}
    old = begin(desk, files)
    source, target = ("d/a.md", "d/\u00fcb\u00e9.md") if what == "note" else ("d", "\u00fcd")
    other.rename(source, target)
    tree.rename(source, unicodedata.normalize("NFD", target))
    moved = {target + path[len(source):]: path for path in files if path == source or path.startswith(source + "/")}
    want = {path: content for path, content in files.items() if path not in moved.values()}
    want.update({path: files[past] for path, past in moved.items()})
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "--json", codes=(0,))
    all_alike(desk, want, "renamed alike")
    same_ids(desk, old, moved.items(), "renamed alike")


# Runs that are cut, and who finishes them.

def placed(tree, files):
    """The moment at which one of the files has its new bytes."""
    places = [(str(tree.folder / path), content) for path, content in files.items()]

    def moment(process):
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() - begin < 20:
            for place, content in places:
                try:
                    with open(place, "rb") as file:
                        if file.read() == content:
                            return time.monotonic() - begin
                except FileNotFoundError:
                    pass
        return time.monotonic() - begin
    return moment


@case(*[(which, by) for which in ("new", "edited", "renamed", "pictures") for by in ("run", "pull")])
def cut_in_place(desk, which, by):
    """Killed while what came is put in place: finished, nothing of it is taken for a deed of this tree, and undo gives back all."""
    tree, other = both(desk)
    files = {"keep.md": desk.text(), **few(desk, 250 if which in ("edited", "renamed") else 3)}
    old = begin(desk, files)
    want, first = dict(files), {}
    if which == "new":
        first = few(desk, 250, "n")
    elif which == "pictures":
        first = {"p/%03d.png" % number: desk.picture() for number in range(300)}
        want["keep.md"] += b"\n" + b"".join(b"![p](%s)\n" % path.encode() for path in first)
        other.put("keep.md", want["keep.md"])
    elif which == "edited":
        first = {path: matrix_head(content) for path, content in files.items() if path != "keep.md"}
    else:
        want = {"m" + path[1:] if path != "keep.md" else path: content for path, content in files.items()}
        other.rename("k", "m")
        first = {path: content for path, content in want.items() if path != "keep.md"}
    for path, content in first.items() if which != "renamed" else ():
        other.put(path, content)
    want.update(first)
    desk.run(other, "sync", "--json")
    before = desk.look(True)
    there = before.state
    middle = dict(sorted(first.items())[:2])
    ended = tree.ws_stopped(["sync", "--json"], signal.SIGKILL, placed(tree, middle))
    desk.judge(tree, before, ended, faulty=True)
    part = len([path for path in first if tree.files().get(path) == first[path]])
    desk.met("cut in place: %s" % ("some are there" if 0 < part < len(first) else "all or none"))
    desk.world.service.forget_requests()
    if by != "run":
        desk.run(tree, "sync", by, "--json", codes=(0,), faulty=True)
    desk.run(tree, "sync", "--json", codes=(0,), faulty=True)
    items, _ = sent(desk)
    desk.expect(not items, "nothing else", "what came was sent back: %s" % judge.short(item["path"] for item in items))
    desk.expect(there.by_path() == desk.state.by_path(), "nothing else", "the service was changed by a run that was cut while it received")
    holds(desk, tree, want, "cut and finished")
    runs = [row["run"] for row in desk.world.runs(tree)]
    desk.expect(len(runs) == 2, "one operation", "the log has %s" % runs)
    desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, tree, files, "taken back")
    serves(desk, files, "taken back")


FINISHED_BY = ["run", "pull", "push", "commit", "pull push commit"]


@case(*[(way, by) for way in ("sent", "received", "both") for by in FINISHED_BY])
def cut_finished_by(desk, way, by):
    """A run that was cut after half of it is one run, by whatever command it is finished: one undo gives all of it back."""
    tree, other = both(desk)
    files = {**some(desk), **few(desk, 5)}
    begin(desk, files)
    maker, mine = tree if way == "sent" else other, {}
    want = {**files, "d/a.md": matrix_head(files["d/a.md"]), "d/b.md": matrix_head(files["d/b.md"]), "d/n.md": desk.text(), "k/9.md": files["k/01.md"]}
    if way != "sent":
        want.update({"d/p.png": desk.picture(), "d/q.png": desk.picture(), "d/n.png": desk.picture()})
        want["d/a.md"] += b"\n![n](n.png)\n"
    for path in ("k/00.md", "k/01.md"):
        want.pop(path)
    maker.rename("k/01.md", "k/9.md")
    maker.remove("k/00.md")
    for path, content in want.items():
        if files.get(path) != content and path != "k/9.md":
            maker.put(path, content)
    if way != "sent":
        desk.run(maker, "sync", "--json")
    if way == "received":
        cut(desk, tree, ["sync", "--json"], "files.content", "before", 3)
    elif way == "both":  # all is received, and the list of files is not yet sent
        mine = {"d/r.png": desk.picture()}
        tree.put("d/r.png", mine["d/r.png"])
        desk.run(tree, "sync", "attachments", "add", "d/r.png")
        want.update(mine)
        cut(desk, tree, ["sync", "--json"], "sync.push", "before")
    else:
        cut(desk, tree, ["sync", "--json"], "sync.commit", "after")
    for verb in by.split():
        desk.run(tree, "sync", *([verb] if verb != "run" else []), "--json", codes=(0,), faulty=True)
    runs = [row["run"] for row in desk.world.runs(tree)]
    desk.expect(len(runs) == 2, "one operation", "cut, and finished by %s, the log has %s" % (by, runs))
    if way == "sent" or by not in ("push", "commit"):
        holds(desk, tree, want, "finished by " + by)
        if way != "both" or by == "run":  # steps send notes alone
            serves(desk, want, "finished by " + by)
    desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
    if way == "both" and "d/r.png" in tree.files():  # it was not sent by this command
        files.update(mine)
    holds(desk, tree, files, "one undo of what was cut and finished by " + by)
    if way != "both" and (way == "sent" or by not in ("push", "commit")):
        serves(desk, files, "one undo of what was cut and finished by " + by)


# Undo.

@case("notes", "pictures", "both")
def undo_weighs(desk, what):
    """An undo that would delete most asks as a run does; it changes nothing before, and a yes lets it go."""
    tree, other = both(desk)
    files = {"a.md": desk.text(), "b.md": desk.text(), "c.md": desk.text()}
    begin(desk, files)
    more = {"p/%02d.png" % number: desk.picture() for number in range(12)} if what != "notes" else {}
    if what != "pictures":
        more.update(few(desk, 12))
    for path, content in more.items():
        tree.put(path, content)
    want = {**files, **more}
    if what != "notes":
        want["a.md"] += b"\n" + b"".join(b"![p](%s)\n" % path.encode() for path in more if path.endswith("png"))
        tree.put("a.md", want["a.md"])
    for one in (tree, other):
        desk.run(one, "sync", "--json")
    for one in (tree, other):
        before, stat = desk.look(True), stats(one)
        ended = desk.run(one, "sync", "undo", "--json", codes=(7,))
        desk.expect(ended.is_guard() and not desk.changed(before) and stats(one) == stat, "7 changed nothing",
                    "undo of a run that added %d %s did not ask" % (len(more), what))
    desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, tree, files, "taken back")
    serves(desk, files, "taken back")


@case(*[(kind, since) for kind in ("note", "picture") for since in ("sent", "not sent", "deleted")])
def undo_after_mine(desk, kind, since):
    """What I changed after the run, sent or not, is merged or left and told; the exit says so; the rest is taken back."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    tree.put("d/b.md", matrix_head(files["d/b.md"]))
    tree.put("d/p.png", desk.picture())
    tree.put("d/c.md", matrix_head(files["d/c.md"]))
    desk.run(tree, "sync", "--json")
    run = desk.newest(tree)
    path = "d/b.md" if kind == "note" else "d/p.png"
    if since == "deleted":
        tree.remove(path)
    else:
        tree.put(path, matrix_tail(tree.files()[path]) if kind == "note" else desk.picture())
    mine = tree.files().get(path)
    if since == "sent":
        desk.run(tree, "sync", "--json")
    ended = desk.run(tree, "sync", "undo", str(run), "--json", codes=(0, 7, 13))
    report = ended.report()
    want = {**files, path: mine}
    if kind == "note" and since != "deleted":
        want[path] = matrix_tail(files[path])
    elif since == "deleted":
        want.pop(path)
        if path in tree.files():
            want[path] = tree.files()[path]  # it may come back as it was agreed before
            desk.expect(want[path] == files[path], "undo takes back", "%s came back with other bytes" % path)
    desk.run(tree, "sync", "--json", codes=(0, 7))
    left = {row["path"] for row in report.get("left", [])} | {row["path"] for row in report.get("conflicts", [])}
    if kind == "picture" and since != "deleted":
        desk.expect(mine in tree.files().values(), "undo takes back", "a picture that was changed since is written over")
        desk.expect(path in left, "undo takes back", "what was left is not named: %s" % report)
    desk.expect(bool(left) == (ended.code != 0), "exit codes", "%d, with %s left" % (ended.code, judge.short(left)))
    for conflict in desk.run(tree, "sync", "conflicts", "--json").report()["data"]:
        desk.run(tree, "sync", "resolve", conflict["id"], "--keep", "local")
    all_alike(desk, want, "undone after my own change")


@case("note", "picture")
def undo_in_parts(desk, first):
    """A part is taken back, then the next undo takes the rest of that run; the run before it stays until its turn."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    middle = {**files, "d/c.md": matrix_head(files["d/c.md"])}
    tree.put("d/c.md", middle["d/c.md"])
    desk.run(tree, "sync", "--json")
    want = {**middle, "d/b.md": matrix_head(files["d/b.md"]), "d/p.png": desk.picture(), "d/n.md": desk.text()}
    for path in ("d/b.md", "d/p.png", "d/n.md"):
        tree.put(path, want[path])
    desk.run(tree, "sync", "--json")
    part = "d/b.md" if first == "note" else "d/p.png"
    desk.run(tree, "sync", "undo", "--only", part, "--json", codes=(0, 13))
    holds(desk, tree, {**want, part: files[part]}, "a part taken back")
    desk.run(tree, "sync", "undo", "--json", codes=(0,))
    holds(desk, tree, middle, "the rest taken back")
    serves(desk, middle, "the rest taken back")
    desk.run(tree, "sync", "undo", "--json", codes=(0,))
    holds(desk, tree, files, "the run before taken back")
    all_alike(desk, files, "all taken back")


# The guard, where what is deleted arrives by another way than a run.

@case("pull", "watch", "pull pictures")
def guard_where_it_comes(desk, how):
    """Most went elsewhere: no command takes them away here unasked, and a watch goes on with the rest."""
    tree, other = both(desk)
    files = {"a.md": desk.text(), **few(desk, 6)}
    if "pictures" in how:
        files.update({"p/%d.png" % number: desk.picture() for number in range(6)})
        files["a.md"] += b"".join(b"![p](p/%d.png)\n" % number for number in range(6))
    begin(desk, files)
    gone = [path for path in files if path.startswith("p/" if "pictures" in how else "k/")]
    for path in gone:
        other.remove(path)
    if how == "watch":
        other.put("a.md", matrix_head(files["a.md"]))
    desk.run(other, "sync", "--json", "--allow-deletes")
    if how != "watch":
        before, stat = desk.look(True), stats(tree)
        desk.run(tree, "sync", "pull", "--json", codes=(7,))
        desk.expect(not desk.changed(before) and stats(tree) == stat, "7 changed nothing", "pull did")
    else:
        watch = tree.start(["sync", "watch", "--interval", "1s", "--json"])
        tree.say("%s sync watch --interval 1s & sleep 8; kill $!" % tree.name)
        end = time.monotonic() + 20
        while time.monotonic() < end and tree.files()["a.md"] != matrix_head(files["a.md"]):
            time.sleep(0.1)
        time.sleep(2)
        watch.send_signal(signal.SIGTERM)
        tree.ended(["sync", "watch"], watch)
        desk.state = None
        lying = tree.files()
        desk.expect(all(path in lying for path in gone), "watch", "it took away most, unasked")
        desk.expect(lying["a.md"] == matrix_head(files["a.md"]), "watch", "it did not go on with the rest")
    desk.run(tree, "sync", "--json", codes=(7,))
    want = desk.lying(other.files())
    all_alike(desk, want, "let go")


# Renames.

@case("mv", "hand", "mv, sent between")
def old_name_again(desk, how):
    """A note is renamed and a new one with its old text takes its old name: the renamed one keeps its document."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(), **few(desk, 4)}
    old = begin(desk, files)
    if how == "hand":
        tree.rename("d/a.md", "d/b.md")
    else:
        desk.run(tree, "sync", "mv", "d/a.md", "d/b.md")
    if "between" in how:
        desk.run(tree, "sync", "--json")
    tree.put("d/a.md", files["d/a.md"])
    want = {**files, "d/b.md": files["d/a.md"]}
    desk.run(tree, "sync", "--json")
    serves(desk, want, how)
    if how != "hand":
        same_ids(desk, old, [("d/b.md", "d/a.md")], how, but=("d/a.md",))
        desk.expect(ids(desk)["d/a.md"] not in old.values(), "ids stay", "the new note took an old document")
    all_alike(desk, want, how)


@case("two", "two, other sizes", "two, short", "two, edited there", "two, edited here", "two by steps", "three",
      "folders", "two folders apart", "two by mv", "two, again and again", "three, again and again")
def names_swapped(desk, how):
    """Notes change their names among each other: each document takes its new name with it."""
    tree, other = both(desk)
    one_length = lambda text: text + b"." * (400 - len(text)) + b"\n"  # sizes tell them apart in some of these alone
    text = {"two, short": lambda: tiny("[x](../k/00.md) %s" % desk.word()), "two, other sizes": desk.text}.get(how, lambda: one_length(desk.text()))
    files = {"d/a.md": text(), "d/b.md": text(), "d/c.md": text(), "e/a.md": text(), "e/b.md": text(), **few(desk, 4)}
    old = begin(desk, files)
    three = ["d/a.md", "d/b.md", "e/a.md"]
    ring = {"three": three, "three, again and again": three, "folders": ["d", "e"], "two folders apart": ["d/a.md", "e/b.md"]}.get(how, ["d/a.md", "d/b.md"])
    turns = 3 if how.endswith("again") else 1
    moved = {path: path for path in files}
    for _ in range(turns):
        if how == "two by mv":
            for one, another in ((ring[0], "d/tmp.md"), (ring[1], ring[0]), ("d/tmp.md", ring[1])):
                desk.run(tree, "sync", "mv", one, another, "--json")
        else:
            tree.rename(ring[-1], "tmp")
            for at in range(len(ring) - 1, 0, -1):
                tree.rename(ring[at - 1], ring[at])
            tree.rename("tmp", ring[0])
        step = {ring[(at + 1) % len(ring)]: ring[at] for at in range(len(ring))}
        def before(path):
            for new, past in step.items():
                if path == new or path.startswith(new + "/"):
                    return past + path[len(new):]
            return path
        paths = {path for path in files} | {new + path[len(past):] for new, past in step.items() for path in files if path.startswith(past + "/")}
        moved = {path: moved[before(path)] for path in paths if before(path) in moved}
        if turns > 1:  # sent each time: whichever document has the name that sorts first
            desk.run(tree, "sync", "--json")
            serves(desk, {path: files[past] for path, past in moved.items()}, how)
            same_ids(desk, old, moved.items(), how)
    want = {path: files[past] for path, past in moved.items()}
    if how.endswith("edited there"):
        other.put("d/a.md", matrix_head(files["d/a.md"]))
        desk.run(other, "sync", "--json")
        want["d/b.md"] = matrix_head(want["d/b.md"])
    if how.endswith("edited here"):
        want["d/b.md"] = matrix_head(want["d/b.md"])
        tree.put("d/b.md", want["d/b.md"])
    if how.endswith("steps"):
        for verb in ("push", "commit"):
            desk.run(tree, "sync", verb, "--json")
    desk.run(tree, "sync", "--json")
    serves(desk, want, how)
    same_ids(desk, old, [pair for pair in moved.items() if pair[0] != pair[1]], how)
    all_alike(desk, want, how)
    same_ids(desk, old, [pair for pair in moved.items() if pair[0] != pair[1]], how)


@case("note", "picture", "folder", "note edited there")
def moved_once(desk, what):
    """`mv` of short notes and of what they name, and nothing between it and the run: all documents stay, of each link all uses follow."""
    tree, other = both(desk)
    files = {"d/s.md": tiny("[b](b.md)"), "d/b.md": tiny("[s](s.md)"), "d/p.png": desk.picture(), **few(desk, 4),
             "d/two.md": tiny("[b](b.md) [b](b.md) ![p](p.png) ![p](p.png) [b]: no [x][r]\n\n[r]: b.md"), "t.md": tiny("![p](d/p.png)\n\n![p](d/p.png)")}
    old = begin(desk, files)
    source, target, swap = {"note": ("d/s.md", "x/y/s.md", {"d/s.md": (b"b.md", b"../../d/b.md"), "d/b.md": (b"s.md", b"../x/y/s.md")}),
                            "picture": ("d/p.png", "q.png", {"d/two.md": (b"(p.png)", b"(../q.png)"), "t.md": (b"d/p.png", b"q.png")}),
                            "folder": ("d", "far/e", {"t.md": (b"d/p.png", b"far/e/p.png")}),
                            "note edited there": ("d/b.md", "c.md", {"d/s.md": (b"b.md", b"../c.md"), "d/b.md": (b"(s.md)", b"(d/s.md)"),
                                                                     "d/two.md": (b"b.md", b"../c.md")})}[what]
    want = dict(files)
    for path, (one, another) in swap.items():
        want[path] = want[path].replace(one, another)
    moved = {target + path[len(source):]: path for path in files if path == source or path.startswith(source + "/")}
    want = {dict(zip(moved.values(), moved)).get(path, path): content for path, content in want.items()}
    desk.run(tree, "sync", "mv", source, target, "--json")
    holds(desk, tree, want, "after mv")
    if what.endswith("there"):
        other.put("d/b.md", files["d/b.md"] + b"\n\nmore, below, from there\n")
        desk.run(other, "sync", "--json")
        want["c.md"] += b"\n\nmore, below, from there\n"
    desk.run(tree, "sync", "--json", codes=(0, 7) if what.endswith("there") else (0,))
    same_ids(desk, old, moved.items(), "after mv and a run")
    if what.endswith("there"):  # adjacent lines may collide: then both texts are kept
        for conflict in desk.run(tree, "sync", "conflicts", "--json").report()["data"]:
            desk.run(tree, "sync", "resolve", conflict["id"], "--keep", "local")
            want["c.md"] = tree.files()["c.md"]
    all_alike(desk, want, "after mv and a run")
    same_ids(desk, old, moved.items(), "after mv and a run")


@case("picture", "folder", "note", "twice")
def moved_before_it_was_sent(desk, what):
    """What was never sent is moved with `mv`, then sent under its new name, links and all; nothing of the old name is sent."""
    tree, other = both(desk)
    files = few(desk, 3)
    begin(desk, files)
    tree.put("d/p.png", desk.picture())
    tree.put("d/a.md", desk.text(links=["![p](p.png)"]))
    if what == "note":
        desk.run(tree, "sync", "mv", "d/a.md", "e/a.md")
    elif what == "folder":
        desk.run(tree, "sync", "mv", "d", "e")
    else:
        desk.run(tree, "sync", "mv", "d/p.png", "e/q.png")
        if what == "twice":
            desk.run(tree, "sync", "mv", "e/q.png", "f/r.png")
    want = desk.lying(tree.files())
    desk.expect(len(want) == len(files) + 2, "harness", str(sorted(want)))
    desk.run(tree, "sync", "--json")
    serves(desk, want, "sent under the new name")
    all_alike(desk, want, "sent under the new name")


# Conflicts, and what else is done.

@case(*[(how, what) for how in ("ignored", "nested") for what in ("note", "deleted there", "picture")])
def conflict_and_rule(desk, how, what):
    """A conflict is open and a rule hides its note: the conflict stays until somebody decides it."""
    tree, other = both(desk)
    files = {**some(desk), **few(desk, 6)}
    begin(desk, files)
    path = "d/p.png" if what == "picture" else "d/b.md"
    mine, theirs = (desk.picture(), desk.picture()) if what == "picture" else (matrix_head(files[path], b"ours."), matrix_head(files[path]))
    tree.put(path, mine)
    if what == "deleted there":
        other.remove(path)
    else:
        other.put(path, theirs)
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "--json", codes=(7,))
    before = desk.look(True).state
    if how == "ignored":
        tree.set_filters(["/" + path], {})
    else:
        tree.put("d/.wsignore", b"/%s\n" % path[2:].encode())
    for _ in range(2):
        desk.run(tree, "sync", "--json", codes=(0, 7))
    desk.expect(len(desk.state.conflicts) == len(before.conflicts), "a conflict waits", "%d are open on the service, of %d" % (
        len(desk.state.conflicts), len(before.conflicts)))
    desk.expect(tree.files()[path] == mine, "a conflict waits", "our bytes are changed")
    if how == "ignored":
        tree.set_filters([], {})
    else:
        tree.remove("d/.wsignore")
    desk.run(tree, "sync", "--json", codes=(7,))
    desk.run(tree, "sync", "resolve", desk.conflict(tree)["id"], "--keep", "local")
    all_alike(desk, {**files, path: mine}, "decided")


@case("renamed here, folder there", "renamed onto a new one", "created where one was moved", "created where a folder is")
def path_waits(desk, what):
    """A conflict about a name waits over several runs, by steps too: nothing is sent of it, and no document goes."""
    names = {"renamed here, folder there": "x_renamed_here_folder_there", "renamed onto a new one": "x_renamed_onto_a_new_one",
             "created where one was moved": "x_created_where_one_was_moved", "created where a folder is": "x_created_where_a_folder_is"}
    tree, other = both(desk)
    one = [each for each in matrix.build(desk, True, (0,)) if each.name == names[what]][0]
    files = {**one.files(one.base), **few(desk, 4)}
    begin(desk, files, [other, tree])
    one.do(other, one.there)
    one.do(tree, one.here)
    desk.run(other, "sync", "--json")
    there = desk.look(True).state
    for turn, verb in enumerate(["", "", "push", "commit", ""]):
        desk.world.service.forget_requests()
        desk.run(tree, "sync", *([verb] if verb else []), "--json", codes=(7,) if not verb else (0, 7, 13))
        if turn:
            items, _ = sent(desk)
            desk.expect(not items, "a conflict waits", "run %d sent %s" % (turn + 1, judge.short(item["path"] for item in items)))
        desk.expect(there.documents == desk.state.documents, "a conflict waits", "the service is changed by run %d" % (turn + 1))
        desk.conflict(tree)


@case("local", "remote", "both")
def pictures_decided(desk, keep):
    """A picture that both replaced is decided; whatever is kept lies in every tree and on the service."""
    tree, other = both(desk)
    files = some(desk)
    begin(desk, files)
    mine, theirs = desk.picture(), desk.picture()
    tree.put("d/p.png", mine)
    other.put("d/p.png", theirs)
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "--json", codes=(7,))
    desk.run(tree, "sync", "resolve", "d/p.png", "--keep", keep)
    desk.run(tree, "sync", "--json")
    want = {**files, "d/p.png": theirs if keep == "remote" else mine, **({"d/p (remote).png": theirs} if keep == "both" else {})}
    serves(desk, want, "kept " + keep)
    all_alike(desk, want, "kept " + keep)


# Rules and settings.

@case("ignored note", "ignored picture", "nested", "kinds", "bytes", "off")
def arrived_under_a_rule(desk, rule):
    """What arrived while a rule left it out comes with the first run after the rule went."""
    tree, other = both(desk)
    files = few(desk, 3)
    begin(desk, files)
    if rule == "nested":
        tree.put("n/.wsignore", b"*\n")
    else:
        tree.set_filters(*{"ignored note": (["n/a.md"], {}), "ignored picture": (["*.png"], {}), "bytes": ([], {"attachments_max_bytes": 10}),
                           "off": ([], {"attachments": "off"}), "kinds": (["n/"], {})}[rule])
    more = {"n/a.md": desk.text(links=["![p](p.png)"]), "n/p.png": desk.picture(), "n/b.md": desk.text()}
    for path, content in more.items():
        other.put(path, content)
    desk.run(other, "sync", "--json")
    for _ in range(2):
        desk.run(tree, "sync", "--json", codes=(0,))
    hidden = {"ignored note": {"n/a.md"}, "nested": set(more), "kinds": set(more)}.get(rule, {"n/p.png"})
    desk.expect(not hidden & set(tree.files()), "a rule takes nothing", "what a rule leaves out was written")
    if rule == "nested":
        tree.remove("n/.wsignore")
    else:
        tree.set_filters([], {})
    desk.run(tree, "sync", "--json", codes=(0,))
    holds(desk, tree, {**files, **more}, "the rule is gone")
    all_alike(desk, {**files, **more}, "the rule is gone")


@case("include", "max_file_bytes", "attachments_max_bytes", "attachments", "ignored", "portable")
def widened(desk, setting):
    """What lay here and was left out is sent by the first run after the setting let it in, and by no change besides."""
    tree, other = both(desk)
    narrow, wide = {"include": ([], {}), "max_file_bytes": ([], {"max_file_bytes": 150}), "ignored": (["n/"], {}), "portable": ([], {"names": "portable"}),
                    "attachments_max_bytes": ([], {"attachments_max_bytes": 10}), "attachments": ([], {"attachments": "off"})}[setting], ([], {})
    if setting == "include":
        wide = ([], {"include": ["*.txt"]})
        other.set_filters(*wide)
    files = few(desk, 3)
    tree.set_filters(*narrow)
    begin(desk, files)
    name = {"include": "n/t.txt", "portable": "n/wh?t.md"}.get(setting, "n/a.md")
    more = {name: desk.text(9, links=["![p](p.png)"] if setting.startswith("att") else ())}
    if setting.startswith("att"):
        more["n/p.png"] = desk.picture()
    for path, content in more.items():
        tree.put(path, content)
    hidden = "n/p.png" if setting.startswith("att") else name
    for _ in range(2):
        desk.run(tree, "sync", "--json", codes=(0,))
    time.sleep(0.05)
    desk.run(tree, "sync", "--json", codes=(0,))
    desk.expect(hidden not in desk.state.by_path() and hidden not in desk.state.files, "a rule holds", "%s was sent" % hidden)
    tree.set_filters(*wide)
    desk.run(tree, "sync", "--json", codes=(0,))
    serves(desk, {**files, **more}, "the setting lets it in")
    all_alike(desk, {**files, **more}, "the setting lets it in")


@case("put back", "put back as another", "staged, put back", "staged, put back as another")
def gone_and_back(desk, how):
    """A note and a picture are deleted, sent or staged so, and put back: they are there, for all."""
    tree, other = both(desk)
    files = {**some(desk), **few(desk, 6)}
    old = begin(desk, files)
    for path in ("d/b.md", "d/p.png"):
        tree.remove(path)
    desk.run(tree, "sync", *(["push"] if "staged" in how else []), "--json")
    want = dict(files)
    if how.endswith("another"):
        want.update({"d/b.md": matrix_head(files["d/b.md"]), "d/p.png": desk.picture()})
    for path in ("d/b.md", "d/p.png"):
        tree.put(path, want[path])
    if "staged" in how:
        desk.run(tree, "sync", "commit", "--json", codes=(0, 7, 13))
        desk.expect(old["d/b.md"] in desk.state.documents, "commit", "a note that lies here was archived")
    desk.run(tree, "sync", "--json")
    serves(desk, want, how)
    all_alike(desk, want, how)


@case("new", "edited", "deleted", "renamed", "picture")
def between_steps(desk, what):
    """What another commits between `push` and `commit` arrives, whichever file it is."""
    tree, other = both(desk)
    files = {**some(desk), **few(desk, 6)}
    begin(desk, files)
    want = {**files, "d/b.md": matrix_head(files["d/b.md"])}
    tree.put("d/b.md", want["d/b.md"])
    desk.run(tree, "sync", "push", "--json")
    if what == "new":
        want["n.md"] = desk.text()
        other.put("n.md", want["n.md"])
    elif what == "edited":
        want["k/00.md"] = matrix_head(files["k/00.md"])
        other.put("k/00.md", want["k/00.md"])
    elif what == "deleted":
        want.pop("k/00.md")
        other.remove("k/00.md")
    elif what == "renamed":
        want["k/z.md"] = want.pop("k/00.md")
        other.rename("k/00.md", "k/z.md")
    else:
        want["d/p.png"] = desk.picture()
        other.put("d/p.png", want["d/p.png"])
    desk.run(other, "sync", "--json")
    desk.run(tree, "sync", "commit", "--json")
    serves(desk, want, "committed")
    desk.run(tree, "sync", "--json")
    holds(desk, tree, want, "after a run")
    all_alike(desk, want, "after the steps")


@case("sent", "received")
def only_notes(desk, way):
    """`--only` with a folder of notes takes no file of another folder, though a note there shows it."""
    tree, other = both(desk)
    files = {"notes/a.md": desk.text(links=["![p](../img/p.png)"]), "img/p.png": desk.picture(), "img/x.md": desk.text(), **few(desk, 3)}
    begin(desk, files)
    maker = tree if way == "sent" else other
    want = {**files, "notes/a.md": matrix_head(files["notes/a.md"]) + b"\n![q](../img/q.png)\n", "img/p.png": desk.picture(),
            "img/q.png": desk.picture(), "img/x.md": matrix_head(files["img/x.md"])}
    for path in ("notes/a.md", "img/p.png", "img/q.png", "img/x.md"):
        maker.put(path, want[path])
    if way == "received":
        desk.run(other, "sync", "--json")
    for pattern in ("notes/*", "notes/**"):
        desk.run(tree, "sync", "--only", pattern, "--json")
        if way == "sent":
            serves(desk, {**files, "notes/a.md": want["notes/a.md"]}, "only notes")
        else:
            holds(desk, tree, {**files, "notes/a.md": want["notes/a.md"]}, "only notes")
    all_alike(desk, want, "all")


@case("picture", "note")
def another_case_arrives(desk, what):
    """What arrives beside a file of mine whose name differs in capitals alone waits, and is told; mine stays."""
    tree, other = both(desk)
    files = few(desk, 3)
    begin(desk, files)
    mine = desk.text() if what == "note" else desk.picture()
    path, theirs_path = ("d/a.md", "d/A.md") if what == "note" else ("d/p.png", "d/P.png")
    tree.put(path, mine)
    content = desk.text() if what == "note" else desk.picture()
    other.put(theirs_path, content)
    note = desk.text(links=["![P](P.png)"])
    if what != "note":
        other.put("d/n.md", note)
    desk.run(other, "sync", "--json")
    for _ in range(2):
        ended = desk.run(tree, "sync", "--json", codes=(0, 7, 13))
        lying = tree.files()
        desk.expect(lying[path] == mine, "nothing else", "our file is changed")
        desk.expect(theirs_path not in lying, "twins", "it was written beside ours")
        named = judge.left_out(ended.report()) | {row["path"].casefold() for row in ended.report()["conflicts"]}
        desk.expect(theirs_path.casefold() in named, "told", "it is not told")
    tree.remove(path)
    desk.run(tree, "sync", "--json", codes=(0, 7, 13), faulty=True)
