"""Cases: what one run does to many things at once, told to the letter. Each is played in a world of its own.

An episode of `episodes.py` has one thing and a manner by chance; a case has a fixed course, so that it is the same each
time, and judges more: each row of the report, each item that was sent, the times and modes of files, the requests.
"""
import os
import unicodedata
from collections import Counter

import judge
import matrix
from tree import NOTE, digest, tokens

CASES = {}  # name -> function


def case(*variants):
    """Registers the function once for each of its variants."""
    def keep(function):
        for variant in variants:
            words = variant if isinstance(variant, tuple) else (variant,) if variant else ()
            name = " ".join(["exact", function.__name__, *map(str, words)])
            CASES[name] = lambda desk, words=words: function(desk, *words)
        return function
    return keep


# Seeing.

def normal(path):
    return unicodedata.normalize("NFC", path)


def stats(tree):
    """path -> what nobody but a writer changes."""
    found = {}
    for path in tree.files():
        seen = os.lstat(tree.folder / path)
        found[path] = (seen.st_mode, seen.st_mtime_ns, seen.st_ino)
    return found


def requests(desk):
    return desk.world.service.control("GET", "/requests")["data"]


def sent(desk):
    """What the journal saw since it was emptied: the items of pushes without the list of files, and each operation."""
    items, operations = [], Counter()
    for entry in requests(desk):
        operations[entry["operation"]] += 1
        if entry["operation"] == "sync.push":
            items += [item for item in entry["request_body"]["items"] if not item["path"].startswith("_attachments")]
    return items, operations


def ids(desk):
    return {document.path: document.id for document in desk.state.documents.values()}


def revisions(desk):
    return {document.id: document.revision for document in desk.state.documents.values()}


def told(desk, ended, rows, why="rows"):
    """The report has these rows and no other, each of them done."""
    there = [(action, normal(path), normal(previous)) for action, path, previous in judge.actions_of(ended.report())]
    wanted = sorted(rows)
    desk.expect(there == wanted, why, "not told: %s; told besides: %s" % (
        sorted((Counter(wanted) - Counter(there)).elements())[:5], sorted((Counter(there) - Counter(wanted)).elements())[:5]))
    states = {row["state"] for row in ended.report()["actions"] if row["action"] not in ("unchanged", "conflict")}
    desk.expect(states <= {"done"}, why, "rows are %s after the run" % states)


def shown_rows(desk, tree, run):
    return desk.run(tree, "sync", "show", str(run), "--json").report()["rows"]


def holds(desk, tree, files, why):
    desk.differ("in %s, %s" % (tree.name, why), files, desk.lying(tree.files()))


def serves(desk, files, why):
    """The service has these notes and files, and nothing else."""
    desk.look(True)
    notes = {path: content for path, content in files.items() if NOTE.search(path) or path.endswith(".txt")}
    desk.differ("on the service, " + why, notes, desk.lying(desk.state.by_path()))
    desk.differ("in the list of files, " + why, {path: digest(content) for path, content in files.items() if path not in notes},
                desk.state.files)


def quiet(desk, tree):
    """A further run: one request, nothing told, nothing written."""
    desk.world.service.forget_requests()
    before, stat = desk.look(True), stats(tree)
    ended = desk.run(tree, "sync", "--json", codes=(0,))
    told(desk, ended, [], "a further run does nothing")
    _, operations = sent(desk)
    desk.expect(operations == {"sync.pull": 1}, "one request", "a run without changes sent %s" % dict(operations))
    desk.expect(not desk.changed(before) and stats(tree) == stat, "a further run does nothing", "it did something")
    status = desk.run(tree, "sync", "status", "--exit-code", "--json", codes=(0,))
    desk.expect(not judge.actions_of(status.report()), "a further run does nothing", "status names something")


# All rows at once.

