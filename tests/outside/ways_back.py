"""Cases of whose folder it is, of what is left out here, and of the ways back."""
import os

import judge
from cases import all_alike, begin, both, error_of, matrix_head, matrix_tail, same_ids
from exact import case, cut, holds, quiet, requests, serves, told


def listed(desk, tree):
    return sorted(row["path"] for row in desk.run(tree, "sync", "leave", "--json").report()["left_out"])


def shown(desk):
    """Notes and files: a folder of them, and what shows the picture from elsewhere."""
    return {"d/a.md": desk.text(links=["![p](p.png)"]), "d/b.md": desk.text(), "d/p.png": desk.picture(),
            "k.md": desk.text(links=["![p](d/p.png)"]), "z.md": desk.text()}


LEFT = {"note": (["d/a.md"], ["d/a.md"]), "picture": (["d/p.png"], ["d/p.png"]), "pattern": (["d/*.md"], ["d/a.md", "d/b.md"]),
        "folder": (["d"], ["d/a.md", "d/b.md", "d/p.png"])}


@case(*[(what, back) for what in LEFT for back in ("take", "undo", "by hand")])
def left_out(desk, what, back):
    """What is left out goes here alone, whatever happens to it there; it comes back as it is there."""
    tree, other = both(desk)
    files = shown(desk)
    old = begin(desk, files)
    words, gone = LEFT[what]
    tree.put("z.md", matrix_head(files["z.md"]))
    before = desk.look(True)
    desk.expect("z.md" in error_of(desk.run(tree, "sync", "leave", *words, "z.md", "--json", codes=(7,)))["message"], "left out", "")
    desk.expect(not desk.changed(before), "left out", "what is not in step was refused, and something was done")
    tree.put("z.md", files["z.md"])
    report = desk.run(tree, "sync", "leave", *words, "--json").report()
    desk.expect([(row["path"], row["what"]) for row in report["files"]] == [(path, "removed") for path in gone], "left out", str(report))
    here = {path: content for path, content in files.items() if path not in gone}
    holds(desk, tree, here, "left out")
    serves(desk, files, "left out")
    quiet(desk, tree)
    desk.run(other, "sync", "--json")
    holds(desk, other, files, "left out elsewhere")
    there, moved = dict(files), []
    if back != "undo":
        for path in gone:
            there[path] = desk.picture() if path.endswith("png") else matrix_tail(files[path])
            other.put(path, there[path])
        if what == "folder":  # what is new in it stays away, what leaves it arrives
            there["d/new.md"] = desk.text()
            other.put("d/new.md", there["d/new.md"])
            moved = [("e/b.md", "d/b.md")]
        elif what == "note":  # it stays away under another name too
            moved = [("e/a.md", "d/a.md")]
        for new, path in moved:
            other.rename(path, new)
            there[new] = there.pop(path)
        if what == "note":
            there["e/a.md"] = there["e/a.md"].replace(b"(p.png)", b"(../d/p.png)")
            other.put("e/a.md", there["e/a.md"])
        desk.run(other, "sync", "--json")
        serves(desk, there, "changed there")
        if what == "folder":
            here["e/b.md"] = there["e/b.md"]
        told(desk, desk.run(tree, "sync", "--json"), [("pull_create", "e/b.md", "")] if what == "folder" else [], "left out")
        holds(desk, tree, here, "changed there")
        serves(desk, there, "changed there, synced here")
    if back == "take":
        desk.run(tree, "sync", "take", *(words if what in ("folder", "picture") else ["--all"]), "--json")
    elif back == "undo":
        desk.run(tree, "sync", "undo", "--json")
    else:
        tree.set_filters([], {}, left={})
        desk.run(tree, "sync", "--json")
    desk.expect(listed(desk, tree) == [], "left out", "still listed")
    holds(desk, tree, there, "back by " + back)
    serves(desk, there, "back by " + back)
    quiet(desk, tree)
    same_ids(desk, old, moved, "back by " + back)
    if back == "undo":
        desk.run(tree, "sync", "redo", "--json")
        holds(desk, tree, here, "redone")
        serves(desk, there, "redone")
        quiet(desk, tree)


