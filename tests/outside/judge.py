"""The laws. They see bytes on disk, what commands printed and ended with, and the state of the service; nothing else."""
import difflib
import json
import unicodedata
from dataclasses import dataclass

from model import Broken
from tree import NOTE, Filters, digest, folded, tokens

DOCUMENTED = set(range(0, 16)) | {130, 141, 143}
NEVER = {1}  # "unexpected failure": only an answer that cannot be used may end so
QUIET = {0, 7, 13}
GO_BACK = {"sync undo", "sync redo", "sync restore", "sync reset", "sync resolve", "sync mv", "links fix"}


def expect(holds, law, what):
    if not holds:
        raise Broken(law, what)


@dataclass
class Sight:
    """All that can be seen at one moment."""
    files: list   # of each tree: path -> bytes
    state: object

    def here(self, tree):
        return self.files[tree.number]


def words_of(files):
    found = set()
    for path, content in files.items():
        if not path.endswith(".png"):
            found |= tokens(content)
    return found


def words_there(state):
    found = set()
    for document in state.documents.values():
        found |= tokens(document.content)
    return found


def in_conflicts(state):
    found = set()
    for text in state.texts:
        found |= tokens(text)
    return found


def visible(sight):
    found = words_there(sight.state)
    for files in sight.files:
        found |= words_of(files)
    return found


def pictures_seen(sight):
    found = set(sight.state.files.values())
    for files in sight.files:
        found |= {digest(content) for path, content in files.items() if path.endswith(".png")}
    return found


def normal(path):
    return unicodedata.normalize("NFC", path)


def short(things, many=4):
    things = sorted(map(str, things))
    return ", ".join(things[:many]) + (", ..." if len(things) > many else "")


def code(ended, faulty):
    what = " ".join(ended.words)
    if ended.late:
        raise Broken("ends", "`ws %s` did not end" % what)
    if ended.code not in DOCUMENTED and not ended.stopped:
        raise Broken("exit codes", "`ws %s` ended with %d: %s" % (what, ended.code, ended.err[-300:]))
    if ended.code in NEVER and ended.words[:2] != ("links", "check") and not ended.stopped and not faulty:
        raise Broken("exit codes", "`ws %s` ended with %d: %s" % (what, ended.code, ended.err[-300:]))
    if not faulty and not ended.stopped and ended.words[0] == "sync" and ended.code not in QUIET | {2, 6}:
        raise Broken("exit codes", "`ws %s` ended with %d where nothing failed: %s" % (what, ended.code, ended.err[-300:]))
    if "--json" not in ended.words or ended.stopped:
        return
    if ended.out.strip():
        if ended.report() is None:
            raise Broken("json", "`ws %s` (%d) printed: %s" % (what, ended.code, ended.out[:200]))
    elif ended.code != 0:
        lines = ended.err.strip().splitlines()
        try:
            error = json.loads(lines[-1])["error"]
        except (ValueError, LookupError, TypeError):
            raise Broken("json", "`ws %s` ended with %d and no line of JSON: %s" % (what, ended.code, ended.err[-300:])) from None
        if error.get("exit") != ended.code:
            raise Broken("json", "`ws %s` ended with %d, its error says %s" % (what, ended.code, error.get("exit")))


def nothing_lost(tree, before, after):
    """What a command took from a side is on the other side, in a conflict, or in the local history."""
    kept = words_of(after.here(tree)) | words_there(after.state) | in_conflicts(after.state)
    lost = (words_of(before.here(tree)) | words_there(before.state)) - kept
    here = {digest(content): path for path, content in before.here(tree).items()}
    still = {digest(content) for content in after.here(tree).values()}
    gone = {sha: path for sha, path in here.items() if sha not in still and sha not in after.state.assets
            and path.endswith(".png")}
    if not lost and not gone:
        return
    history = tree.history()
    for content in history:
        lost -= tokens(content)
        gone.pop(digest(content), None)
    if lost:
        raise Broken("no byte lost", "gone from both sides and not in the history of %s: %s" % (tree.name, short(lost)))
    if gone:
        raise Broken("no byte lost", "bytes of %s are neither on the service nor in the history" % short(gone.values()))


def nobody_took(model, sight):
    """What was written and never taken away is to be seen somewhere."""
    lost = set(model.alive) - visible(sight) - in_conflicts(sight.state)
    if lost:
        raise Broken("no line lost", "written, never taken away, and on no side: "
                     + short("%s (%s)" % (word, model.alive[word]) for word in lost))