class Matrix:
    """Two trees that hold all cells, in step; then what is done there and here."""

    def __init__(self, desk, conflicts=False, shapes=(0, 1), keep=None, more=()):
        self.desk, (self.there, self.here) = desk, desk.trees[:2]
        self.cells = [one for one in matrix.build(desk, conflicts, shapes) if not keep or keep(one)]
        self.base, self.after = dict(more), dict(more)
        for one in self.cells:
            self.base.update({normal(path): content for path, content in one.files(one.base).items()})
            self.after.update({normal(path): content for path, content in one.files(one.after).items()})
        for path, content in self.base.items():
            self.there.put(path, content)
        for tree in (self.there, self.here):
            ended = desk.run(tree, "sync", "--json")
            told(desk, ended, [("push_create" if tree is self.there else "pull_create", path, "") for path in self.base])
            desk.agreed[tree.name] = dict(self.base)
        self.ids, self.revisions = ids(desk), revisions(desk)

    def do(self, *sides):
        for side in sides or ("there", "here"):
            tree = getattr(self, side)
            for one in self.cells:
                one.do(tree, getattr(one, side))

    def rows(self, side):
        return [(action, normal(path), normal(previous)) for one in self.cells for action, path, previous in getattr(one, "rows_" + side)]

    def sync_there(self):
        """One side alone: the report, the items, the uploads and the times are exactly what was done."""
        desk = self.desk
        desk.world.service.forget_requests()
        stat = stats(self.there)
        ended = desk.run(self.there, "sync", "--json")
        told(desk, ended, self.rows("there"))
        desk.expect(stats(self.there) == stat, "no drift", "a run that sends alone touched %s" % judge.short(
            judge.differing(stat, stats(self.there))))
        self.sent_exactly("there")
        return ended

    def sent_exactly(self, side):
        desk, (items, operations) = self.desk, sent(self.desk)
        rows = [row for row in self.rows(side) if NOTE.search(row[1]) and (row[0].startswith("push") or row[0] == "merge")]
        wanted = {(path, action == "push_delete") for action, path, _ in rows}
        there = Counter((normal(item["path"]), item["action"] == "push_delete") for item in items)
        twice = Counter((item["path"], item["action"]) for item in items)
        desk.expect(set(there) == wanted and max(twice.values(), default=0) < 2, "sent once", "sent, or not sent: %s" % judge.short(
            set(there) ^ wanted or {key for key in twice if twice[key] > 1}))
        for item in items:
            if item["action"] == "push_move" and not any(row[:2] in (("push_update", normal(item["path"])), ("merge", normal(item["path"])))
                                                         for row in rows):
                desk.expect(item["content"] is None, "a move uploads nothing", "%s was sent with its text" % item["path"])
        pictures = {digest(self.after[path]) for action, path, _ in self.rows(side)
                    if action in ("push_create", "push_update") and path in self.after and not NOTE.search(path)}
        known = {digest(content) for content in self.base.values()}
        if side == "there":
            pictures = {digest(deed[2]) for one in self.cells for deed in one.there if deed[0] == "put" and deed[1][0] in "pqr"}
        desk.expect(operations["upload.put"] == len(pictures - known), "bytes go once", "%d uploads of %d new contents" % (
            operations["upload.put"], len(pictures - known)))
        files = any(not NOTE.search(path) and action.startswith("push") for action, path, _ in self.rows(side))
        desk.expect(operations["sync.commit"] == bool(wanted) + files, "one commit", "%d commits" % operations["sync.commit"])

    def same_documents(self, why):
        desk = self.desk
        now = ids(desk)
        for one in self.cells:
            for short in one.after:
                path = normal(one.path(short))
                if not NOTE.search(path):
                    continue
                of = one.same.get(short, short)
                if of:
                    old = self.ids[normal(one.path(of))]
                    desk.expect(now.get(path) == old, "ids stay", "%s is another document, %s" % (path, why))
                    if one.after[short] == one.base.get(of) and short == of:
                        desk.expect(revisions(desk)[old] == self.revisions[old], "nothing else", "%s has a new revision" % path)
                else:
                    desk.expect(now.get(path) not in self.ids.values(), "ids stay", "%s took an old document, %s" % (path, why))

    def all_alike(self, why):
        desk = self.desk
        for tree in (self.there, self.here):
            holds(desk, tree, self.after, why)
        serves(desk, self.after, why)
        self.same_documents(why)

    def untouched(self, stat, rows, tree):
        """Files that no row names keep their time, mode and inode."""
        named = {name for _, path, previous in rows for name in (path, previous)}
        for path, seen in stats(tree).items():
            if normal(path) not in named and path in stat:
                self.desk.expect(seen == stat[path], "no drift", "%s of %s, which no row names, was touched" % (path, tree.name))
        moved = {path: previous for action, path, previous in rows if action == "push_update" or action == "push_create"}
        for path in moved:
            if path in stat and not any(row[1] == path and row[0] != "push_update" and row[0] != "push_create" for row in rows):
                self.desk.expect(stats(tree).get(path) == stat[path], "no drift", "%s was only sent, and touched" % path)

    def ends(self, why, further=True):
        """The other receives what came; then nothing moves."""
        ended = self.desk.run(self.there, "sync", "--json")
        self.all_alike(why)
        if further:
            for tree in (self.here, self.there):
                quiet(self.desk, tree)
        return ended