@case("other", "same", "folder")
def new_where_it_was_left_out(desk, what):
    """A file that is made at a path that is left out is told and not sent; taken, the two are as any two new files."""
    tree, other = both(desk)
    files = shown(desk)
    old = begin(desk, files)
    desk.run(tree, "sync", "leave", "d" if what == "folder" else "d/b.md", "--json")
    path = "d/mine.md" if what == "folder" else "d/b.md"
    mine = files[path] if what == "same" else desk.text()
    tree.put(path, mine)
    for _ in range(2):
        report = desk.run(tree, "sync", "--json").report()
        named = {row["path"]: row["reason"] for part in ("skipped", "detached") for row in report[part]}
        desk.expect(named == {path: "left_out"}, "left out", "told: %s" % named)
        serves(desk, files, "left out")
        desk.expect(tree.files()[path] == mine, "left out", "%s is changed here" % path)
    desk.run(tree, "sync", "take", "--all", "--json", codes=(7 if what == "other" else 0,))
    if what == "other":
        desk.run(tree, "sync", "--json", codes=(7,))
        desk.run(tree, "sync", "resolve", path, "--keep", "both")
        files["d/b (local).md"] = mine
    elif what == "folder":
        files[path] = mine
    all_alike(desk, files, "taken")
    same_ids(desk, old, why="taken")


@case("moved away", "swapped")
def left_out_name_taken(desk, how):
    """A document is left out by its id: its name is free for another."""
    tree, other = both(desk)
    files = {path: desk.text() for path in ("d/c.md", "d/x.md", "z.md")}
    old = begin(desk, files)
    desk.run(tree, "sync", "leave", "d/c.md", "--json")
    other.rename("d/c.md", "tmp.md")
    other.rename("d/x.md", "d/c.md")
    away = "d/x.md" if how == "swapped" else "d/y.md"
    other.rename("tmp.md", away)
    desk.run(other, "sync", "--json")
    there = {away: files["d/c.md"], "d/c.md": files["d/x.md"], "z.md": files["z.md"]}
    serves(desk, there, how)
    ended = desk.run(tree, "sync", "--json", codes=(0, 7))
    desk.expect(ended.code == 0, "left out", "the name of what is left out is taken: %s" % ended.report()["conflicts"])
    told(desk, ended, [("pull_move", "d/c.md", "d/x.md")])
    desk.run(tree, "sync", "take", "--all", "--json")
    all_alike(desk, there, how)
    same_ids(desk, old, [("d/c.md", "d/x.md"), (away, "d/c.md")], how)