def no_picture_lost(model, sight):
    lost = set(model.pictures) - pictures_seen(sight)
    if lost:
        raise Broken("no picture lost", "added, never taken away, and on no side: "
                     + short("%s (%s)" % (sha[:12], model.pictures[sha]) for sha in lost))


def is_nobodys(path):
    return path.startswith((".obsidian", "secret-", "plain-")) or path.rsplit("/", 1)[-1] == ".wsignore"


def others_untouched(world, tree, before, after):
    for other in world.trees:
        if other is not tree and before.here(other) != after.here(other):
            raise Broken("nothing else", "a command in %s changed %s" % (tree.name, other.name))
    for path, content in before.here(tree).items():
        is_own = not path.startswith(("secret-", "plain-")) or not tree.sent_all and (  # not sent, nor come from another
            path.startswith("plain-") or path in world.model.secrets[tree.number].values())
        if is_own and is_nobodys(path) and after.here(tree).get(path) != content:
            raise Broken("nothing else", "%s of %s is changed" % (path, tree.name))
    for place, content in world.outside.items():
        if not place.exists() or place.read_bytes() != content:
            raise Broken("nothing else", "%s, outside of the trees, is changed" % place.name)


def no_secret_left(world, sight):
    for tree in world.trees:
        if tree.sent_all:
            continue
        for sha, path in world.model.secrets[tree.number].items():
            if sha in sight.state.assets:
                raise Broken("own wish", "%s of %s was sent; nobody linked it there" % (path, tree.name))


def guard_changed_nothing(tree, before, after, ended):
    if not ended.is_guard():
        return
    if before.here(tree) != after.here(tree):
        raise Broken("7 changed nothing", "the guard stopped `ws %s`, and files of %s are changed: %s"
                     % (" ".join(ended.words), tree.name, "; ".join(
                         "%s: %s" % (path, change(before.here(tree).get(path), after.here(tree).get(path)))
                         for path in sorted(differing(before.here(tree), after.here(tree))))))
    if before.state.by_path() != after.state.by_path() or before.state.files != after.state.files:
        raise Broken("7 changed nothing", "the guard stopped `ws %s`, and the service is changed" % " ".join(ended.words))


def conflicts_left_alone(tree, before, after, ended):
    report = ended.report()
    if ended.code != 7 or not report or ended.is_guard() or "resolve" in ended.words:
        return
    for conflict in report.get("conflicts", []):
        path = conflict["path"]
        undone = ended.words[1:2] in (("undo",), ("redo",))  # what is taken back here collides with what came since
        if not undone and path in before.here(tree) and before.here(tree)[path] != after.here(tree).get(path):
            raise Broken("a conflict waits", "%s is in conflict, and its file is changed: %s"
                         % (path, change(before.here(tree)[path], after.here(tree).get(path))))
        document = before.state.documents.get(conflict.get("document_id"))
        if document and NOTE.search(path):
            now = after.state.documents.get(document.id)
            # Of two documents for one name only the names wait: the copy beside is a note that is edited like any other.
            beside = [text for other, text in after.here(tree).items() if other != path] if conflict["kind"] == "path" else []
            if now is None or now.path != document.path or now.content not in [document.content, *beside]:
                raise Broken("a conflict waits", "%s is in conflict, and its document is changed: %s: %s" % (
                    path, "%s -> %s" % (document.path, now and now.path), change(document.content, now and now.content)))


def change(old, new):
    """The lines that are new or gone."""
    old, new = (content.decode(errors="replace").splitlines() if content is not None else ["(no file)"] for content in (old, new))
    return "; ".join(line for line in difflib.ndiff(old, new) if line[0] in "+-") or "nothing"


def differing(one, other):
    return {path for path in set(one) | set(other) if one.get(path) != other.get(path)}


def left_out(report):
    """The paths that a report names as not synced."""
    named = set()
    for part in ("skipped", "detached"):
        for row in report.get(part, []):
            named.add(folded(row if isinstance(row, str) else row.get("path") or ""))
    return named