@case((0,), (1,), (2,))
def all_rows(desk, shape):
    """Each row of the table in one run: previewed, done, told, received, and nothing more after it."""
    world = Matrix(desk, shapes=(shape,))
    world.do()
    world.sync_there()
    rows, stat = world.rows("here"), stats(world.here)
    for words in (["sync", "-n"], ["sync", "plan"], ["sync", "status"], ["sync", "status", "--exit-code"]):
        shown = desk.run(world.here, *words, "--json", codes=(13,) if "--exit-code" in words else (0,))
        desk.expect(sorted(normal_rows(shown)) == sorted(rows), "plan = act", "`%s` shows other rows: %s" % (
            " ".join(words), judge.short(set(normal_rows(shown)) ^ set(rows))))
    desk.expect(stats(world.here) == stat, "looking changes nothing", "it did")
    desk.world.service.forget_requests()
    ended = desk.run(world.here, "sync", "--json")
    told(desk, ended, rows)
    world.sent_exactly("here")
    world.untouched(stat, rows, world.here)
    holds(desk, world.here, world.after, "after its run")
    serves(desk, world.after, "after its run")
    run = desk.newest(world.here)
    desk.expect(ended.report().get("operation") == run == 2, "one operation", "run %s in the report, %s in the log" % (
        ended.report().get("operation"), run))
    shown = shown_rows(desk, world.here, run)
    named = {normal(row["path"]) for row in shown}
    wanted = {path for action, path, _ in rows if action != "adopt"}
    desk.expect(wanted <= named, "one operation", "`show` does not name %s" % judge.short(wanted - named))
    for row in shown:
        path = normal(row["path"])
        if row["after"] and path in world.after:
            desk.expect(row["after"]["content_sha256"] == digest(world.after[path]), "one operation", "other bytes of %s" % path)
        previous = normal(row["previous_path"] or row["path"])
        one_sided = not any(action == "merge" and normal(path_) == path for action, path_, _ in rows)
        if row["before"] and previous in world.base and one_sided:
            desk.expect(row["before"]["content_sha256"] in (digest(world.base[previous]), digest(world.after.get(path, b"?"))),
                        "one operation", "other bytes of %s before" % previous)
    told(desk, world.ends("all rows"), matrix.received(rows))


def normal_rows(ended):
    return [(action, normal(path), normal(previous)) for action, path, previous in judge.actions_of(ended.report())]