@case("edited", "renamed", "deleted", "picture", "picture deleted", "edited there", "renamed there", "edited both", "collides", "new", "some")
def reset(desk, what):
    """What the service has, as it has it; what was never sent stays; the old texts can be had again, and `undo` takes it all back."""
    tree, other = both(desk)
    files = shown(desk)
    old = begin(desk, files)
    there, words = dict(files), ["--all"]
    if what in ("edited", "some"):
        tree.put("d/b.md", matrix_head(files["d/b.md"]))
    elif what == "renamed":
        tree.rename("d/b.md", "far/c.md")
    elif what == "deleted":
        tree.remove("d/b.md")
        tree.remove("z.md")
    elif what == "picture":
        tree.put("d/p.png", desk.picture())
    elif what == "picture deleted":
        tree.remove("d/p.png")
    elif what in ("edited there", "edited both", "collides"):
        if what == "edited there":
            tree.rename("z.md", "y.md")
        else:
            tree.put("d/b.md", matrix_head(files["d/b.md"]))
        there["d/b.md"] = matrix_head(files["d/b.md"], b"steel") if what == "collides" else matrix_tail(files["d/b.md"])
        other.put("d/b.md", there["d/b.md"])
        desk.run(other, "sync", "--json")
    elif what == "renamed there":
        other.rename("d/b.md", "far/c.md")
        there["far/c.md"] = there.pop("d/b.md")
        desk.run(other, "sync", "--json")
    new = {"new.md": desk.text(), "d/q.png": desk.picture()} if what == "new" else {}
    for path, content in new.items():
        tree.put(path, content)
    if what == "some":
        words = ["z.md", "d/b.md"]
        tree.put("k.md", matrix_tail(files["k.md"]))
        there["k.md"] = tree.files()["k.md"]
    lay = desk.lying(tree.files())
    desk.run(tree, "sync", "reset", codes=(2,))
    desk.run(tree, "sync", "reset", *words, codes=(2, 0 if what == "new" else 2))
    holds(desk, tree, lay, "not confirmed")
    ended = desk.run(tree, "sync", "reset", *words, "--yes", "--json")
    serves(desk, {**there, "k.md": files["k.md"]}, "reset")
    holds(desk, tree, {**there, **new}, "reset")
    same_ids(desk, old, [("far/c.md", "d/b.md")] if what == "renamed there" else (), why="reset")
    if what == "new":
        desk.expect("new.md" in {row["path"] for row in ended.report()["left"]} or not ended.report()["files"], "reset", str(ended.report()))
        return
    ended = desk.run(tree, "sync", "undo", "--json", codes=(0, 13))
    desk.expect(ended.code == 0, "undo takes back", "undo of a reset: %s" % ended.report()["left"])
    holds(desk, tree, lay, "reset and taken back")
    serves(desk, {**there, "k.md": files["k.md"]}, "reset and taken back")
    desk.run(tree, "sync", "redo", "--json")
    holds(desk, tree, there, "reset again")
    if what == "some":
        desk.run(tree, "sync", "--json")
    else:
        quiet(desk, tree)
    if what == "edited":
        desk.expect(desk.run(tree, "sync", "restore", "d/b.md", codes=(0, 6)).code == 0, "no byte lost", "`restore` has no text that reset replaced")
        holds(desk, tree, lay, "the old text, restored")


@case("before", "after")
def reset_after_a_cut(desk, phase):
    """A run was killed before, or after, the service had its commit; `reset` discards what the service has not."""
    tree, _ = both(desk)
    files = shown(desk)
    begin(desk, files)
    edited = matrix_head(files["z.md"])
    tree.put("z.md", edited)
    cut(desk, tree, ["sync"], "sync.commit", phase)
    desk.run(tree, "sync", "reset", "--all", "--yes", "--json")
    there = files if phase == "before" else {**files, "z.md": edited}
    desk.look(True)
    desk.expect(desk.lying(desk.state.by_path())["z.md"] == there["z.md"], "reset", "it published the edit of a run that was cut")
    holds(desk, tree, there, "reset after a cut")
    desk.run(tree, "sync", "--json")  # may tell what the cut run did
    serves(desk, there, "reset after a cut")
    quiet(desk, tree)


