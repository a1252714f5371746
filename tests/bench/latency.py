"""What people wait for on a slow network: the programs behind a relay that adds a round trip to everything.

Usage: latency.py BASE_URL TOKEN FOLDER [ROW...]. The relay adds RTT (100) ms to each round trip and one more to each new
connection. For each row: the longest chain of requests that follow each other, requests, connections, the clock, and
the clock over what the chain alone costs. NOTES (1000,10000) are the sizes of the first push and pull.
"""
import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

RTT = float(os.environ.get("RTT", "100")) / 1000
NOTES = [int(size) for size in os.environ.get("NOTES", "1000,10000").split(",")]


class Relay:
    """TCP from a port of its own to `target`. Of HTTP it knows only whose turn it is to speak."""

    def __init__(self, target):
        self.target = target
        self.reset(0)
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def reset(self, delay):
        self.delay, self.connections, self.exchanges = delay, 0, []

    def serve(self, ready):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.accept, "127.0.0.1", 0, limit=1 << 20))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def accept(self, reader, writer):
        self.connections += 1
        opened = self.loop.time()
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target, limit=1 << 20)
        except OSError:
            return writer.close()
        exchange = None  # [begin, end] as the client sees it

        def sent(now):
            nonlocal exchange
            if exchange is None or exchange[1] is not None:
                exchange = [now, None]
                self.exchanges.append(exchange)

        def answered(now):
            if exchange is not None:
                exchange[1] = now + self.delay / 2

        up = self.carry(reader, far_writer, opened + self.delay, sent)
        down = self.carry(far_reader, writer, 0, answered)
        await asyncio.gather(up, down, return_exceptions=True)

    async def carry(self, reader, writer, not_before, seen):
        pieces = asyncio.Queue()

        async def send():
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0, due - self.loop.time()))
                if not piece:
                    return writer.close()
                writer.write(piece)

        sender = asyncio.ensure_future(send())
        try:
            while True:
                piece = await reader.read(1 << 18)
                now = self.loop.time()
                if piece:
                    seen(now)
                pieces.put_nowait((max(now, not_before) + self.delay / 2, piece))
                if not piece:
                    break
        except OSError:
            pieces.put_nowait((self.loop.time(), b""))
        await sender

    def chain(self):
        """The most exchanges of which each began after the one before had ended."""
        count, last = 0, -1.0
        for begin, end in sorted((e for e in self.exchanges if e[1] is not None), key=lambda e: e[1]):
            if begin >= last:
                count, last = count + 1, end
        return count