@case("pull push commit", "pull sync", "push commit", "push pull commit", "no cache", "keep", "another first")
def rows_by_steps(desk, how):
    """The same by steps: what is pulled alone sends nothing, and what is committed is all."""
    world = Matrix(desk, shapes=(desk.steady_choice([0, 1]),))
    if how == "keep":
        for tree in (world.there, world.here):
            tree.set_filters([], {"links": "keep"})
        for one in world.cells:
            if one.name == "picture_of_other_case_here":  # its note is mended
                note = normal(one.path("a"))
                world.after[note] = world.after[note].replace(b"(%s)" % matrix.link(one, "p").encode(),
                                                              b"(%s)" % matrix.link(one, "P").encode())
                one.after["a"] = world.after[note]
    world.do()
    world.sync_there()
    if how == "no cache":
        cache = world.here.folder / ".ws/stat.cache"
        desk.expect(cache.is_file(), "harness", "there is no cache")
        one = normal_rows(desk.run(world.here, "sync", "status", "--offline", "--json"))
        cache.unlink()
        other = normal_rows(desk.run(world.here, "sync", "status", "--offline", "--json"))
        cache.write_bytes(b"garbage")
        third = normal_rows(desk.run(world.here, "sync", "status", "--offline", "--json"))
        desk.expect(one == other == third, "the cache changes no answer", "%s" % judge.short(set(one) ^ set(other) ^ set(third)))
        told(desk, desk.run(world.here, "sync", "--json"), world.rows("here"))
    elif how == "another first":
        desk.run(world.here, "sync", "--only", "edited*", "--json")
        done = {row for row in world.rows("here") if row[1].startswith("edited")}
        for path, content in world.after.items():
            if path.startswith("edited"):
                desk.expect(world.here.files().get(path) == content, "only", "%s was not synced" % path)
        told(desk, desk.run(world.here, "sync", "--json"), [row for row in world.rows("here") if row not in done])
    else:
        for verb in how.split() if how != "keep" else ["sync"]:
            there = desk.look().state
            # What is staged without a pull may collide: `ws sync` then settles it.
            codes = (0, 7) if verb == "commit" and not how.startswith("pull") else (0,)
            desk.run(world.here, "sync", *([verb] if verb != "sync" else []), "--json", codes=codes)
            if verb in ("pull", "push"):
                desk.expect(there.by_path() == desk.state.by_path() and there.files == desk.state.files, "%s sends nothing" % verb, "it did")
            if verb == "push":
                continue
            if verb == "pull":
                for one in world.cells:
                    if one.there and not one.here:
                        for path, content in one.files(one.after).items():
                            desk.expect(world.here.files().get(path) == content, "pull takes what comes", "not %s" % path)
                        for path in one.files(one.base):
                            desk.expect(path in one.files(one.after) or path not in world.here.files(), "pull takes what comes",
                                        "%s is still there" % path)
        desk.run(world.here, "sync", "--json")
    world.ends(how)


def one_sided(one):
    return not (one.there and one.here)


@case("here", "there")
def rows_taken_back(desk, which):
    """A run of one side's changes: taken back, both sides are as they were; redone, as after it. Twice."""
    world = Matrix(desk, shapes=(desk.steady_choice([0, 1]),), keep=one_sided)
    world.do()
    world.sync_there()
    if which == "there":
        undoing, before = world.there, {**world.base}
        after = {normal(path): content for path, content in desk.lying(world.there.files()).items()}
    else:
        desk.run(world.here, "sync", "--json")
        undoing, before, after = world.here, world.base, world.after
    stat, old = stats(undoing), ids(desk)
    shown = desk.run(undoing, "sync", "undo", "-n", "--json", "--allow-deletes")
    desk.expect(stats(undoing) == stat, "looking changes nothing", "undo -n did")
    undone = desk.run(undoing, "sync", "undo", "--json", "--allow-deletes")
    notes = lambda ended: sorted(row for row in normal_rows(ended) if NOTE.search(row[1]))
    desk.expect(notes(shown) == notes(undone), "plan = act", "undo -n shows other rows: %s" % judge.short(
        set(notes(shown)) ^ set(notes(undone))))
    holds(desk, undoing, before, "taken back")
    serves(desk, before, "taken back")
    now = ids(desk)
    for path in before:
        if NOTE.search(path) and path in world.ids and world.ids[path] in old.values():
            desk.expect(now[path] == world.ids[path], "ids stay", "%s is another document, taken back" % path)
    listed = desk.world.runs(undoing)
    desk.expect([row["taken_back"] for row in listed if row["run"] == undone.report()["undoes"]] == [True], "one operation",
                "the run does not count as taken back")
    quiet(desk, undoing)
    desk.run(undoing, "sync", "redo", "--json", "--allow-deletes")
    holds(desk, undoing, after, "redone")
    serves(desk, after, "redone")
    quiet(desk, undoing)
    desk.run(undoing, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, undoing, before, "taken back again")
    serves(desk, before, "taken back again")
    other = world.here if undoing is world.there else world.there
    ended = desk.run(other, "sync", "--json", "--allow-deletes", codes=(0, 7))
    if which == "here":
        holds(desk, other, before, "taken back elsewhere")