@case("few", "guard", "beside")
def deleted_restored(desk, what):
    """`restore --deleted` brings back, without the service, all that is gone here, and nothing else; the guard names it first."""
    tree, _ = both(desk)
    files = {**shown(desk), **{"n/%d.md" % number: desk.text(1) for number in range(9)}}
    begin(desk, files)
    gone = sorted(files)[:-3] if what == "guard" else ["d/a.md", "d/p.png", "n/3.md"]
    gone = [path for path in gone if path not in ("d/p.png",) or what != "guard"]
    for path in gone:
        tree.remove(path)
    want = dict(files)
    if what == "beside":
        tree.put("k.md", matrix_head(files["k.md"]))
        tree.rename("n/4.md", "n/far.md")
        want["k.md"], want["n/far.md"] = tree.files()["k.md"], want.pop("n/4.md")
    if what == "guard":
        ended = desk.run(tree, "sync", codes=(7,))
        said = ended.out + ended.err
        desk.expect(0 <= said.find("ws sync restore --deleted") < said.find("--allow-deletes"), "guard", "it names no way back first: " + said)
    lay = desk.lying(tree.files())
    without_pictures = [path for path in gone if path != "d/p.png"]
    tree.say("kill_server")
    desk.world.service.kill()
    ended = tree.ws("sync", "restore", "--deleted", "--json")
    tree.say("start_server")
    desk.world.service.start()
    here = desk.lying(tree.files())
    desk.expect(all(here.get(path) == files[path] for path in without_pictures), "restore", "without the service, %d: %s" % (
        ended.code, judge.short(path for path in without_pictures if path not in here)))
    if "d/p.png" in gone:
        desk.run(tree, "sync", "restore", "--deleted", "--json")
    holds(desk, tree, want, "restored")
    if what == "beside":
        return all_alike(desk, want, "restored")
    quiet(desk, tree)
    serves(desk, files, "restored")
    if "d/p.png" not in gone:
        desk.run(tree, "sync", "undo", "--json", "--allow-deletes")
        holds(desk, tree, lay, "restored and taken back")


@case("")
def anothers_key(desk):
    """A folder is one person's: with a key of another nothing of it is sent or done, until it is made theirs."""
    tree, _ = both(desk)
    files = shown(desk)
    begin(desk, files)
    tree.put("z.md", matrix_head(files["z.md"]))
    tree.remove("d/b.md")
    for person in ("tomas", "vera"):
        for words in ([], ["-n"], ["plan"], ["status"], ["pull"], ["push"], ["commit"], ["undo"], ["reset", "--all", "--yes"],
                      ["share", "--yes"], ["watch", "--interval", "1s"]):
            desk.world.service.forget_requests()
            before = desk.look(True)
            judge.refused_account(desk.run(tree, "sync", *words, "--json", codes=(2,), person=person), requests(desk))
            desk.expect(not desk.changed(before), "own account", "something changed")
    desk.run(tree, "sync", "account", "--set", "--json", codes=(2,), person="tomas")
    desk.run(tree, "sync", "account", "--set", "--yes", "--json", person="tomas")
    desk.expect(desk.run(tree, "sync", "account", "--json", person="tomas").report()["account_name"] == "Tomas", "own account", "not set")
    desk.world.service.forget_requests()
    judge.refused_account(desk.run(tree, "sync", "--json", codes=(2,)), requests(desk))
    desk.run(tree, "sync", "--json", person="tomas")
    files["z.md"] = tree.files()["z.md"]
    files.pop("d/b.md")
    serves(desk, files, "by its new person")


