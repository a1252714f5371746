"""What happens in a story: each action takes the world, a tree and its choices, and does something or nothing."""
import os
import posixpath
import re
import signal
import unicodedata

from judge import words_there
from model import FOLDERS, STEMS, WORDS
from service import PEOPLE, key_of
from tree import NOTE, after, digest, folded, tokens, when_fired

ACTIONS = {}  # name -> (weight, function)


def action(weight):
    def keep(function):
        ACTIONS[function.__name__] = (weight, function)
        return function
    return keep


# Texts.

def new_line(world, tree, choose, dash=False):
    words = " ".join(choose.random.choices(WORDS, k=choose.between(2, 6)))
    return "%s%s %s" % ("- " if dash else "", world.model.word(tree.name, choose.number), words)


def relative(source, target):
    return posixpath.relpath(target, posixpath.dirname(source) or ".").replace(" ", "%20")


def new_note(world, tree, choose, path):
    first = world.model.word(tree.name, choose.number, first=True)
    lines = ["# %s %s" % (first, choose.of(WORDS)), ""]
    if choose.chance(0.2):
        lines = ["---", "topic: %s" % choose.of(WORDS), "---"] + lines
    others = choose.some(sorted(tree.notes()), 4 if choose.chance(0.3) else choose.between(0, 1))
    for other in others:
        lines.append("[%s](%s)" % (posixpath.basename(other)[:-3], relative(path, other)))
    if len(others) < 3:
        apart = choose.chance(0.6)
        for _ in range(choose.between(2, 7)):
            lines += [new_line(world, tree, choose, dash=not apart)] + ([""] if apart else [])
    return "\n".join(lines) + ("" if choose.chance(0.1) else "\n")


def free_path(tree, choose, ending=".md"):
    taken = {folded(path) for path in tree.files()}
    taken |= {folded(parent) for path in taken for parent in parents(path)}
    free = [path for folder in FOLDERS for stem in STEMS for path in [posixpath.join(folder, stem + ending)]
            if folded(path) not in taken and not any(folded(parent) in taken - {folded(f) for f in FOLDERS if f}
                                                     for parent in parents(path))]
    return choose.of(sorted(set(free)))


def parents(path):
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


def some_note(tree, choose, but=()):
    return choose.of(sorted(path for path in tree.notes() if path not in but))


def pictures(tree):
    return sorted(path for path in tree.files() if path.endswith(".png") and not path.startswith("secret"))


def body_lines(lines):
    """The numbers of the lines that hold a word of their own and are no heading."""
    return [number for number, line in enumerate(lines) if tokens(line) and not line.startswith("#")]


def edit(world, tree, choose, text, how):
    lines = text.split("\n")
    places = body_lines(lines)
    if how == "append" or not places:
        at = len(lines) - 1 if lines[-1] == "" else len(lines)
        lines.insert(at, new_line(world, tree, choose))
    elif how == "insert":
        lines.insert(choose.of(places), new_line(world, tree, choose, dash=choose.chance(0.5)))
    elif how == "change":
        place = choose.of(places)
        world.model.release(tokens(lines[place]))
        lines[place] = new_line(world, tree, choose, dash=lines[place].startswith("- "))
    elif how == "drop":
        place = choose.of(places)
        world.model.release(tokens(lines[place]))
        del lines[place]
    elif how == "front":
        entry = "%s: %s" % (choose.of(["topic", "state", "place"]), choose.of(WORDS))
        if lines[0] == "---":
            key = entry.split(":")[0]
            end = lines.index("---", 1)
            lines[1:end] = [line for line in lines[1:end] if not line.startswith(key + ":")] + [entry]
        else:
            lines[:0] = ["---", entry, "---"]
    return "\n".join(lines)


def edited(world, tree, choose, how, atomic):
    path = some_note(tree, choose)
    if path is None:
        return
    content = tree.files()[path]
    if atomic and tree.renamed.get(tree.inode(path)):
        world.model.unsure |= tokens(content)
    tree.put(path, edit(world, tree, choose, content.decode(), how).encode(), atomic)


# Notes, by a person at a tree.

@action(10)
def note_new(world, tree, choose):
    path = free_path(tree, choose)
    if path:
        tree.put(path, new_note(world, tree, choose, path).encode())


@action(10)
def note_append(world, tree, choose):
    edited(world, tree, choose, "append", atomic=False)


@action(10)
def note_insert(world, tree, choose):
    edited(world, tree, choose, "insert", atomic=False)


@action(10)
def note_change(world, tree, choose):
    edited(world, tree, choose, "change", atomic=False)