CUTS = [(operation, phase) for operation in ("sync.pull", "sync.push", "sync.commit", "upload.put", "files.upload_start",
                                             "files.upload_finish", "files.content") for phase in ("before", "after")]


def cut(desk, tree, words, operation, phase, nth=1):
    """Killed at a request: it hangs, and then the client is gone."""
    import signal
    from tree import when_fired
    desk.world.fault({"operation": operation, "nth": nth, "phase": phase, "effect": {"hang": True}})
    before = desk.look(True)
    ended = tree.ws_stopped(words, signal.SIGKILL, when_fired(desk.world.service))
    desk.world.no_faults()
    desk.state = None
    desk.judge(tree, before, ended, faulty=True)
    return ended


@case(*[(operation, phase, nth) for operation, phase in CUTS for nth in (1, 2)])
def rows_cut(desk, operation, phase, nth):
    """Killed at a request and finished: as if it had not been, one operation, and its undo gives back what was before."""
    world = Matrix(desk, shapes=(0,), keep=one_sided)
    world.do()
    world.sync_there()
    ended = cut(desk, world.here, ["sync", "--json"], operation, phase, nth)
    desk.met("cut at %s %s" % (operation, "reached" if ended.stopped else "not reached"))
    desk.run(world.here, "sync", "--json", codes=(0,), faulty=True)
    desk.run(world.here, "sync", "--json")
    holds(desk, world.here, world.after, "finished")
    serves(desk, world.after, "finished")
    world.same_documents("finished")
    runs = desk.world.runs(world.here)
    desk.expect([row["run"] for row in runs] == [2, 1], "one operation", "runs in the log: %s" % [row["run"] for row in runs])
    named = {normal(name) for row in shown_rows(desk, world.here, 2) for name in (row["path"], row["previous_path"]) if name}
    wanted = {path for _, path, _ in world.rows("here")}
    desk.expect(wanted <= named, "one operation", "the run that was cut does not name %s" % judge.short(wanted - named))
    desk.run(world.here, "sync", "undo", "--json", "--allow-deletes")
    holds(desk, world.here, world.base, "taken back")
    serves(desk, world.base, "taken back")
    quiet(desk, world.here)


HOWS = ["sync", "sync", "steps", "killed", "cut", "lost", "refused", "server", "only"]


