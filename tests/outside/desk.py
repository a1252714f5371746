"""Two or three people at one desk: each episode knows exactly what all must hold when it is over.

A story of `actions.py` asks whether anything was lost; an episode says which bytes lie at which path in every tree and on the
service, and which document they are. How a tree gets there (at once, by steps, killed, with lost answers, undone and redone)
is chosen at each sync and must make no difference.
"""
import random
import signal
import time
import unicodedata
from pathlib import PurePosixPath

import judge
from model import Broken
from tree import NOTE, after, digest, folded, tokens, when_fired

WRITING = ["sync.push", "sync.commit", "files.upload_start", "files.upload_finish", "upload.put"]
FURNITURE = (".obsidian", "secret-", ".wsignore", "plain-")


class Desk:
    def __init__(self, world, steady):
        self.world, self.dice, self.trees, self.steady = world, None, world.trees, steady
        self.want, self.ids, self.made, self.state = {}, {}, 0, world.service.state()
        self.agreed = {}   # of each tree: what it and the service held alike after its last 0
        self.calm = False  # no kills, faults and undos: what an episode asserts in between holds only then

    def begin(self, step):
        """Another episode: its folder and choices are its own, so that a story without some of them plays the same."""
        self.dice, self.made, self.calm = random.Random(step.seed), 1000 * step.number, False

    def steady_choice(self, things):
        return self.dice.choice(things)

    # Looking.

    def look(self, anew=False):
        if anew or self.state is None:
            self.state = self.world.service.state()
        return judge.Sight([tree.files() for tree in self.trees], self.state)

    def met(self, what):
        self.world.model.met[what] += 1

    def expect(self, holds, law, what):
        if not holds:
            raise Broken(law, what)

    def lying(self, files):
        """Names are compared to the letter, but for the Unicode form, which each disk keeps as it has it."""
        return {unicodedata.normalize("NFC", path): content for path, content in files.items() 
                if not path.startswith(FURNITURE) and "/." not in path}

    # What people write.

    def word(self, first=False):
        return self.world.model.word("desk", 0, first=first)

    def folder(self):
        self.made += 1
        return "e%d" % self.made

    def text(self, many=6, links=()):
        lines = ["# %s" % self.word(first=True), ""]
        for _ in range(many):
            lines += ["%s stone river letter" % self.word(), ""]
        return ("\n".join(lines + list(links)).rstrip("\n") + "\n").encode()

    def picture(self, size=None):
        word = self.word()
        return b"\x89PNG\r\n\x1a\n" + word.encode().ljust(12, b".") + self.dice.randbytes(size or self.dice.randint(20, 60))

    def put(self, tree, path, content, how=None):
        """In place, or beside and renamed over it."""
        tree.put(path, content, atomic=(how or self.dice.choice(["place", "atomic"])) == "atomic" and (tree.folder / path).exists())

    def new_name(self, path):
        """Another name: in its folder, in another, of other case."""
        pure = PurePosixPath(path)
        self.made += 1
        kind = self.dice.choice(["here", "here", "away", "case"])
        if kind == "case":
            return str(pure.with_name(pure.stem.swapcase() + pure.suffix))
        stem = self.dice.choice(["n", "o p", "q-r", "\u00e9t\u00e9"]) + str(self.made)
        return str((pure.parent / "sub" if kind == "away" else pure.parent) / (stem + pure.suffix))

    # Commands, each followed by the laws.

    def run(self, tree, *words, codes=(0,), faulty=False, **more):
        before = self.look()
        ended = tree.ws(*words, **more)
        return self.judge(tree, before, ended, codes, faulty)

    def judge(self, tree, before, ended, codes=(0,), faulty=False):
        sight = self.look(anew=True)
        verb = " ".join(word for word in ended.words[:2] if not word.startswith("-"))
        self.met("`ws %s` -> %s" % (verb, "stopped" if ended.stopped else ended.code))
        try:
            judge.code(ended, faulty or ended.stopped)
            judge.others_untouched(self.world, tree, before, sight)
            judge.nothing_lost(tree, before, sight)
            judge.no_secret_left(self.world, sight)
            judge.guard_changed_nothing(tree, before, sight, ended)
            judge.conflicts_left_alone(tree, before, sight, ended)
            self.no_doubles(sight)
            if verb == "sync" and "-n" not in ended.words:
                self.honest(tree, sight, ended)
            if "-n" in ended.words or verb in ("sync status", "sync plan", "sync diff", "sync log", "sync conflicts"):
                self.expect(before.files == sight.files and before.state == sight.state, "looking changes nothing", "it did")
            if not faulty:
                self.expect(ended.code in codes, "exit codes", "expected %s" % (codes,))
        except Broken as broken:
            raise Broken(broken.law, "%s\nafter `%s ws %s` (%d): %s\n%s" % (
                broken.what, tree.name, " ".join(ended.words), ended.code, ended.out[-1800:], ended.err[-500:])) from broken
        return ended

    def honest(self, tree, sight, ended):
        if ended.code != 0 or ended.stopped or "--only" in ended.words or tree.filters:
            return
        here = self.lying(sight.here(tree))
        there = self.lying(sight.state.by_path())
        notes = {path: content for path, content in here.items() if NOTE.search(path)}
        if any(judge.left_out(ended.report() or {})):  # a rule hides something: its episode says what
            return
        self.expect(notes == there, "0 only when the same", "differ: %s" % judge.short(judge.differing(notes, there)))
        for path, sha in sight.state.files.items():
            self.expect(path in here and digest(here[path]) == sha, "0 only when the same", "file %s differs" % path)
        self.agreed[tree.name] = here

    def no_doubles(self, sight):
        paths = [folded(document.path) for document in sight.state.documents.values()]
        self.expect(len(paths) == len(set(paths)), "no doubles", "two documents at %s" % judge.short(
            path for path in paths if paths.count(path) > 1))

    # A run, in one of the manners that make no difference.

    CALM = ["plain", "preview", "preview", "told", "steps"]
    ROUGH = ["lost", "refused", "undone", "undone", "undone"]
    BY_CHANCE = ["killed", "cut", "server"]  # which end differently each time

    def sync(self, tree, code=0, flags=()):
        manners = self.CALM + (self.ROUGH if not self.calm else []) + (self.BY_CHANCE if not self.calm and not self.steady else [])
        manner = "plain" if flags or (self.calm and code) else self.dice.choice(manners)
        self.met("manner " + manner)
        return getattr(self, "sync_" + manner)(tree, code, flags)

    def plain(self, tree, code, flags=()):
        return self.run(tree, "sync", *flags, "--json", codes=(code,))

    sync_plain = plain

    def sync_preview(self, tree, code, flags):
        verb = self.dice.choice([["sync", "-n"], ["sync", "plan"], ["sync", "status"]])
        shown = self.run(tree, *verb, "--json", codes=(0, code))
        exits = self.run(tree, "sync", "status", "--exit-code", "--json", codes=(0, 7, 13))
        before = self.look()
        ran = self.plain(tree, code)
        changed = self.changed(before)
        told = judge.actions_of(shown.report())
        self.expect(exits.code != 0 or not changed, "status tells", "status --exit-code ended 0, and the run changed something")
        self.expect((exits.code == 7) == (ran.code == 7), "status tells",
                    "status --exit-code ended %d, the run %d" % (exits.code, ran.code))
        self.expect(not changed or told, "plan = act", "nothing was planned, and the run changed something")
        judge.plan_was_act(shown.report(), ran.report())
        return ran

    def changed(self, before):
        now = self.look()
        return before.files != now.files or before.state.by_path() != now.state.by_path() or before.state.files != now.state.files

    def newest(self, tree):
        return max((row["run"] for row in self.world.runs(tree)), default=0)

    def sync_told(self, tree, code, flags):
        """What changed is one run of the log, and each change a row of it, with the bytes that came of it."""
        before, newest = self.look(), self.newest(tree)
        ended = self.plain(tree, code)
        now, run = self.look(), self.newest(tree)
        paths = {unicodedata.normalize("NFC", path) for one, other in (
            (before.here(tree), now.here(tree)), (before.state.by_path(), now.state.by_path()), (before.state.files, now.state.files))
                 for path in judge.differing(one, other) if not path.endswith(" (remote)" + path[path.rfind("."):])}
        new = run - newest
        self.expect(new == 1 if paths else new in (0, 1), "one operation", "%d runs more in the log; changed: %s" % (new, paths))
        if not paths or not new:
            return ended
        shown = self.run(tree, "sync", "show", str(run), "--json").report()
        named = {unicodedata.normalize("NFC", path) for row in shown["rows"] for path in (row["path"], row["previous_path"]) if path}
        self.expect(paths <= named, "one operation", "run %d does not name %s" % (run, judge.short(paths - named)))
        here = self.lying(now.here(tree))
        for row in shown["rows"]:
            path = unicodedata.normalize("NFC", row["path"])
            if row["after"] and path in paths and path in here:
                self.expect(row["after"]["content_sha256"] == digest(here[path]), "one operation",
                            "run %d tells other bytes of %s" % (run, path))
        return ended

    def sync_steps(self, tree, code, flags):
        verbs = self.dice.choice([["pull"], ["pull", "push", "commit"], ["push", "commit"], ["push", "pull", "commit"], ["push"]])
        for verb in verbs:
            self.run(tree, "sync", verb, "--json", codes=(0, 7, 13))
        return self.plain(tree, code)

    def again(self, tree, code):
        """After what went wrong: at most two runs may still have to finish it."""
        for _ in range(2):
            ended = self.run(tree, "sync", "--json", codes=(0, 7, 12, 13), faulty=True)
            if ended.code == code:
                return ended
        return self.plain(tree, code)

    def stopped(self, tree, words, when):
        how = self.dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        before = self.look()
        return self.judge(tree, before, tree.ws_stopped(words, how, when), faulty=True)

    def sync_killed(self, tree, code, flags):
        for _ in range(self.dice.randint(1, 3)):
            self.stopped(tree, ["sync"], after(self.dice.randint(5, 60) / 1000))
        return self.again(tree, code)

    def faulty(self, rule, tree, run):
        self.world.fault(rule)
        run()
        self.world.no_faults()
        self.state = None

    def sync_cut(self, tree, code, flags):
        rule = {"operation": self.dice.choice([*WRITING, "sync.pull", "files.content"]), "nth": self.dice.randint(1, 2),
                "phase": self.dice.choice(["before", "after"]), "effect": {"hang": True}}
        self.faulty(rule, tree, lambda: self.stopped(tree, ["sync"], when_fired(self.world.service)))
        return self.again(tree, code)

    def sync_lost(self, tree, code, flags):
        rule = {"operation": self.dice.choice(WRITING), "nth": self.dice.randint(1, 2), "phase": "after",
                "effect": self.dice.choice([{"close_without_answer": True}, {"reset": True}, {"truncate_at": 40}, {"status": 500}])}
        self.faulty(rule, tree, lambda: self.run(tree, "sync", "--no-retry", "--json", faulty=True))
        return self.again(tree, code)

    def sync_refused(self, tree, code, flags):
        rule = {"operation": self.dice.choice(WRITING), "nth": self.dice.randint(1, 2), "phase": "before",
                "effect": {"status": self.dice.choice([409, 429, 503])}}
        self.faulty(rule, tree, lambda: self.run(tree, "sync", "--no-retry", "--json", faulty=True))
        return self.again(tree, code)

    def sync_server(self, tree, code, flags):
        before, words, seconds = self.look(), ("sync", "--no-retry", "--json"), self.dice.randint(1, 50) / 1000
        process = tree.start(words)
        time.sleep(seconds)
        self.world.service.kill()
        ended = tree.ended(words, process)
        tree.say("%s sync --no-retry & sleep %.3f; kill_server; wait $!; start_server  # %d" % (tree.name, seconds, ended.code))
        self.world.service.start()
        self.judge(tree, before, ended, faulty=True)
        return self.again(tree, code)

    def sync_undone(self, tree, code, flags):
        """Taken back: where one side alone had changed, both are as they had agreed. Redone: as after the run."""
        before, agreed = self.look(), self.agreed.get(tree.name)
        ended = self.plain(tree, code)
        if code or not self.changed(before):
            return ended
        done = self.look()
        self.undo(tree, "undo")
        here, there = self.lying(before.here(tree)), self.lying({**before.state.by_path(), **before.state.files})
        there_changed = there != {path: content if NOTE.search(path) else digest(content) for path, content in agreed.items()}
        if here == agreed or not there_changed:
            self.met("one side taken back")
            self.differ("in %s, taken back" % tree.name, agreed, self.lying(self.look().here(tree)))
        self.undo(tree, "redo")
        now = self.look()
        self.differ("in %s, redone" % tree.name, done.here(tree), now.here(tree))
        self.differ("on the service, redone", done.state.by_path(), now.state.by_path())
        self.ids_anew = True
        return self.plain(tree, 0)

    def undo(self, tree, verb):
        return self.run(tree, "sync", verb, "--allow-deletes", "--json")

    ids_anew = False

    # The end of an episode.

    def start(self, files):
        """All hold these files too."""
        first = self.dice.choice(self.trees[:2])
        for path, content in files.items():
            self.put(first, path, content)
        self.want.update(files)
        for tree in [first, *(tree for tree in self.trees if tree is not first)]:
            self.plain(tree, 0)
        self.all_hold()

    def settle(self, new=(), flags=()):
        """Each in any order, at most twice; then a further run of each does nothing. `new`: paths whose document may be another."""
        for tree in self.dice.sample(self.trees, len(self.trees)):
            self.sync(tree, 0, flags)
        self.check(new, flags)

    def check(self, new=(), flags=()):
        for _ in range(2):
            self.world.service.forget_requests()
            before = self.look(anew=True)
            rows = [(tree.name, row) for tree in self.trees for row in judge.actions_of(self.plain(tree, 0, flags).report())]
            written = self.world.service.writes()
            if not rows and not written and not self.changed(before):
                break
        else:
            raise Broken("a further run does nothing", "it says %s, and sent %s" % (rows[:4], judge.short(set(written))))
        self.all_hold(new)

    def all_hold(self, new=()):
        sight = self.look()
        for tree in self.trees:
            self.differ("in " + tree.name, self.want, self.lying(sight.here(tree)))
        notes = {path: content for path, content in self.want.items() if NOTE.search(path)}
        self.differ("on the service", notes, self.lying(sight.state.by_path()))
        self.differ("in the list of files", {path: digest(content) for path, content in self.want.items() if path not in notes},
                    sight.state.files)
        now = {document.path: document.id for document in sight.state.documents.values()}
        for path, identity in self.ids.items() if not self.ids_anew else ():
            if path in now and path not in new and path in self.want:
                self.expect(now[path] == identity, "ids stay", "%s is another document" % path)
        self.ids, self.ids_anew = now, False

    def differ(self, where, wanted, there):
        paths = judge.differing(wanted, there)
        shown = lambda thing: thing.encode() if isinstance(thing, str) else thing
        self.expect(not paths, "as expected", "%s: %s" % (where, "; ".join("%s: %s" % (
            path, judge.change(shown(wanted.get(path)), shown(there.get(path)))) for path in sorted(paths)[:4])))

    def differ_from_either(self, tree, one, other):
        """What was cut and finished is all of it, or nothing."""
        here = self.lying(tree.files())
        self.expect(here in (one, other), "undo takes back", "a cut undo left half: %s" % judge.short(
            judge.differing(one, here) & judge.differing(other, here) or judge.differing(one, here)))

    def moved(self, old, new):
        """The document keeps its id under the new path."""
        if old != new:
            self.want[new] = self.want.pop(old)
            if old in self.ids:
                self.ids[new] = self.ids.pop(old)

    def drop(self, path):
        self.want.pop(path, None)
        self.ids.pop(path, None)

    def clear(self):
        """An empty desk: the guard counts all that is there."""
        for path in self.trees[0].files():
            if self.lying({path: b""}):
                self.trees[0].remove(path)
        self.want.clear()
        for tree in self.trees:
            self.plain(tree, 0, ("--allow-deletes",))
        self.all_hold()

    def two(self):
        """One tree that syncs first, and one that syncs second."""
        return self.dice.sample(self.trees, 2)

    def conflict(self, tree):
        listed = self.run(tree, "sync", "conflicts", "--json").report()["data"]
        self.expect(listed, "a conflict waits", "none is listed in %s" % tree.name)
        return listed[0]
