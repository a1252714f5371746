"""A folder that is synced, as a person and the commands of `ws` see it. Each step is also kept as a line of shell."""
import fnmatch
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import time
import unicodedata
from dataclasses import dataclass

from service import key_of

NOTE = re.compile(r"\.(md|markdown)$", re.I)
TOKEN = re.compile(r"\b[bw]\d+x\d+\b")
LEFT_OUT = re.compile(r'  - ("(?:[^"\\]|\\.)*")(?:  # (.*))?$')
TIMEOUT = 60


def tokens(content):
    """The words of a text that no other text was given."""
    text = content if isinstance(content, str) else content.decode(errors="replace")
    return set(TOKEN.findall(text))


def digest(content):
    return hashlib.sha256(content).hexdigest()


def folded(path):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


@dataclass
class Ended:
    """What a command left behind."""
    words: tuple
    code: int          # as a shell has it: 128 + signal where one ended it
    out: str
    err: str
    stopped: bool = False  # by us
    late: bool = False     # it did not end by itself

    def report(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    def is_guard(self):
        if self.code != 7:
            return False
        report = self.report()
        return "to confirm: " in self.err or (isinstance(report, dict) and "guard" in report)


class Filters:
    """The rules of one tree that leave something out; `hides` says of what path."""

    def __init__(self, ignored=(), settings=None, nested=None, left=None):
        self.ignored = tuple(ignored)
        self.settings = dict(settings or {})
        self.nested = dict(nested or {})  # folder -> the rules of its .wsignore
        self.left = dict(left or {})      # what `leave` wrote down: an id or a path -> where it lay

    def leaves(self, path):
        return any(folded(path) == folded(place) or folded(path).startswith(folded(place) + "/") for place in self.left.values())

    def ignores(self, path):
        if self.leaves(path) or any(path.startswith(folder + "/") and Filters(rules).ignores(path[len(folder) + 1:])
                                    for folder, rules in self.nested.items()):
            return True
        name = path.rsplit("/", 1)[-1]
        for rule in self.ignored:
            if rule.endswith("/"):
                if ("/" + path).find("/" + rule) >= 0:
                    return True
            elif rule.startswith("/"):
                if path == rule[1:]:
                    return True
            elif fnmatch.fnmatchcase(name, rule):
                return True
        return False

    def hides(self, path, size=0):
        if self.ignores(path):
            return True
        if NOTE.search(path):
            return False
        if path.endswith(".txt"):
            return "include" not in self.settings
        if self.settings.get("attachments") == "off":
            return True
        excluded = self.settings.get("attachments_exclude")
        if excluded and any(fnmatch.fnmatchcase(path, rule) or fnmatch.fnmatchcase(path.rsplit("/", 1)[-1], rule)
                            for rule in excluded):
            return True
        bound = self.settings.get("attachments_max_bytes")
        return bound is not None and size > bound

    def __bool__(self):
        return bool(self.ignored or self.nested or self.left) or any(key != "links" for key in self.settings)


class Tree:
    def __init__(self, number, person, scratch, service, programs, script):
        self.number, self.person, self.service, self.programs, self.script = number, person, service, programs, script
        self.name = "t%d" % number
        self.folder = scratch / self.name
        self.machine = scratch / ("machine%d" % number)
        self.folder.mkdir()
        self.machine.mkdir()
        self.rules = (), {}            # of the .wsignore at the top, and of .ws/config.yaml, as they are set now
        self.seen_filters = Filters()  # as the last run that went through saw them
        self.sent_all = False          # `attachments: all` was set here once
        self.touched = False           # a person changed something here since the beginning
        self.unfinished = False        # a run was stopped or failed, or something is staged: what it began may still be done
        self.named = set()             # what its last run told as not synced
        self.refused = set()           # (path, SHA-256) that `attachments refuse` named
        self.crossed = set()           # words of notes that were moved to or from where a rule hides them
        self.renamed = {}              # inode -> True: renamed by hand since the last run that went through
        self.commands = 0

    # What lies there.

    @property
    def filters(self):
        """As they are set now."""
        nested, left = {}, {}
        for folder, _, names in os.walk(self.folder):
            if ".wsignore" in names and folder != str(self.folder):
                with open(os.path.join(folder, ".wsignore")) as file:
                    nested[os.path.relpath(folder, self.folder)] = file.read().split()
        config = self.folder / ".ws/config.yaml"
        for line in config.read_text().splitlines() if config.exists() else ():
            found = LEFT_OUT.match(line)
            if found:
                name = json.loads(found[1])
                left[name] = found[2] or name
        return Filters(*self.rules, nested, left)

    def environment(self, as_viewer=False, person=None):
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TMPDIR") if name in os.environ}
        home = str(self.machine)
        return {**kept, "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_DATA_HOME": home + "/data",
                "XDG_STATE_HOME": home + "/state", "XDG_CACHE_HOME": home + "/cache", "WS_BASE_URL": self.service.url,
                "WS_TOKEN": key_of(person or self.person, as_viewer), "WS_NO_INPUT": "1", "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def files(self):
        """path -> bytes of all but `.ws/`."""
        found = {}
        top = str(self.folder)
        for folder, below, names in os.walk(top):
            if folder == top and ".ws" in below:
                below.remove(".ws")
            for name in names:
                path = os.path.join(folder, name)
                try:
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, top)] = file.read()
                except FileNotFoundError:
                    pass
        return found

    def notes(self):
        return {path: content for path, content in self.files().items() if NOTE.search(path) and "/." not in "/" + path}

    def inode(self, path):
        return os.lstat(self.folder / path).st_ino

    def history(self):
        """All the bytes in the local history: what a ref reaches, and the files that are not on the service."""
        git = ["git", "--git-dir", str(self.folder / ".ws/history.git")]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "check": False}
        listed = subprocess.run([*git, "rev-list", "--objects", "--all"], **quiet).stdout
        ids = b"".join(line.split(b" ")[0] + b"\n" for line in listed.splitlines())
        answer = subprocess.run([*git, "cat-file", "--batch"], input=ids, **quiet).stdout
        contents, place = [kept.read_bytes() for kept in (self.folder / ".ws/attachments").glob("*") if kept.is_file()], 0
        while place < len(answer):
            end = answer.index(b"\n", place)
            head = answer[place:end].split()
            if len(head) != 3:
                place = end + 1
                continue
            size = int(head[2])
            if head[1] == b"blob":
                contents.append(answer[end + 1:end + 1 + size])
            place = end + 1 + size + 1
        return contents

    # What a person does with files.

    def say(self, line):
        self.script.append(line)

    def quoted(self, path):
        return shlex.quote("%s/%s" % (self.name, path))

    def put(self, path, content, atomic=False):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        target = self.quoted(path)
        if "/" in path:
            self.say("mkdir -p %s" % self.quoted(path.rsplit("/", 1)[0]))
        escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b"\\%'" else "\\n" if byte == 10 else "\\%03o" % byte
                          for byte in content)
        if atomic:
            beside = place.with_name("." + place.name + ".swp~")
            beside.write_bytes(content)
            os.replace(beside, place)
            self.say("printf -- '%s' >%s.new; mv %s.new %s" % (escaped, target, target, target))
        else:
            place.write_bytes(content)
            self.say("printf -- '%s' >%s" % (escaped, target))
        self.touched = True

    def rename(self, source, target):
        (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
        for folder, _, names in os.walk(self.folder / source):
            self.renamed.update((os.lstat(os.path.join(folder, name)).st_ino, True) for name in names)
        if not (self.folder / source).is_dir():
            self.renamed[self.inode(source)] = True
        for path, content in self.files().items():
            if path == source or path.startswith(source + "/"):
                if self.filters.ignores(path) or self.filters.ignores(target + path[len(source):]):
                    self.crossed |= tokens(content)
        os.rename(self.folder / source, self.folder / target)
        if "/" in target:
            self.say("mkdir -p %s" % self.quoted(target.rsplit("/", 1)[0]))
        self.say("mv -T %s %s" % (self.quoted(source), self.quoted(target)))
        self.touched = True

    def remove(self, path):
        os.unlink(self.folder / path)
        self.say("rm %s" % self.quoted(path))
        self.touched = True

    def make_folder(self, path):
        (self.folder / path).mkdir()
        self.say("mkdir %s" % self.quoted(path))

    def set_filters(self, ignored, settings, left=None):
        """Writes `.wsignore` and `.ws/config.yaml` anew; `left`: instead of what is left out now."""
        left = self.filters.left if left is None else left
        self.rules = tuple(ignored), dict(settings)
        self.sent_all = self.sent_all or settings.get("attachments") == "all"
        ignore, config = self.folder / ".wsignore", self.folder / ".ws/config.yaml"
        self.write_or_remove(ignore, ".wsignore", "".join(rule + "\n" for rule in ignored))
        lines = "".join("%s: %s\n" % (key, json.dumps(value) if isinstance(value, list) else value)
                        for key, value in {"attachments": "linked", **settings}.items())  # as `ws sync init` writes it
        if left:
            lines += "leave_out:\n" + "".join("  - %s  # %s\n" % (json.dumps(name), place) for name, place in left.items())
        self.write_or_remove(config, ".ws/config.yaml", lines)

    def write_or_remove(self, place, path, text):
        if text:
            place.write_text(text)
            self.say("printf -- %s >%s" % (shlex.quote(text.replace("\n", "\\n")), self.quoted(path)))
        elif place.is_file():
            place.unlink()
            self.say("rm %s" % self.quoted(path))

    # What a person asks of `ws`.

    def start(self, words, as_viewer=False, person=None):
        self.commands += 1
        return subprocess.Popen([str(self.programs / "ws"), *words], cwd=self.folder, env=self.environment(as_viewer, person),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self, words, as_viewer=False, person=None):
        return "%s%s %s" % ("WS_TOKEN=%s " % key_of(person) if person else "", self.name + ("_looks" if as_viewer else ""), " ".join(map(shlex.quote, words)))

    def ended(self, words, process, timeout=TIMEOUT, stopped=False):
        late = False
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            late = True
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Ended(tuple(words), code, out.decode(errors="replace"), err.decode(errors="replace"), stopped, late)

    def ws(self, *words, as_viewer=False, person=None):
        process = self.start(words, as_viewer, person)
        ended = self.ended(words, process)
        self.say("%s  # %d" % (self.line(words, as_viewer, person), ended.code))
        return ended

    def ws_stopped(self, words, how, when):
        """`when(process)` returns at the moment at which the signal `how` is to be sent."""
        process = self.start(words)
        moment = when(process)
        stopped = process.poll() is None
        if stopped:
            process.send_signal(how)
        ended = self.ended(words, process, stopped=stopped)
        self.say("%s & sleep %.3f; kill -%s $!; wait $!  # %d"
                 % (self.line(words), moment, signal.Signals(how).name[3:], ended.code))
        return ended


def after(seconds):
    def moment(process):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        return seconds
    return moment


def when_fired(service, limit=3.0):
    """The moment at which a fault of the service has met its request."""
    def moment(process):
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() - begin < limit and not service.fired():
            time.sleep(0.005)
        return time.monotonic() - begin
    return moment