def rows_by_chance(desk):
    """Some of the rows, each tree in a manner of its own, cut and killed by chance: the outcome is the same."""
    dice = desk.dice
    share, keep = dice.choice([0.15, 0.4, 0.8]), dice.random() < 0.3
    sided = dice.random() < 0.4
    chosen = lambda one: dice.random() < share and not (sided and not one_sided(one)) and (
        not keep or one.name != "picture_of_other_case_here")
    world = Matrix(desk, shapes=(dice.choice([0, 1, 2]),), keep=chosen,
                   more={"keep/%d.md" % number: desk.text(1) for number in range(60)})
    if keep:
        for tree in (world.there, world.here):
            tree.set_filters([], {"links": "keep"})
    world.do()
    hows = [in_some_way(desk, world.there), in_some_way(desk, world.here)]
    desk.run(world.here, "sync", "--json")
    holds(desk, world.here, world.after, "by %s" % hows)
    serves(desk, world.after, "by %s" % hows)
    world.same_documents("by %s" % hows)
    if sided and hows[1] not in ("steps", "only") and (world.rows("here")):
        runs = [row["run"] for row in desk.world.runs(world.here)]
        desk.expect(len(runs) == 2, "one operation", "by %s the log has %s" % (hows, runs))
        for turn in range(dice.choice([1, 2])):
            if dice.random() < 0.5:
                cut(desk, world.here, ["sync", "undo", "--allow-deletes", "--json"], *dice.choice(CUTS))
                desk.run(world.here, "sync", "--json", "--allow-deletes", codes=(0,), faulty=True)
                here = desk.lying(world.here.files())
                desk.expect(here in (world.base, world.after), "undo takes back", "a cut undo left half: %s" % judge.short(
                    judge.differing(world.base, here) & judge.differing(world.after, here)))
                if here == world.after:
                    desk.run(world.here, "sync", "undo", "--json", "--allow-deletes")
            else:
                desk.run(world.here, "sync", "undo", "--json", "--allow-deletes")
            holds(desk, world.here, world.base, "taken back")
            serves(desk, world.base, "taken back")
            desk.run(world.here, "sync", "redo", "--json", "--allow-deletes")
            holds(desk, world.here, world.after, "redone")
            serves(desk, world.after, "redone")
    world.ends("by %s" % hows) if not sided else all_quiet(desk, world)


def all_quiet(desk, world):
    for tree in (world.there, world.here) * 2:
        desk.run(tree, "sync", "--json", "--allow-deletes")
    holds(desk, world.there, world.after, "at the end")
    for tree in (world.there, world.here):
        quiet(desk, tree)


def in_some_way(desk, tree):
    """Syncs a tree; what was cut is finished. Returns the manner."""
    from tree import after
    how, dice = desk.dice.choice(HOWS), desk.dice
    desk.met("rows by " + how)
    if how == "steps":
        for verb in desk.dice.choice([["pull", "push", "commit"], ["pull"], ["pull", "push"]]):
            desk.run(tree, "sync", verb, "--json")
    elif how == "killed":
        for _ in range(dice.randint(1, 4)):
            desk.stopped(tree, ["sync"], after(dice.randint(2, 120) / 1000))
    elif how == "cut":
        for _ in range(dice.randint(1, 2)):
            cut(desk, tree, ["sync", "--json"], *dice.choice(CUTS), dice.randint(1, 3))
    elif how in ("lost", "refused"):
        effect = [{"close_without_answer": True}, {"reset": True}, {"truncate_at": 40}, {"status": 500}] if how == "lost" else [
            {"status": 429}, {"status": 503}, {"status": 401}]
        desk.world.fault({"operation": dice.choice(["sync.push", "sync.commit", "files.upload_start", "files.upload_finish", "upload.put"]),
                          "nth": dice.randint(1, 3), "phase": "after" if how == "lost" else "before", "effect": dice.choice(effect)})
        desk.run(tree, "sync", "--no-retry", "--json", faulty=True)
        desk.world.no_faults()
        desk.state = None
    elif how == "server":
        words, before = ("sync", "--no-retry", "--json"), desk.look()
        process = tree.start(words)
        import time
        time.sleep(dice.randint(1, 80) / 1000)
        desk.world.service.kill()
        ended = tree.ended(words, process)
        tree.say("%s sync --no-retry & kill_server; wait $!; start_server  # %d" % (tree.name, ended.code))
        desk.world.service.start()
        desk.judge(tree, before, ended, faulty=True)
    elif how == "only":
        desk.run(tree, "sync", "--only", desk.dice.choice(["*edited*", "*picture*", "*here*", "*_there*"]), "--json")
    for _ in range(2):
        if desk.run(tree, "sync", "--json", codes=(0, 7, 12, 13), faulty=True).code == 0:
            break
    desk.run(tree, "sync", "--json")
    return how