@case("")
def shared(desk):
    """A private folder, shared: it moves into a Project; no byte, path, id or revision changes, and the printed line works."""
    tree, other = both(desk)
    service = desk.world.service
    for one in (tree, other):  # away from the source of all stories
        one.ws("sync", "untie", "--yes")
    made = tree.ws("sync", "init", "--name", "own", "--yes", "--json").report()
    files = {"a.md": desk.text(links=["![p](p.png)"]), "p.png": desk.picture(), "d/b.md": desk.text()}
    for path, content in files.items():
        tree.put(path, content)
    tree.ws("sync", "--json")
    tables = lambda: service.control("GET", "/state")["tables"]

    def entries():
        rows = {row["id"]: row for row in tables()["documents"]}
        return sorted((row["path"], row["document_id"], rows[row["document_id"]]["content_revision"], rows[row["document_id"]]["content"],
                       rows[row["document_id"]]["status"]) for row in tables()["sync_entries"] if row["source_id"] == made["source_id"])

    joining = ["sync", "init", "--source", made["source_id"], "--yes", "--json"]
    desk.expect(other.ws(*joining).code != 0, "share", "another person may join before it is shared")
    before, here = entries(), tree.files()
    desk.expect(len(before) == 3, "harness", "%s" % before)
    desk.expect(tree.ws("sync", "share", "--json").code == 2 and entries() == before, "share", "not asked")
    said = tree.ws("sync", "share", "--project", "Harbour", "--yes", "--json")
    desk.expect(said.code == 0 and said.report()["join"] == "ws sync init --source " + made["source_id"], "share", said.out + said.err)
    desk.expect(entries() == before and tree.files() == here, "share", "it changed something")
    source = next(row for row in tables()["sync_sources"] if row["id"] == made["source_id"])
    root = next(row for row in tables()["nodes"] if row["id"] == source["root_node_id"])
    project = next(row for row in tables()["projects"] if row["title"] == "Harbour")
    desk.expect(root["parent_id"] == project["node_id"], "share", "the root is not in the Project")
    desk.expect(not judge.actions_of(tree.ws("sync", "--json").report()), "a further run does nothing", "after share")
    desk.expect(tree.ws("sync", "share", "--yes", "--json").report()["already"] is True and
                len(tables()["projects"]) == 2, "share", "shared twice")
    desk.expect(other.ws(*joining).code == 0 and other.ws("sync", "--json").code == 0, "share", "the printed line does not work")
    holds(desk, other, files, "joined")
    desk.expect(tree.ws("sync", "share", "--documents", "--with", "vera@example.com", "--permission", "comment", "--yes", "--json").code == 0,
                "share", "--documents failed")
    desk.expect(entries() == before and tree.files() == here, "share", "--documents changed something")
    desk.expect(sorted((row["document_id"], row["permission"]) for row in tables()["shares"]) == sorted(
        (identity, "comment") for path, identity, *_ in before if not path.startswith("_")), "share", "other documents were shared")


@case("resolve", "leave", "restore", "reset")
def path_of_other_form(desk, verb):
    """A note lies here decomposed; a command that is given the composed name means it, and makes no other."""
    tree, other = both(desk)
    composed, apart = "d/\u00fcb.md", "d/u\u0308b.md"
    files = {composed: desk.text(), "z.md": desk.text(), "y.md": desk.text()}
    begin(desk, files)
    tree.rename(composed, apart)
    desk.run(tree, "sync", "--json")
    want = dict(files)
    if verb == "resolve":
        want[composed] = matrix_head(files[composed], b"steel")
        other.put(composed, want[composed])
        desk.run(other, "sync", "--json")
    if verb != "leave":
        tree.put(apart, matrix_head(files[composed]))
    if verb == "restore":
        desk.run(tree, "sync", "--json")
    words = {"resolve": ["--keep", "remote"], "reset": ["--yes"]}.get(verb, [])
    if verb == "resolve":
        desk.run(tree, "sync", "--json", codes=(7,))
    ended = desk.run(tree, "sync", verb, composed, *words, codes=(0, 6))
    here = sorted(path for path in tree.files() if path.startswith("d/"))
    desk.expect(ended.code == 0 and here in {"leave": ([],), "reset": ([apart], [composed])}.get(verb, ([apart],)), "other form", "`%s` ended with %d; here lie %d files" % (
        verb, ended.code, len(here)))
    if verb != "leave":
        holds(desk, tree, want, verb)


