"""One story's world: a service, trees, and what is asked of them; after each command the laws are read."""
import os
import shlex
import signal
import threading
import time
from collections import Counter, defaultdict

import judge
from model import Broken, Model
from service import PEOPLE, Service, key_of
from tree import Tree, digest, folded, tokens

OWNERS = ["mara", "tomas", "mara", "vera"]  # whose tree is which


class World:
    name = "service"

    def __init__(self, programs, scratch, many_trees):
        self.script, self.model, self.trees, self.ever = [], Model(), [], defaultdict(set)
        self.service = Service(programs, scratch / "service")
        self.ever_here = defaultdict(set)  # tree -> words that lay in it
        self.there = defaultdict(set)  # tree -> files that came up on the service since its last run
        self.last_run = {}  # tree -> the newest of its runs
        self.scratch, self.included, self.outside = scratch, False, {}
        self.service.start()
        tables = self.service.control("GET", "/state")["tables"]
        self.project = tables["projects"][0]["id"]
        source = tables["sync_sources"][0]["id"]
        neighbour = scratch / "neighbour.md"
        neighbour.write_bytes(b"of nobody\n")
        self.outside[neighbour] = b"of nobody\n"
        for number in range(many_trees):
            tree = Tree(number, OWNERS[number], scratch, self.service, programs, self.script)
            self.trees.append(tree)
            self.furnish(tree)
            done = tree.ws("sync", "init", "--source", source, "--yes", "--json")
            if done.code != 0:
                raise Broken("exit codes", "init ended with %d: %s" % (done.code, done.err))
            tree.touched = False

    def close(self):
        self.service.kill()

    def say(self, line):
        self.script.append(line)

    def furnish(self, tree):
        """Files that are nobody's business."""
        for path in ("secret-%s.png" % tree.name, "secret-%s.json" % tree.name):
            content = ("%s kept at home" % path).encode()
            tree.put(path, content)
            self.model.secrets[tree.number][digest(content)] = path
        tree.put(".obsidian/workspace", b"panes\n")
        tree.put("plain-%s.bin" % tree.name, b"\0\1\2")

    # Looking.

    def look(self):
        sight = judge.Sight([tree.files() for tree in self.trees], self.service.state())
        for tree in self.trees:
            self.ever[tree.number].update(sight.here(tree))
            self.ever_here[tree.number] |= judge.words_of(sight.here(tree))
        return sight

    # Commands.

    def run(self, tree, *words, deed=False, faulty=False, as_viewer=False, person=None):
        before = self.look()
        ended = tree.ws(*words, as_viewer=as_viewer, person=person)
        after = self.look()
        self.judge(tree, before, after, ended, deed, faulty or as_viewer or PEOPLE[tree.person] == "viewer")
        return ended

    def judge(self, tree, before, after, ended, deed=False, faulty=False):
        try:
            self.read_the_laws(tree, before, after, ended, deed, faulty)
        except Broken as broken:
            raise Broken(broken.law, "%s\nafter `%s ws %s` (%d): %s\n%s" % (
                broken.what, tree.name, " ".join(ended.words), ended.code, ended.out[-1500:], ended.err[-500:])) from broken

    def read_the_laws(self, tree, before, after, ended, deed, faulty):
        verb = " ".join(word for word in ended.words[:2] if not word.startswith("-"))
        self.model.met["`ws %s` -> %s" % (verb, "stopped" if ended.stopped else ended.code)] += 1
        if ended.is_guard():
            self.model.met["guard met"] += 1
        judge.code(ended, faulty)
        judge.others_untouched(self, tree, before, after)
        judge.nothing_lost(tree, before, after)
        judge.no_secret_left(self, after)
        judge.guard_changed_nothing(tree, before, after, ended)
        judge.conflicts_left_alone(tree, before, after, ended)
        if deed:
            self.release_lost(tree, before, after)
        self.note_run(tree, before, after, ended)
        if not deed:
            judge.nobody_took(self.model, after)
        if verb == "sync":
            tree.named = judge.left_out(ended.report() or {})
        if verb == "sync" and not deed:
            judge.honest(tree, after, ended)
        judge.ids_stay(self.model, after.state, tree.crossed)
        if verb not in judge.GO_BACK and not deed and not tree.unfinished:
            judge.hidden_kept(tree, before, after)
        judge.refused_stay_out(tree, before, after)
        if verb.startswith("sync"):
            tree.unfinished = ended.stopped or ended.code not in judge.QUIET | {2, 6} or verb == "sync push" or (
                tree.unfinished and not (verb == "sync" and ended.code == 0))
        if verb in ("sync mv", "links fix"):
            old = before.here(tree)
            for path, content in after.here(tree).items():
                if old.get(path) != content:
                    self.model.written_by_ws |= tokens(content)
        if verb == "sync" and ended.code in judge.QUIET and not ended.is_guard() and not ended.stopped and "--only" not in ended.words:
            tree.seen_filters = tree.filters
            tree.renamed.clear()
        for row in (ended.report() or {}).get("actions", []) if "--json" in ended.words else []:
            if row.get("state") == "done" or verb == "sync":
                self.model.met["%s %s" % (row["action"], row.get("what", "note"))] += 1

    def release_lost(self, tree, before, after):
        """What a deed takes from the person's folder or from the service goes elsewhere with the next runs."""
        self.model.release(judge.words_of(before.here(tree)) - judge.words_of(after.here(tree)))
        self.model.release(judge.words_there(before.state) - judge.words_there(after.state))
        for sha in {digest(content) for content in before.here(tree).values()} - {
                digest(content) for content in after.here(tree).values()}:
            self.model.release_picture(sha)
        for sha in set(before.state.files.values()) - set(after.state.files.values()):
            self.model.release_picture(sha)

    def note_run(self, tree, before, after, ended):
        """Keeps which words came up in which run: an undo of it may take them away."""
        new = (judge.words_of(after.here(tree)) - judge.words_of(before.here(tree))) | (
            judge.words_there(after.state) - judge.words_there(before.state))
        shas = ({digest(c) for c in after.here(tree).values()} - {digest(c) for c in before.here(tree).values()}) | (
            set(after.state.files.values()) - set(before.state.files.values()))
        report = ended.report() or {}
        if "undoes" not in report:  # what this command first finished taking back is of that undo, not of its own run
            back = {row["path"] for row in report.get("actions", []) if row.get("reason") == "undone"}
            for path in back:
                for content in (after.here(tree).get(path), after.state.by_path().get(path)):
                    new -= tokens(content) if content else set()
                    shas -= {digest(content)} if content else set()
                shas.discard(after.state.files.get(path))
        self.model.pending[tree.number] |= new | shas
        self.there[tree.number] |= set(after.state.files.values()) - set(before.state.files.values())
        if ended.stopped or (before.files == after.files and before.state.by_path() == after.state.by_path()
                             and before.state.files == after.state.files):
            return
        run = report.get("operation") or next((row["run"] for row in self.runs(tree)), None)
        if run is not None and run != self.last_run.get(tree.number):  # what was cut off belongs to the run that finishes it
            self.last_run[tree.number] = run
            self.model.appeared[tree.number][run] |= self.model.pending[tree.number]
            self.model.sent[tree.number, run] |= self.there[tree.number] & self.model.pending[tree.number]
            self.there[tree.number] = set()
            self.model.pending[tree.number] = set()

    def runs(self, tree):
        process = tree.start(["sync", "log", "--runs", "--json"])
        return (tree.ended(["sync", "log"], process).report() or {}).get("data", [])

    def plan_and_run(self, tree):
        self.look()
        planned = tree.ws("sync", "-n", "--json")
        before = self.look()
        ran = self.run(tree, "sync", "--json")
        if planned.report() is None or ran.report() is None or ran.is_guard() or PEOPLE[tree.person] == "viewer":
            return
        self.model.met["plan compared with act"] += 1
        judge.plan_was_act(planned.report(), ran.report())

    def undo(self, tree, verb="undo", allow=False, run=None):
        before = self.look()
        ended = tree.ws("sync", verb, *([str(run)] if run else []), "--json", *(["--allow-deletes"] if allow else []))
        after = self.look()
        report = ended.report() or {}
        appeared = self.model.appeared[tree.number]
        undone = report.get("undoes")
        may_go = appeared[undone] if undone in appeared else set().union(*appeared.values(), self.model.pending[tree.number])
        if ended.code in judge.QUIET and not ended.is_guard():
            self.model.release(may_go)
            for sha in may_go:
                self.model.release_picture(sha)
        self.judge(tree, before, after, ended, faulty=PEOPLE[tree.person] == "viewer")
        if verb == "undo" and undone in appeared:
            judge.taken_back_or_listed(tree, after, ended, self.model.sent[tree.number, undone])
        return ended

    def leave(self, tree, path):
        before, filters = self.look(), tree.filters
        ended = self.run(tree, "sync", "leave", path, "--json")
        judge.left(tree, before, self.look(), ended, path, filters)
        tree.seen_filters = tree.filters

    def take(self, tree, *words):
        before, names, finishing = self.look(), tree.filters.left, tree.unfinished
        ended = self.run(tree, "sync", "take", *words, "--json")
        if not finishing:
            judge.taken(tree, before, self.look(), ended, {name: place for name, place in names.items() if name not in tree.filters.left})

    def reset(self, tree, words, back):
        """`back`: undone at once."""
        before, finishing = self.look(), tree.unfinished
        ended = self.run(tree, "sync", "reset", *words, "--yes", "--json", deed=True)
        after = self.look()
        if finishing:  # what was cut is finished first: `reset_after_a_cut` has that
            return
        judge.was_reset(self.model, tree, before, after, ended, words, self.ever_here[tree.number])
        if back and ended.code == 0 and after.files != before.files:
            undone, now = self.undo(tree, allow=True), self.look()
            judge.expect(undone.code == 0 and now.here(tree) == before.here(tree) and now.state.documents == before.state.documents,
                         "undo takes back", "undo of a reset ended with %d: %s; other: %s" % (
                             undone.code, (undone.report() or {}).get("left"), judge.short(judge.differing(before.here(tree), now.here(tree)))))

    def delete_and_restore(self, tree, paths):
        """In step, files deleted: `restore --deleted` brings back all of them, and touches nothing else."""
        base = self.look()
        for path in paths:
            tree.remove(path)
        ended, after = self.run(tree, "sync", "restore", "--deleted", "--json"), self.look()
        judge.expect(ended.code == 0 and after.here(tree) == base.here(tree), "restore", "restore --deleted ended with %d; other: %s" % (
            ended.code, judge.short(judge.differing(base.here(tree), after.here(tree)))))

    def changes_nothing(self, tree, *words, **more):
        before = self.look()
        ended, after = self.run(tree, *words, **more), self.look()
        judge.expect(before.files == after.files and before.state.documents == after.state.documents and before.state.files ==
                     after.state.files, "changes nothing", "`ws %s` changed something" % " ".join(words))
        return ended

    def with_anothers_key(self, tree, words, person):
        """Refused before anything of the tree is sent."""
        self.service.forget_requests()
        ended = self.changes_nothing(tree, *words, "--json", faulty=True, person=person)
        judge.refused_account(ended, self.service.control("GET", "/requests")["data"])

    def decide_files(self, tree, choose):
        """A file that is held or foreign is accepted, added or refused: at once nothing changes but what is decided."""
        rows = [row for row in (tree.ws("sync", "attachments", "--json").report() or {}).get("data", []) if row["state"] in ("held", "foreign")]
        row = choose.of(rows, key=lambda row: row["path"])
        if row:
            verb = choose.of(["refuse", "accept" if row["state"] == "held" else "add"])
            self.model.met["%s %s" % (verb, row["state"])] += 1
            if self.changes_nothing(tree, "sync", "attachments", verb, row["path"]).code:
                return
            shas = {row.get("content_sha256"), digest(tree.files().get(row["path"], b""))}
            tree.refused -= {(row["path"], sha) for sha in shas}
            if verb == "refuse":
                tree.refused |= {(row["path"], sha) for sha in shas}
            elif verb == "add":
                for sha in shas:
                    self.model.secrets[tree.number].pop(sha, None)

    def sync_and_undo(self, tree):
        """In step, one run, taken back: both sides hold what both held before."""
        first = self.run(tree, "sync", "--json")
        if first.code != 0 or not first.report() or PEOPLE[tree.person] == "viewer":
            return
        # Now both are the same. Another person's deed, or this one's, then a run.
        base = self.look()
        notes = sorted(path for path in base.state.by_path() if path in base.here(tree) and not tree.filters.hides(path))
        if not notes:
            return
        path = notes[len(notes) // 2]
        text = base.here(tree)[path]
        word = self.model.word(tree.name, 0)
        tree.put(path, text + b"\n" + word.encode() + b" to be taken back\n")
        second = self.run(tree, "sync", "--json")
        if second.code != 0:
            return
        self.model.met["a run taken back at once"] += 1
        undone = self.undo(tree)
        after = self.look()
        if undone.code != 0:
            raise Broken("undo takes back", "undo right after a run ended with %d: %s" % (undone.code, undone.err[-300:]))
        if after.state.by_path() != base.state.by_path():
            raise Broken("undo takes back", "the service differs: %s"
                         % judge.short(judge.differing(base.state.by_path(), after.state.by_path())))
        if after.here(tree) != base.here(tree):
            raise Broken("undo takes back", "%s differs: %s"
                         % (tree.name, judge.short(judge.differing(base.here(tree), after.here(tree)))))

    def resolve(self, tree, keep, path):
        listed = tree.ws("sync", "conflicts", "--json").report() or {}
        conflicts = listed.get("data", [])
        if not conflicts:
            return
        conflict = conflicts[0]
        words = ["--path", path] if conflict["kind"] == "path" else ["--keep", keep]
        self.model.met["resolve %s %s" % (conflict["kind"], words[1])] += 1
        self.run(tree, "sync", "resolve", conflict["id"], *words, deed=True)

    def stopped(self, tree, words, how, when, watching=False):
        before = self.look()
        ended = tree.ws_stopped(words, how, when)
        after = self.look()
        if "undo" in words:
            for word in set().union(*self.model.appeared[tree.number].values()):
                self.model.release([word])
                self.model.release_picture(word)
        expected = {signal.SIGKILL: 137, signal.SIGTERM: 143, signal.SIGINT: 130}[how]
        if ended.stopped and ended.code not in (expected, 2, 6, *judge.QUIET) and not (watching and ended.code == 0):
            raise Broken("exit codes", "`ws %s`, stopped by signal %d, ended with %d: %s"
                         % (" ".join(words), how, ended.code, ended.err[-300:]))
        self.judge(tree, before, after, ended, deed="reset" in words or "restore" in words, faulty=True)

    # What goes wrong.

    def fault(self, rule):
        import json
        self.say("fault %s" % shlex.quote(json.dumps(rule)))
        self.service.set_fault(rule)

    def no_faults(self):
        self.say("no_faults")
        self.service.clear_faults()

    def restart(self):
        self.say("kill_server; start_server")
        self.service.kill()
        self.service.start()

    def run_without_server(self, tree, seconds):
        before = self.look()
        process = tree.start(["sync", "--no-retry", "--json"])
        time.sleep(seconds)
        self.service.kill()
        ended = tree.ended(["sync", "--no-retry", "--json"], process)
        self.say("t%d sync --no-retry & sleep %.3f; kill_server; wait $!; start_server  # %d" % (tree.number, seconds, ended.code))
        self.service.start()
        self.judge(tree, before, self.look(), ended, faulty=True)

    def two_at_once(self, tree):
        before = self.look()
        one, other = tree.start(["sync", "--json"]), tree.start(["sync", "--json"])
        both = [tree.ended(["sync", "--json"], one), tree.ended(["sync", "--json"], other)]
        self.say("t%d sync & t%d sync; wait" % (tree.number, tree.number))
        after = self.look()
        for ended in both:
            judge.code(ended, True)
        self.judge(tree, before, after, both[0] if both[0].code != 14 else both[1], faulty=True)

    # The end.

    def quiet_end(self):
        """Faults off, filters gone, conflicts decided, each in turn: then all hold the same, and nothing more happens."""
        self.no_faults()
        for tree in self.trees:
            for folder in tree.filters.nested:
                tree.remove(folder + "/.wsignore")
            tree.set_filters([], {"include": ["*.txt"]} if self.included else {})
            if tree.filters.left:
                self.take(tree, "--all")
        for turn in range(3 * len(self.trees) + 3):
            self.say("# round %d of the quiet end" % (turn + 1))
            self.service.forget_requests()
            before = self.look()
            ends = [self.settle(tree) for tree in self.trees]
            sight = self.look()
            written = [] if any(self.is_stuck(tree) for tree in self.trees) else self.service.writes()
            same = before.files == sight.files and before.state.by_path() == sight.state.by_path()
            if all(ends) and same and not written:
                break
        else:
            if written and same:
                raise Broken("a further run does nothing", "it sent %s" % judge.short(set(written)))
            last = {tree.name: self.run(tree, "sync", "--json") for tree in self.trees}
            raise Broken("trees converge", "no rest after %d rounds; %s" % (turn + 1, "; ".join(
                "%s ends %d %s%s" % (name, ended.code, judge.actions_of(ended.report() or {})[:4], ended.err[-200:])
                for name, ended in last.items())))
        # The last round was a further run: each ended with 0, and each report was compared with what is there.
        judge.nobody_took(self.model, sight)
        judge.no_picture_lost(self.model, sight)
        judge.ids_stay(self.model, sight.state)
        for tree in self.trees:
            if not self.is_stuck(tree):
                judge.only_ours(tree, sight)

    def is_stuck(self, tree):
        """What somebody wrote who may only look stays where it is."""
        return PEOPLE[tree.person] == "viewer" and tree.touched

    def undo_all(self, tree, alone):
        """Back through all runs of one tree; if nobody else wrote anything, to the state before the first."""
        further, left = None, set()
        for _ in range((len(self.runs(tree)) + 2) ** 2):  # it begins anew at those that are stuck each time
            ended = self.undo(tree, allow=True, run=further)
            report = ended.report() or {}
            left |= {row["path"] for row in report.get("left", [])}
            # One of which nothing can be taken back names the run before it.
            is_stuck = not report.get("actions") and report.get("left")
            further = report.get("further_back")
            if ended.code == 6 or (is_stuck and further is None):
                break
            for conflict in (tree.ws("sync", "conflicts", "--json").report() or {}).get("data", []):
                words = ["--path", "local"] if conflict["kind"] == "path" else ["--keep", "remote"]
                self.run(tree, "sync", "resolve", conflict["id"], *words, deed=True)
        else:
            raise Broken("undo takes back", "undo again and again comes to no end: %d %s%s"
                         % (ended.code, ended.out[-300:], ended.err[-300:]))
        self.model.met["walked back through all runs"] += 1
        state = self.service.state()
        there = [*state.by_path(), *state.files]
        if alone and there and not left:
            raise Broken("undo takes back", "all runs are taken back, and on the service is %s" % judge.short(there))

    def settle(self, tree):
        """One run; what stops it is answered. True if it ended by itself with 0."""
        ended = self.run(tree, "sync", "--json")
        if ended.code == 0:
            return True
        if self.is_stuck(tree):
            return ended.code in judge.QUIET
        if ended.is_guard():
            self.run(tree, "sync", "--allow-deletes", "--json")
        for conflict in (tree.ws("sync", "conflicts", "--json").report() or {}).get("data", []):
            words = ["--path", "local"] if conflict["kind"] == "path" else ["--keep", "both"]
            self.run(tree, "sync", "resolve", conflict["id"], *words)
        return False