@case("local", "remote", "both")
def conflicts_decided(desk, keep):
    """All kinds of conflict in one run; each waits, then is decided, with what comes of it to the letter."""
    world = Matrix(desk, conflicts=True, keep=lambda one: "folder" not in one.name)
    world.do()
    world.sync_there()
    theirs = desk.lying(world.there.files())
    ours = desk.lying(world.here.files())
    ended = desk.run(world.here, "sync", "--json", codes=(7,))
    conflicts = {(conflict["kind"], normal(conflict["path"])) for conflict in ended.report()["conflicts"]}
    wanted = {(one.kind, path) for one in world.cells for _, path, _ in one.rows("conflict " + matrix.ROWS[one.name].split(" conflict ")[1])}
    desk.expect(conflicts == wanted, "a conflict waits", "conflicts: %s" % judge.short(conflicts ^ wanted))
    serves(desk, theirs, "while conflicts wait")
    waiting = dict(ours)
    for one in world.cells:
        if one.name in ("x_renamed_onto_a_new_one", "x_created_where_one_was_moved"):
            waiting[beside(one.path("b"))] = theirs[normal(one.path("b"))]
            waiting.pop(normal(one.path("a")), None)
        elif "picture" in one.name and normal(one.path("p")) in theirs:
            waiting[beside(one.path("p"))] = theirs[normal(one.path("p"))]
    holds(desk, world.here, waiting, "while conflicts wait")
    again = desk.run(world.here, "sync", "--json", codes=(7,))
    holds(desk, world.here, waiting, "while conflicts wait, again")
    serves(desk, theirs, "while conflicts wait, again")
    desk.expect(len(again.report()["conflicts"]) == len(wanted), "a conflict waits", "others after a second run")
    listed = {normal(row["path"]) for row in desk.run(world.here, "sync", "conflicts", "--json").report()["data"]}
    desk.expect(listed == {path for _, path in wanted}, "a conflict waits", "listed: %s" % judge.short(listed))
    stat = stats(world.here)
    desk.expect(desk.run(world.here, "sync", "status", "--exit-code", "--json", codes=(7,)).code == 7, "status tells", "")
    now_here, now_there = dict(waiting), dict(theirs)
    for one in world.cells:
        short = matrix.ROWS[one.name].split(" conflict ")[1]
        path = normal(one.path(short))
        if one.kind == "path":
            if keep == "both":
                continue
            decided(one, keep, path, now_here, now_there, ours, theirs)
            desk.run(world.here, "sync", "resolve", path, "--path", keep)
        else:
            decided(one, keep, path, now_here, now_there, ours, theirs)
            desk.run(world.here, "sync", "resolve", path, "--keep", keep)
    if keep == "both":
        for one in world.cells:
            if one.kind == "path":
                path = normal(one.path(matrix.ROWS[one.name].split(" conflict ")[1]))
                decided(one, "local", path, now_here, now_there, ours, theirs)
                desk.run(world.here, "sync", "resolve", path, "--path", "local")
    for tree in (world.here, world.there, world.here):
        desk.run(tree, "sync", "--json")
    end = now_here
    for one in world.cells:  # two documents for one name: both notes are there, and the name has the one that was chosen
        if one.name in ("x_renamed_onto_a_new_one", "x_created_where_one_was_moved"):
            whose = keep if keep != "both" else "local"
            path = normal(one.path("b"))
            mine = [p for p in desk.lying(world.here.files()) if p.startswith(one.folder + "/")]
            texts = sorted([ours[path], theirs[path]])
            held = desk.lying(world.here.files())
            desk.expect(sorted(held[p] for p in mine) == texts, "path clash", "not both notes: %s" % mine)
            desk.expect(held[path] == (ours if whose == "local" else theirs)[path], "path clash", "the name went to the other")
            for p in [p for p in end if p.startswith(one.folder + "/")]:
                end.pop(p)
            end.update({p: held[p] for p in mine})
    for tree in (world.here, world.there):
        holds(desk, tree, end, "decided for " + keep)
    serves(desk, end, "decided for " + keep)
    for one in world.cells:
        if one.name in ("x_edited_both", "x_renamed_both"):
            path = [p for p in ids(desk) if p.startswith(one.folder + "/") and "(local)" not in p][0]
            desk.expect(ids(desk)[path] == world.ids[normal(one.path("a"))], "ids stay", "%s, decided for %s" % (path, keep))
    for tree in (world.here, world.there):
        quiet(desk, tree)