@case("set later", "from the beginning")
def nested_rules(desk, when):
    """A `.wsignore` in a folder speaks of that folder: `!` and a deeper one override it; what it hides is not sent, not deleted."""
    tree, other = both(desk)
    names = ["d/a.md", "d/keep.md", "d/sub/a.md", "d/sub/deep/b.md", "a.md", "e/a.md", "keep/z.md"]
    files = {path: desk.text() for path in names}
    hidden = ["d/a.md", "d/sub/deep/b.md"]
    if when == "set later":
        old = begin(desk, files)
    tree.put("d/.wsignore", b"*.md\n!keep.md\n")
    tree.put("d/sub/.wsignore", b"!a.md\n/deep/\n")
    if when != "set later":
        for path, content in files.items():
            tree.put(path, content)
        desk.run(tree, "sync", "--json")
        there = {path: content for path, content in files.items() if path not in hidden}
        serves(desk, there, "hidden from the beginning")
        holds(desk, tree, files, "hidden from the beginning")
        desk.run(other, "sync", "--json")
        holds(desk, other, there, "hidden from the beginning")
        tree.remove("d/.wsignore")
        tree.remove("d/sub/.wsignore")
        return all_alike(desk, files, "the rules are gone")
    told(desk, desk.run(tree, "sync", "--json"), [], "a rule does nothing")
    for path in hidden:
        tree.put(path, matrix_head(files[path]))
    tree.put("d/new.md", desk.text())
    other.put("d/a.md", matrix_tail(files["d/a.md"]))
    there = {**files, "d/a.md": matrix_tail(files["d/a.md"]), "d/keep.md": matrix_head(files["d/keep.md"])}
    tree.put("d/keep.md", there["d/keep.md"])
    desk.run(other, "sync", "--json")
    told(desk, desk.run(tree, "sync", "--json"), [("push_update", "d/keep.md", "")], "under nested rules")
    serves(desk, there, "under nested rules")
    tree.remove("d/sub/deep/b.md")
    told(desk, desk.run(tree, "sync", "--json"), [], "deleted under a nested rule")
    serves(desk, there, "deleted under a nested rule")
    tree.remove("d/.wsignore")
    tree.remove("d/sub/.wsignore")
    there["d/a.md"] = matrix_head(there["d/a.md"])
    there["d/new.md"] = tree.files()["d/new.md"]
    all_alike(desk, there, "the rules are gone")
    same_ids(desk, old, why="the rules are gone")


@case("")
def refused(desk):
    """What was refused stays away over runs, edits and a lost cache; other bytes are held again, and what is accepted comes."""
    tree, other = both(desk)
    files = {"d/a.md": desk.text(links=["[r](run.sh)"]), "d/b.md": desk.text(), "d/run.sh": b"#!/bin/sh\n"}
    for path, content in files.items():
        other.put(path, content)
    desk.run(other, "sync", "--json")
    reasons = lambda: {row["path"]: row["reason"] for row in desk.run(tree, "sync", "--json").report()["skipped"]}
    desk.expect(reasons() == {"d/run.sh": "held"}, "held", "not held")
    before = desk.look(True)
    desk.run(tree, "sync", "attachments", "refuse", "d/run.sh")
    desk.expect(not desk.changed(before), "refused", "refuse changed something")
    other.put("d/a.md", matrix_head(files["d/a.md"]))
    desk.run(other, "sync", "--json")
    for lost in ("", "stat.cache", "targets.cache"):
        if lost:
            os.unlink(tree.folder / ".ws" / lost)
            tree.say("rm t0/.ws/" + lost)
        desk.expect(reasons() == {"d/run.sh": "declined"} and "d/run.sh" not in tree.files(), "refused", "not for good")
    desk.expect(desk.run(tree, "sync", "status", "--exit-code", "--json").code == 0, "status tells", "")
    serves(desk, {**files, "d/a.md": other.files()["d/a.md"]}, "refused elsewhere")
    files["d/run.sh"] += b"more\n"
    other.put("d/run.sh", files["d/run.sh"])
    desk.run(other, "sync", "--json")
    desk.expect(reasons() == {"d/run.sh": "held"} and "d/run.sh" not in tree.files(), "held", "other bytes than those refused are not held")
    desk.run(tree, "sync", "attachments", "accept", "d/run.sh")
    told(desk, desk.run(tree, "sync", "--json"), [("pull_create", "d/run.sh", "")])
    all_alike(desk, {**files, "d/a.md": other.files()["d/a.md"]}, "accepted")