@action(6)
def note_drop_line(world, tree, choose):
    edited(world, tree, choose, "drop", atomic=False)


@action(4)
def note_front_matter(world, tree, choose):
    edited(world, tree, choose, "front", atomic=False)


@action(8)
def note_saved_by_rename(world, tree, choose):
    edited(world, tree, choose, choose.of(["append", "insert", "change", "drop"]), atomic=True)


@action(10)
def note_rename(world, tree, choose):
    path, target = some_note(tree, choose), free_path(tree, choose)
    if path and target:
        tree.rename(path, target)


@action(3)
def note_recase(world, tree, choose):
    path = some_note(tree, choose)
    if path:
        folder, name = posixpath.split(path)
        tree.rename(path, posixpath.join(folder, name[:-3].swapcase() + ".md"))


@action(3)
def note_other_unicode_form(world, tree, choose):
    path = choose.of([path for path in sorted(tree.notes()) if not path.isascii()])
    if path:
        folder, name = posixpath.split(path)
        form = "NFD" if unicodedata.is_normalized("NFC", name) else "NFC"
        if unicodedata.normalize(form, name) != name:
            tree.rename(path, posixpath.join(folder, unicodedata.normalize(form, name)))


@action(3)
def notes_swapped(world, tree, choose):
    both = choose.some(sorted(tree.notes()), 2)
    if len(both) == 2:
        tree.rename(both[0], "swapped.tmp")
        tree.rename(both[1], both[0])
        tree.rename("swapped.tmp", both[1])


def remove_note(world, tree, path):
    words = tokens(tree.files()[path])
    if tree.filters.hides(path) and tree.seen_filters.hides(path):  # no wish about what others have, too
        words -= words_there(world.service.state())
    world.model.release(words)
    tree.remove(path)


@action(8)
def note_delete(world, tree, choose):
    path = some_note(tree, choose)
    if path:
        remove_note(world, tree, path)