@case("local", "remote")
def conflicts_with_folders(desk, keep):
    """A folder has the name of a note: what waits stays, what does not is synced, and no text is lost by a decision."""
    world = Matrix(desk, conflicts=True, keep=lambda one: "folder" in one.name)
    for number in range(12):
        world.there.put("keep/%d.md" % number, desk.text(1))
    world.do()
    desk.run(world.there, "sync", "--json")
    desk.run(world.here, "sync", "--json", codes=(7,))
    theirs, there = desk.lying(world.there.files()), desk.lying(desk.look().state.by_path())
    for one in world.cells:
        here = {path: content for path, content in desk.lying(world.here.files()).items() if path.startswith(one.folder + "/")}
        put = {normal(one.path(deed[1])): deed[2] for deed in one.here if deed[0] == "put"}
        inner = normal(one.path("a/i"))
        if one.name == "x_folder_here_edited_there":
            wanted = {beside(one.path("a")): theirs[normal(one.path("a"))], inner: put[inner]}
            on_service = {normal(one.path("a")): theirs[normal(one.path("a"))], inner: put[inner]}
        elif one.name == "x_renamed_here_folder_there":
            wanted = {normal(one.path("b")): one.base["a"], inner: theirs[inner]}
            on_service = {inner: theirs[inner]}
        else:
            wanted, on_service = put, {inner: theirs[inner]}
        desk.differ("here, " + one.name, wanted, here)
        desk.differ("on the service, " + one.name, on_service,
                    {path: content for path, content in there.items() if path.startswith(one.folder + "/")})
    texts = {word for files in (desk.lying(world.here.files()), theirs) for content in files.values() for word in tokens(content)}
    for conflict in desk.run(world.here, "sync", "conflicts", "--json").report()["data"]:
        desk.run(world.here, "sync", "resolve", conflict["id"], *(["--path", keep] if conflict["kind"] == "path" else ["--keep", keep]))
    for tree in (world.here, world.there) * 2:
        desk.run(tree, "sync", "--json")
    end = desk.lying(world.here.files())
    holds(desk, world.there, end, "decided for " + keep)
    serves(desk, end, "decided for " + keep)
    left = texts - {word for content in [*end.values(), *world.here.history()] for word in tokens(content)}
    desk.expect(not left, "no line lost", "decided for %s, and on no side: %s" % (keep, judge.short(left)))
    for tree in (world.here, world.there):
        quiet(desk, tree)


def beside(path, whose="remote"):
    stem, ending = normal(path).rsplit(".", 1)
    return "%s (%s).%s" % (stem, whose, ending)


def decided(one, keep, path, here, there, ours, theirs):
    """What lies where once the conflict of this cell is decided and synced; of both sides alike."""
    if one.kind in ("revision", "hash"):
        if keep != "local":
            here[path] = theirs[path]
        if keep == "both":
            here[beside(path, "local")] = ours[path]
    elif one.kind == "edit_delete":
        if keep != "local":
            here.pop(path)
        if keep == "both":
            here[beside(path, "local")] = ours[path]
    elif one.kind == "attachment":
        if keep != "both":  # both: as they lie
            here.pop(beside(path), None)
        if keep == "remote":
            here.pop(path)
            here.update({path: theirs[path]} if path in theirs else {})
    elif one.name == "x_renamed_both" and keep == "remote":
        here[normal(one.path("b"))] = here.pop(path)