def same_sides(tree, sight, report, why):
    """What the tree holds is what the service holds, but for what is named as left out."""
    out, filters = left_out(report), tree.filters
    out |= {folded(document.path) for document in sight.state.documents.values() if document.id in filters.left}
    out |= {folded(path) for path, _ in tree.refused}
    here = {folded(path): content for path, content in sight.here(tree).items()}
    there = {folded(path): content for path, content in sight.state.by_path().items()}
    hidden = lambda path, size: path in out or filters.hides(path, size) or filters.ignores(names.get(path, path))
    tucked = words_of({path: content for path, content in sight.here(tree).items() if filters.ignores(path)})  # renamed there
    names = {folded(path): path for path in [*sight.here(tree), *sight.state.by_path()]}
    for path, content in there.items():
        if hidden(path, len(content)) or any(folder in out for folder in above(path)) or tokens(content) & tucked:
            continue
        if here.get(path) != content:
            raise Broken(why, "%s %s on %s" % (names[path], "is missing" if path not in here else "has other bytes", tree.name))
    for path, content in here.items():
        if not NOTE.search(path) or "/." in "/" + path or path in there or hidden(path, len(content)):
            continue
        raise Broken(why, "%s of %s is not on the service" % (names[path], tree.name))
    for path, sha in sight.state.files.items():
        content = here.get(folded(path))
        if hidden(folded(path), len(content or b"")) or any(folder in out for folder in above(folded(path))):
            continue
        if content is None and tree.filters.settings.get("attachments_max_bytes"):
            continue
        if content is None or digest(content) != sha:
            raise Broken(why, "file %s %s on %s" % (path, "is missing" if content is None else "has other bytes", tree.name))


def hides_there(tree, document):
    """Whether a rule, or `leave`, keeps the document out of the tree."""
    filters = tree.filters
    return document.id in filters.left or filters.ignores(document.path)


def hidden_kept(tree, before, after):
    """What a rule hides here, or what was left out, is neither changed nor deleted on the service, nor sent, nor received."""
    filters, there = tree.filters, words_there(before.state)
    seen = words_of({path: content for path, content in before.here(tree).items() if not filters.hides(path)})
    for document in before.state.documents.values():
        if not hides_there(tree, document) or tokens(document.content) & (tree.crossed | seen):
            continue
        now = after.state.documents.get(document.id)
        expect(now and (now.path, now.content) == (document.path, document.content), "a rule takes nothing",
               "%s, which a rule hides in %s, is changed on the service" % (document.path, tree.name))
        if document.id in filters.left and document.path not in before.here(tree) and document.path in after.here(tree):
            raise Broken("left out", "%s came back to %s" % (document.path, tree.name))
    for path, content in before.here(tree).items():
        sent = (tokens(content) - there - seen - tree.crossed) & words_there(after.state) if filters.ignores(path) else ()
        expect(not sent, "a rule sends nothing", "%s, which a rule hides in %s, was sent" % (path, tree.name))


def refused_stay_out(tree, before, after):
    for path, sha in tree.refused:
        content = after.here(tree).get(path)
        expect(content is None or digest(content) != sha or path in before.here(tree), "refused", "%s came to %s" % (path, tree.name))


def left(tree, before, after, ended, path, filters):
    """`leave` takes away what lies at the path and is in step, nothing else, and nothing on the service; or does nothing."""
    expect(before.state.documents == after.state.documents and before.state.files == after.state.files, "left out",
           "`leave %s` changed the service" % path)
    old, new = before.here(tree), after.here(tree)
    if ended.code:
        expect(old == new, "left out", "`leave %s` ended with %d and changed files" % (path, ended.code))
        return
    there, past = before.state.by_path(), set(before.state.past)
    for one, content in old.items():
        within = one == path or one.startswith(path + "/")
        if not within or not (content.decode(errors="replace") in past or digest(content) in before.state.assets):
            expect(new.get(one) == content, "left out", "`leave %s` took %s, which is not of it, or not in step" % (path, one))
        elif (there.get(normal(one)) == content or before.state.files.get(normal(one)) == digest(content)) and not (
                tree.seen_filters.hides(one, len(content)) or filters.hides(one, len(content))):
            expect(one not in new or is_nobodys(one), "left out", "`leave %s` left %s here" % (path, one))
        expect(one in new or tree.filters.leaves(one), "left out", "`leave %s` took %s, and no rule keeps it away" % (path, one))
    expect(not new.keys() - old.keys(), "left out", "`leave %s` made %s" % (path, short(new.keys() - old.keys())))


def taken(tree, before, after, ended, names):
    """`take` brings what was left out under these names, as the service has it, and changes nothing there."""
    expect(before.state.documents == after.state.documents and before.state.files == after.state.files, "taken",
           "`take` changed the service")
    here, report = {normal(path): content for path, content in after.here(tree).items()}, ended.report() or {}
    if ended.code:
        return
    for document in after.state.documents.values():
        if (document.id in names or Filters(left=names).leaves(document.path) and document.path not in names.values()) and not (
                hides_there(tree, document) or folded(document.path) in left_out(report)):
            expect(here.get(document.path) == document.content, "taken", "%s is not as it is there" % document.path)
    for path, sha in after.state.files.items():
        if Filters(left=names).leaves(path) and not tree.filters.hides(path) and not tree.filters.settings and folded(path) not in left_out(report):
            expect(digest(here.get(path, b"")) == sha, "taken", "%s is not as it is there" % path)