class Bench:
    def __init__(self, base_url, token, folder):
        self.base, self.folder = base_url, Path(folder)
        self.relay = Relay((urlsplit(base_url).hostname, urlsplit(base_url).port))
        self.environment = {**os.environ, "WS_TOKEN": token, "WS_BASE_URL": f"http://127.0.0.1:{self.relay.port}"}
        self.token = token

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(urlsplit(self.base).netloc)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text) if text else None

    def run(self, command, cwd=None, wanted=(0,), delay=0):
        self.relay.reset(delay)
        begin = time.monotonic()
        done = subprocess.run(command, cwd=cwd, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seconds = time.monotonic() - begin
        if done.returncode not in wanted:
            raise SystemExit(f"{command}: {done.returncode} {done.stderr.decode()[-800:]}")
        return seconds

    def row(self, name, command, cwd=None, prepare=None, runs=1, wanted=(0,)):
        """`command(turn)`: its words. Each way is prepared for by `prepare(turn)`."""
        turn, far, near, chain = 0, [], [], 0
        for _ in range(runs):
            for delay, times in ((0, near), (RTT, far)):
                if prepare:
                    prepare(turn)
                times.append(self.run(command(turn), cwd(turn) if callable(cwd) else cwd, wanted, delay))
                turn += 1
            chain = max(chain, self.relay.chain())
        seconds, loopback = sorted(far)[runs // 2], sorted(near)[runs // 2]
        over = seconds / ((chain + 1) * RTT + loopback)  # one more: the first connection
        print(f"  {name:<34} chain {chain:4d}  requests {len(self.relay.exchanges):5d}  connections "
              f"{self.relay.connections:4d}  {seconds:7.2f} s  loopback {loopback:6.2f} s  over {over:5.2f}", flush=True)
        return seconds

    def fresh(self, name):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def notes(self, folder, count):
        for i in range(count):
            place = folder / f"part-{i % 20:02d}"
            place.mkdir(exist_ok=True)
            (place / f"note-{i:05d}.md").write_text(f"# Note {i}\n\n" + f"Some words of note {i}, and more of them.\n" * 40)

    # The rows.

    def sync(self):
        tree = self.fresh("tree")
        self.notes(tree, 100)
        quiet = ["ws", "sync", "--quiet"]
        self.run(["ws", "sync", "init", "--name", "latency", "--quiet"], tree)
        self.run(quiet, tree)
        self.row("sync: nothing changed", lambda _: quiet, tree, runs=3)
        edit = lambda turn: (tree / "part-03/note-00003.md").write_text(f"# Note\n\nEdit {turn}.\n")
        self.row("sync: one edit", lambda _: quiet, tree, prepare=edit, runs=3)

    def first(self):
        for count in NOTES:
            made = self.fresh("made")
            self.notes(made, count)
            sources = []

            def begin(turn):
                tree = self.fresh(f"push-{turn}")
                shutil.copytree(made, tree, dirs_exist_ok=True)
                self.run(["ws", "sync", "init", "--name", f"push-{count}-{turn}", "--quiet"], tree)
                sources.append(json.loads((tree / ".ws/source.json").read_text())["source_id"])

            push = self.row(f"sync: first push of {count}", lambda _: ["ws", "sync", "--quiet"],
                            lambda turn: self.folder / f"push-{turn}", prepare=begin)

            def join(turn):
                tree = self.fresh(f"pull-{turn}")
                self.run(["ws", "sync", "init", "--source", sources[0], "--quiet"], tree)

            pull = self.row(f"sync: first pull of {count}", lambda _: ["ws", "sync", "--quiet"],
                            lambda turn: self.folder / f"pull-{turn}", prepare=join)
            self.beside_git(made, count, push, pull)

    def beside_git(self, made, count, push, pull):
        root = self.fresh("git")
        git = lambda *words, cwd=root: subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@localhost", *words],
                                                      cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        git("init", "-q", "--bare", "far.git")
        shutil.copytree(made, root / "mine")
        git("init", "-q", cwd=root / "mine")
        git("add", ".", cwd=root / "mine")
        git("commit", "-qm", "notes", cwd=root / "mine")
        port = free_port()
        daemon = subprocess.Popen(["git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack",
                                   "--listen=127.0.0.1", f"--port={port}", f"--base-path={root}", str(root)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        relay = Relay(("127.0.0.1", port))
        relay.reset(RTT)
        try:
            far = f"git://127.0.0.1:{relay.port}/far.git"
            begin = time.monotonic()
            git("push", "-q", far, "HEAD:refs/heads/main", cwd=root / "mine")
            pushed = time.monotonic() - begin
            begin = time.monotonic()
            git("clone", "-q", "-b", "main", far, "theirs")
            cloned = time.monotonic() - begin
        finally:
            daemon.terminate()
            daemon.wait()
        print(f"    git push {pushed:.2f} s, ours {push / pushed:.2f} x; git clone {cloned:.2f} s, ours {pull / cloned:.2f} x",
              flush=True)

    def lists(self):
        for i in range(3000 - len(self.ids("docs"))):
            self.call("POST", "/v1/documents", {"title": f"Listed {i}", "content": "# A heading\n\nText.\n"})
        self.row("docs list --all of 3,000", lambda _: ["ws", "docs", "list", "--all", "--format", "ids"], runs=3)

    def export(self):
        self.row("docs export of 3,000", lambda turn: ["ws", "docs", "export", str(self.folder / f"out-{turn}"), "--quiet"])

    def ids(self, noun):
        done = subprocess.run(["ws", noun, "list", "--all", "--format", "ids"], stdout=subprocess.PIPE, check=True,
                              env=self.environment)
        return done.stdout.decode().split()

    def files(self):
        made = self.fresh("files")
        for i in range(200):
            (made / f"file-{i:03d}.bin").write_bytes(os.urandom(51_200))
        names = sorted(str(path) for path in made.iterdir())
        for jobs in ("8", "16"):
            self.row(f"200 uploads, --jobs {jobs}",
                     lambda _: ["ws", "files", "upload", "--again", "--quiet", "--jobs", jobs, *names])
        sent = subprocess.run(["ws", "files", "upload", "--again", "--quiet", "--template", "{id}", *names],
                              stdout=subprocess.PIPE, check=True, env=self.environment)
        ids = sent.stdout.decode().split()
        for jobs in ("8", "16"):
            self.row(f"200 downloads, --jobs {jobs}",
                     lambda turn: ["ws", "files", "download", "--quiet", "--jobs", jobs, "-o", str(self.fresh(f"down-{turn}")) + "/", *ids])

    def events(self):
        def queue():
            for _ in range(1000):
                self.call("POST", "/_mock/events", {"kind": "agent.ping"})

        # A worker does not end by itself: the clock counts until all are completed.
        for jobs in ("1", "8"):
            queue()
            self.relay.reset(RTT)
            begin = time.monotonic()
            worker = subprocess.Popen(["ws", "events", "work", "--jobs", jobs, "--quiet", "--", "true"],
                                      env=self.environment, stdout=subprocess.DEVNULL)
            while any(event["status"] != "completed" for event in self.call("GET", "/_mock/state")["tables"]["agent_events"]):
                time.sleep(0.5)
            seconds = time.monotonic() - begin
            worker.send_signal(signal.SIGINT)
            worker.wait()
            print(f"  1,000 events, --jobs {jobs:<15} chain {self.relay.chain():4d}  requests {len(self.relay.exchanges):5d}  "
                  f"connections {self.relay.connections:4d}  {seconds:7.2f} s", flush=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


base_url, token, folder, *rows = sys.argv[1:]
bench = Bench(base_url, token, folder)
for row in rows or ["sync", "files", "lists", "export", "first", "events"]:
    getattr(bench, row)()
