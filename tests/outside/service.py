"""One `ws-mock`: the real process, and what its control surface tells."""
import http.client
import json
import socket
import subprocess
import time
from dataclasses import dataclass, field

MANIFEST = "_attachments"  # the reserved name of the list of files, one document or several
WRITES = ("sync.push", "sync.commit", "sync.conflict_resolve", "sync.source_create", "files.upload_start",
          "files.upload_finish", "upload.put", "docs.create", "docs.update", "docs.archive")

# Three people. The second key of each grants no more than a viewer may do.
PEOPLE = {"mara": "owner", "tomas": "editor", "vera": "viewer"}


def key_of(person, as_viewer=False):
    return ("wsk_outside_%s_%s_" % (person, "looks" if as_viewer else "works")).ljust(48, "0")


def fixtures():
    keys = []
    for person in PEOPLE:
        keys.append({"person": person + "@example.com", "secret": key_of(person), "audience": "user"})
        keys.append({"person": person + "@example.com", "secret": key_of(person, True), "audience": "user", "role": "viewer"})
    return {
        "people": [{"email": person + "@example.com", "name": person.capitalize()} for person in PEOPLE],
        "workspaces": [{"name": "Outside",
                        "members": [{"person": person + "@example.com", "role": role} for person, role in PEOPLE.items()]}],
        "projects": [{"title": "Notes", "by": "mara@example.com"}],
        "sources": [{"name": "notes", "project": "Notes", "by": "mara@example.com"}],
        "keys": keys,
    }


@dataclass
class Document:
    id: str
    path: str
    content: bytes
    revision: int


@dataclass
class State:
    """What the service holds of the one source, without what has been archived or moved out."""
    documents: dict = field(default_factory=dict)  # id -> Document
    files: dict = field(default_factory=dict)      # path -> SHA-256, as the list of files says
    assets: set = field(default_factory=set)       # SHA-256 of all bytes that were ever finished
    conflicts: list = field(default_factory=list)  # open ones, as rows
    texts: set = field(default_factory=set)        # every text of an open conflict
    past: list = field(default_factory=list)       # every text that a document ever had
    threads: dict = field(default_factory=dict)    # document id -> number of comment threads
    source: str = ""

    def by_path(self):
        return {document.path: document.content for document in self.documents.values()}


def rows_of_list(text):
    """path -> SHA-256 of the table in a document `_attachments.md`."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]
        digest = next((cell.strip("`") for cell in cells if len(cell.strip("`")) == 64), None)
        if digest:
            rows[cells[0].strip("`").replace("\0", "|")] = digest
    return rows


class Service:
    def __init__(self, programs, folder):
        self.program = programs / "ws-mock"
        self.folder = folder
        self.process = None
        folder.mkdir(parents=True)
        (folder / "fixtures.json").write_text(json.dumps(fixtures()))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = "http://127.0.0.1:%d" % self.port

    def command(self):
        data = self.folder / "service.db"
        world = [] if data.exists() else ["--fixtures", str(self.folder / "fixtures.json")]
        return [str(self.program), "serve", "--listen", "127.0.0.1:%d" % self.port, "--data", str(data), *world,
                "--seed", "1", "--log", "off"]

    def start(self):
        for _ in range(50):
            self.process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if self.process.stdout.readline():
                return
            said = self.process.stderr.read().decode(errors="replace")
            self.process.wait()
            if "in use" not in said:
                raise RuntimeError("ws-mock does not start: " + said)
            time.sleep(0.1)
        raise RuntimeError("ws-mock finds its port taken")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
            self.process = None

    def call(self, method, path, body=None, key=None):
        """(status, JSON) of one call."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = "Bearer " + key
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None

    def control(self, method, path, body=None):
        status, answer = self.call(method, "/_mock" + path, body)
        if status >= 400:
            raise RuntimeError("%s /_mock%s: %d %s" % (method, path, status, answer))
        return answer

    def state(self):
        tables = self.control("GET", "/state")["tables"]
        state = State()
        state.source = tables["sync_sources"][0]["id"]
        documents = {row["id"]: row for row in tables["documents"]}
        for entry in tables["sync_entries"]:
            row = documents.get(entry["document_id"])
            if not entry["present"] or row is None or row["status"] != "active" or entry["source_id"] != state.source:
                continue
            content = row["content"].encode()
            if entry["path"].startswith(MANIFEST):
                state.files.update(rows_of_list(row["content"]))
            else:
                state.documents[row["id"]] = Document(row["id"], entry["path"], content, row["content_revision"])
        state.assets = {row["content_sha256"] for row in tables["assets"]}
        state.conflicts = [row for row in tables["sync_conflicts"] if row["status"] == "open"]
        for row in state.conflicts:
            state.texts.update(row[side] for side in ("base_content", "local_content", "remote_body") if row[side])
        state.past = [row["content"] for row in tables["document_revisions"]] + [row["content"] for row in tables["documents"]]
        for row in tables["comment_threads"]:
            state.threads[row["document_id"]] = state.threads.get(row["document_id"], 0) + 1
        return state

    def set_fault(self, rule):
        return self.control("POST", "/faults", rule)

    def clear_faults(self):
        self.control("DELETE", "/faults")

    def fired(self):
        rules = self.control("GET", "/faults")
        rules = rules.get("data", []) if isinstance(rules, dict) else rules
        return any(rule.get("fired", 0) for rule in rules)

    def forget_requests(self):
        self.control("DELETE", "/requests")

    def writes(self):
        """The operations of the journal that change something."""
        entries = self.control("GET", "/requests")["data"]
        return [entry["operation"] for entry in entries if entry.get("operation") in WRITES]