def was_reset(model, tree, before, after, ended, words, ever):
    """`reset` gives what the service has of what was here `ever`, sends nothing, and keeps what was never sent."""
    expect(before.state.documents == after.state.documents and before.state.files == after.state.files, "reset", "it changed the service")
    old, new = before.here(tree), after.here(tree)
    if ended.code:
        expect(old == new or ended.code == 13, "reset", "it ended with %d and changed files" % ended.code)
        return
    for path, content in old.items():
        first = {word for word in tokens(content) if word.startswith("b")}
        if NOTE.search(path) and first and first <= model.alive.keys() - model.ids.keys():
            expect(new.get(path) == content, "reset", "%s was never sent, and is changed or gone" % path)
    kept = {folded(row["path"]) for row in ended.report()["left"]}
    if "--all" in words and not tree.filters and not tree.seen_filters:
        here = {normal(path): content for path, content in new.items()}
        for document in after.state.documents.values():
            expect(here.get(document.path) == document.content or folded(document.path) in kept or not tokens(document.content) & ever, "reset",
                   "%s is not as it is there: %s" % (document.path, change(document.content, here.get(document.path))))


def refused_account(ended, requests):
    """Exit 2, and the service was asked for nothing but who the key is."""
    expect(ended.code == 2, "own account", "with a key of another person it ended with %d" % ended.code)
    asked = {entry["operation"] for entry in requests} - {"me.get"}
    expect(not asked, "own account", "with a key of another person it sent %s" % short(asked))


def above(path):
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


def honest(tree, sight, ended):
    report = ended.report()
    if ended.code == 0 and report is not None and "only" not in " ".join(ended.words) and "-n" not in ended.words:
        same_sides(tree, sight, report, "0 only when the same")


def ids_stay(model, state, crossed=()):
    """A note that nobody deleted keeps its document, and the document its comments."""
    for document in state.documents.values():
        for word in tokens(document.content):
            if word.startswith("b") and word in model.alive:
                model.ids.setdefault(word, document.id)
    for word, identity in model.ids.items():
        if word in model.alive and word not in model.unsure and identity not in state.documents:
            raise Broken("ids stay", "document %s of the note %s is archived%s" % (
                identity, word, "; its file was written by ws" if word in model.written_by_ws else
                "; its file was moved where a rule hides it, or from there" if word in crossed else ""))
    for identity, many in model.threads.items():
        if state.threads.get(identity, 0) < many:
            raise Broken("ids stay", "comments of %s are gone" % identity)


def taken_back_or_listed(tree, after, ended, appeared):
    """What came up in a run is gone after its undo, unless the answer names something that was left."""
    report = ended.report()
    still = {path for path, sha in after.state.files.items() if sha in appeared}
    if ended.code == 0 and still and not report.get("left"):
        raise Broken("undo takes back", "%s of run %s stays, is not named as left, and the run counts as taken back%s" % (
            short(still), report.get("undoes"), "; a setting hides files in %s" % tree.name if tree.filters else ""))


def only_ours(tree, sight):
    """After the quiet end a tree holds no file that nobody knows."""
    known = {folded(path) for path in [*sight.state.by_path(), *sight.state.files]}
    for path in sight.here(tree):
        if folded(path) not in known | tree.named and not path.endswith((".png", ".txt")) and not is_nobodys(path):
            raise Broken("no files left behind", "%s of %s" % (path, tree.name))
    left = [file.name for file in (tree.folder / ".ws/tmp").glob("**/*") if file.is_file()]
    if left:
        raise Broken("no files left behind", ".ws/tmp of %s holds %s" % (tree.name, short(left)))


def actions_of(report):
    return sorted((row["action"], row["path"], row.get("previous_path") or "") for row in report.get("actions", [])
                  if row["action"] != "unchanged")


def plan_was_act(planned, ran):
    if actions_of(planned) != actions_of(ran):
        one, other = set(actions_of(planned)), set(actions_of(ran))
        raise Broken("plan = act", "only planned: %s; only done: %s" % (short(one - other), short(other - one)))