@action(2)
def notes_delete_many(world, tree, choose):
    names = sorted(tree.notes())
    for path in choose.some(names, max(2, len(names) * 2 // 3)):
        remove_note(world, tree, path)


@action(2)
def note_becomes_folder(world, tree, choose):
    path = some_note(tree, choose)
    if path:
        remove_note(world, tree, path)
        inner = path + "/inner.md"
        tree.put(inner, new_note(world, tree, choose, inner).encode())


def folders(tree):
    found = set()
    for path in tree.files():
        if "/." not in "/" + path:
            found.update(parents(path))
    return sorted(found)


@action(4)
def folder_rename(world, tree, choose):
    folder = choose.of(folders(tree))
    target = choose.of(["d1", "d2", "d3", "moved/d4", "D1"])
    if folder and not (tree.folder / target).exists() and not (target + "/").startswith(folder + "/"):
        tree.rename(folder, target)


@action(2)
def folder_delete(world, tree, choose):
    folder = choose.of(folders(tree))
    if folder:
        for path, content in tree.files().items():
            if not path.startswith(folder + "/"):
                continue
            if NOTE.search(path):
                remove_note(world, tree, path)
            else:
                remove_picture(world, tree, path)
        tree.say("rmdir -p %s" % tree.quoted(folder))
        for below, _, _ in os.walk(tree.folder / folder, topdown=False):
            os.rmdir(below)


@action(2)
def text_file_new(world, tree, choose):
    path = free_path(tree, choose, ".txt")
    if path:
        tree.put(path, (new_line(world, tree, choose) + "\n").encode())


# Pictures.

def new_picture(world, tree, choose):
    word = world.model.word(tree.name, choose.number)
    world.model.release([word])  # a picture is known by its bytes
    content = b"\x89PNG\r\n\x1a\n" + word.encode() + choose.random.randbytes(choose.between(20, 60))
    world.model.pictures[digest(content)] = tree.name
    return content


def link_to(world, tree, choose, note, target, sign="!"):
    text = tree.files()[note].decode()
    text += ("" if text.endswith("\n") else "\n") + "%s[%s](%s)\n" % (sign, posixpath.basename(target), relative(note, target))
    tree.put(note, text.encode())


@action(8)
def picture_new(world, tree, choose):
    note, path = some_note(tree, choose), free_path(tree, choose, ".png")
    if note and path:
        tree.put(path, new_picture(world, tree, choose))
        link_to(world, tree, choose, note, path)


@action(4)
def picture_change(world, tree, choose):
    path = choose.of(pictures(tree))
    if path:
        world.model.release_picture(digest(tree.files()[path]))  # a rule that hides it may go, and then the edit is sent
        tree.put(path, new_picture(world, tree, choose), atomic=choose.chance(0.5))


@action(3)
def picture_twin(world, tree, choose):
    path, note, target = choose.of(pictures(tree)), some_note(tree, choose), free_path(tree, choose, ".png")
    if path and note and target:
        tree.put(target, tree.files()[path])
        link_to(world, tree, choose, note, target)


@action(5)
def picture_rename(world, tree, choose):
    path, target = choose.of(pictures(tree)), free_path(tree, choose, ".png")
    if path and target:
        tree.rename(path, target)


@action(2)
def picture_recase(world, tree, choose):
    path = choose.of(pictures(tree))
    if path:
        folder, name = posixpath.split(path)
        tree.rename(path, posixpath.join(folder, name[:-4].swapcase() + ".png"))


def forget_picture(world, tree, path):
    content = tree.files()[path]
    if not (tree.filters.hides(path, len(content)) and tree.seen_filters.hides(path, len(content))):
        world.model.release_picture(digest(content))


def remove_picture(world, tree, path):
    forget_picture(world, tree, path)
    world.model.release(tokens(tree.files()[path]))
    tree.remove(path)


@action(4)
def picture_delete(world, tree, choose):
    path = choose.of(pictures(tree))
    if path:
        remove_picture(world, tree, path)


@action(1)
def pictures_delete_all(world, tree, choose):
    for path in pictures(tree):
        remove_picture(world, tree, path)


@action(3)
def picture_unlink(world, tree, choose):
    note = choose.of(sorted(path for path, content in tree.notes().items() if b"![" in content))
    if note:
        lines = tree.files()[note].decode().split("\n")
        tree.put(note, "\n".join(line for line in lines if not line.startswith("![")).encode())


@action(4)
def link_to_what_lies_elsewhere(world, tree, choose):
    """Names files that another person keeps to herself."""
    note = some_note(tree, choose)
    other = choose.of([other for other in world.trees if other is not tree], key=lambda other: other.name)
    if note and other:
        link_to(world, tree, choose, note, choose.of(["secret-%s.png" % other.name, "secret-%s.json" % other.name]),
                choose.of(["!", ""]))


@action(3)
def link_between_notes(world, tree, choose):
    both = choose.some(sorted(tree.notes()), 2)
    if len(both) == 2:
        link_to(world, tree, choose, both[0], both[1], "")


# Other people, by the API.

def some_document(world, choose):
    return choose.of(list(world.service.state().documents.values()), key=lambda document: document.path)


def call(world, method, path, body, person="tomas"):
    world.say("api %s %s '%s'" % (method, path, __import__("json").dumps(body).replace("'", "\\u0027")))
    return world.service.call(method, path, body, key_of(person))


@action(6)
def api_edit(world, tree, choose):
    document = some_document(world, choose)
    if document and b"<<<<<<<" not in document.content:
        text = edit(world, world, choose, document.content.decode(), choose.of(["append", "insert", "change", "drop"]))
        call(world, "PUT", "/v1/documents/" + document.id, {"content": text, "expected_content_revision": document.revision})


@action(2)
def api_archive(world, tree, choose):
    document = some_document(world, choose)
    if document:
        world.model.release(tokens(document.content))
        call(world, "DELETE", "/v1/documents/" + document.id, None)


@action(2)
def api_new(world, tree, choose):
    first = world.model.word("service", choose.number, first=True)
    content = "# %s\n\n%s\n" % (first, new_line(world, world, choose))
    call(world, "POST", "/v1/documents", {"title": choose.of(STEMS), "content": content, "project_id": world.project})


@action(3)
def api_comment(world, tree, choose):
    document = some_document(world, choose)
    if document:
        status, _ = call(world, "POST", "/v1/documents/%s/comments" % document.id, {"body": "well said"})
        if status == 201:
            world.model.threads[document.id] += 1


# The commands.

@action(40)
def sync(world, tree, choose):
    world.run(tree, "sync", "--json")


@action(8)
def plan_and_sync(world, tree, choose):
    world.plan_and_run(tree)


@action(5)
def sync_in_turn(world, tree, choose):
    for other in world.trees:
        world.run(other, "sync", "--json")


@action(5)
def pull(world, tree, choose):
    world.run(tree, "sync", "pull", "--json")


@action(3)
def push(world, tree, choose):
    world.run(tree, "sync", "push", "--json")


@action(3)
def commit(world, tree, choose):
    world.run(tree, "sync", "commit", "--json")


@action(5)
def push_and_commit(world, tree, choose):
    if world.run(tree, "sync", "push", "--json").code == 0:
        world.run(tree, "sync", "commit", "--json")


@action(2)
def sync_without_merge(world, tree, choose):
    world.run(tree, "sync", "--no-merge", "--json")


@action(2)
def sync_only(world, tree, choose):
    world.run(tree, "sync", "--only", choose.of(["d1/*", "*a*", "*.md"]), "--json")


@action(2)
def sync_accept_deletes(world, tree, choose):
    world.run(tree, "sync", "--accept-deletes", "--json", deed=True)


@action(3)
def sync_on_conflict(world, tree, choose):
    world.run(tree, "sync", "--on-conflict", choose.of(["local", "remote", "both"]), "--json", deed=True)


@action(4)
def sync_allow_deletes(world, tree, choose):
    world.run(tree, "sync", "--allow-deletes", "--json")


@action(8)
def move(world, tree, choose):
    path, target = some_note(tree, choose), free_path(tree, choose)
    if path and target:
        world.run(tree, "sync", "mv", path, target)


@action(3)
def move_folder(world, tree, choose):
    folder = choose.of(folders(tree))
    target = choose.of(["d5", "d6/d7"])
    if folder and not (tree.folder / target).exists():
        world.run(tree, "sync", "mv", folder, target)


@action(3)
def move_picture(world, tree, choose):
    path, target = choose.of(pictures(tree)), free_path(tree, choose, ".png")
    if path and target:
        world.run(tree, "sync", "mv", path, target)


@action(3)
def links_fix(world, tree, choose):
    world.run(tree, "links", "fix", "--yes")


@action(1)
def links_check(world, tree, choose):
    world.run(tree, "links", "check", "--json")


@action(4)
def restore(world, tree, choose):
    listed = tree.ws("sync", "log", "--json").report() or {}
    names = sorted({path for path in world.ever[tree.number] if NOTE.search(path)})
    path = choose.of(names)
    if listed and path:
        world.run(tree, "sync", "restore", path, deed=True)


@action(6)
def undo(world, tree, choose):
    world.undo(tree)


@action(2)
def undo_often(world, tree, choose):
    for _ in range(choose.between(2, 5)):
        if world.undo(tree).code not in (0, 13):
            break


@action(2)
def redo(world, tree, choose):
    world.undo(tree, "redo")


@action(3)
def sync_and_undo(world, tree, choose):
    world.sync_and_undo(tree)


@action(8)
def resolve(world, tree, choose):
    world.resolve(tree, choose.of(["local", "remote", "both", "merged"]), choose.of(["local", "remote"]))


@action(2)
def watch(world, tree, choose):
    world.stopped(tree, ["sync", "watch", "--interval", "1s"], choose.of([signal.SIGTERM, signal.SIGINT]),
                  after(choose.between(300, 1500) / 1000), watching=True)


# Filters.

RULES = ["d1/", "d2/", "*a*.md", "/note.md", "*.png", "/d1/a.md"]


@action(5)
def ignore(world, tree, choose):
    tree.set_filters([*tree.filters.ignored, choose.of(RULES)], tree.filters.settings)


@action(4)
def unignore(world, tree, choose):
    if tree.filters.ignored:
        tree.set_filters(tree.filters.ignored[1:], tree.filters.settings)


@action(5)
def setting(world, tree, choose):
    key, value = choose.of([("attachments", "off"), ("attachments", "linked"), ("attachments", "all"),
                            ("attachments_exclude", ["*a*.png"]), ("attachments_max_bytes", 60), ("include", ["*.txt"]),
                            ("links", "keep"), ("links", "off"), ("links", "keep")])
    tree.set_filters(tree.filters.ignored, {**tree.filters.settings, key: value})
    if key == "include":
        world.included = True


@action(4)
def no_setting(world, tree, choose):
    if tree.filters.settings:
        left = dict(tree.filters.settings)
        left.pop(choose.of(sorted(left)))
        tree.set_filters(tree.filters.ignored, left)


@action(3)
def ignore_nested(world, tree, choose):
    folder = choose.of(folders(tree))
    if folder:
        tree.put(folder + "/.wsignore", choose.of([b"*a*.md\n", b"*.png\n", b"sub/\n", b"*\n"]))


@action(2)
def unignore_nested(world, tree, choose):
    folder = choose.of(sorted(tree.filters.nested))
    if folder:
        tree.remove(folder + "/.wsignore")


# Left out, taken again; the way back; whose folder it is.

def some_path(tree, choose):
    return choose.of([path for path in [*tree.notes(), *pictures(tree), *folders(tree)]])


@action(5)
def leave(world, tree, choose):
    path = some_path(tree, choose)
    if path:
        world.leave(tree, path)


@action(4)
def take(world, tree, choose):
    left = tree.filters.left
    by_hand = choose.chance(0.3) and not any((tree.folder / place).exists() for place in left.values())
    if left and by_hand:
        tree.set_filters(tree.filters.ignored, tree.filters.settings, left={})
    elif left:
        world.take(tree, *choose.of([["--all"], [choose.of(sorted(left))]]))


@action(3)
def reset(world, tree, choose):
    path = some_path(tree, choose)
    if path:
        world.reset(tree, choose.of([["--all"], [path]]), back=choose.chance(0.5))


@action(3)
def delete_and_restore(world, tree, choose):
    if world.run(tree, "sync", "--json").code == 0 and PEOPLE[tree.person] != "viewer":
        state, filters = world.service.state(), tree.filters
        paths = [path for path, content in sorted(tree.files().items()) if (path in state.by_path() or path in state.files)
                 and not filters.hides(path, len(content)) and "secret" not in path]
        world.delete_and_restore(tree, choose.some(paths, choose.between(1, 6)))


@action(4)
def decide_files(world, tree, choose):
    world.decide_files(tree, choose)


@action(2)
def with_anothers_key(world, tree, choose):
    words = choose.of([["sync"], ["sync", "pull"], ["sync", "push"], ["sync", "commit"], ["sync", "plan"], ["sync", "status"],
                       ["sync", "reset", "--all", "--yes"], ["sync", "share", "--yes"]])
    world.with_anothers_key(tree, words, choose.of([person for person in PEOPLE if person != tree.person]))


@action(1)
def share(world, tree, choose):
    world.changes_nothing(tree, "sync", "share", *choose.of([[], ["--documents", "--with", "vera@example.com"]]), "--yes", "--json", faulty=True)


# What goes wrong.

OPERATIONS = ["sync.pull", "sync.push", "sync.commit", "sync.plan", "upload.put", "files.upload_start", "files.upload_finish",
              "files.content", "sync.source_get"]


@action(6)
def faulty_sync(world, tree, choose):
    effect = choose.of([{"status": 503, "retry_after": 0}, {"status": 500}, {"close_without_answer": True}, {"reset": True},
                        {"truncate_at": 40}, {"bad_json": True}], key=str)
    rule = {"operation": choose.of(OPERATIONS), "nth": choose.between(1, 3), "times": choose.between(1, 4),
            "phase": choose.of(["before", "after"]), "effect": effect}
    world.fault(rule)
    world.run(tree, "sync", "--no-retry", "--json", faulty=True)
    world.no_faults()


@action(2)
def hanging_sync(world, tree, choose):
    world.fault({"operation": choose.of(OPERATIONS), "nth": choose.between(1, 2), "phase": choose.of(["before", "after"]),
                 "effect": {"hang": True}})
    world.run(tree, "sync", "--timeout", "1", "--no-retry", "--json", faulty=True)
    world.no_faults()


def cut_command(tree, choose):
    path = some_path(tree, choose)
    return choose.of([["sync"], ["sync", "--allow-deletes"], ["sync", "pull"], ["sync", "undo"], ["sync", "take", "--all"], ["sync", "reset", "--all", "--yes"],
                      *([["sync", "leave", path], ["sync", "restore", "--deleted"]] if path else [])])


@action(6)
def killed_at_a_request(world, tree, choose):
    world.fault({"operation": choose.of(OPERATIONS), "nth": choose.between(1, 2), "phase": choose.of(["before", "after"]),
                 "effect": {"hang": True}})
    world.stopped(tree, cut_command(tree, choose),
                  choose.of([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]), when_fired(world.service))
    world.no_faults()


@action(6)
def killed_at_a_moment(world, tree, choose):
    world.stopped(tree, cut_command(tree, choose),
                  choose.of([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]), after(choose.between(1, 60) / 1000))


@action(2)
def server_restarted(world, tree, choose):
    world.restart()


@action(3)
def server_killed_meanwhile(world, tree, choose):
    world.run_without_server(tree, choose.between(1, 50) / 1000)


@action(3)
def sync_with_a_viewers_key(world, tree, choose):
    world.run(tree, "sync", "--json", as_viewer=True)


@action(1)
def two_at_once(world, tree, choose):
    world.two_at_once(tree)
