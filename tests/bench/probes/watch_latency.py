"""Saves notes as editors do while `ws sync watch` runs, and tells how long it took; see watch.sh."""
import hashlib
import http.client
import json
import os
import random
import subprocess
import sys
import time

work, saves = sys.argv[1], int(sys.argv[2])
here, there = f"{work}/here", f"{work}/there"
host = os.environ["WS_BASE_URL"].removeprefix("http://")
headers = {"Authorization": "Bearer " + os.environ["WS_TOKEN"], "Content-Type": "application/json"}
connection = http.client.HTTPConnection(host)


def call(method, path, body=None):
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (answer.status, text)
    return json.loads(text)


def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


# Eight ways in which editors save; each is given the file, its old and its new text.
def in_place(path, old, new):  # nano, ed
    write(path, new)


def in_two_writes(path, old, new):  # a slow writer: half, a pause, the rest, one close
    with open(path, "w") as file:
        file.write(new[: len(new) // 2])
        file.flush()
        time.sleep(0.03)
        file.write(new[len(new) // 2:])


def emptied_first(path, old, new):  # truncated and closed, then opened again
    write(path, "")
    time.sleep(0.02)
    write(path, new)


def by_rename(path, old, new):  # VS Code's and many others' atomic save
    write(path + ".tmp", new)
    os.rename(path + ".tmp", path)


def with_backup(path, old, new):  # vim: the old one is moved away, the new one written, the old one removed
    os.rename(path, path + "~")
    write(path, new)
    os.unlink(path + "~")


def backup_copied(path, old, new):  # Emacs, and vim with backupcopy=yes: a copy beside it, then in place, then its mode
    write(path + "~", old)
    write(path, new)
    os.chmod(path, 0o644)


def deleted_and_made(path, old, new):  # some converters
    os.unlink(path)
    write(path, new)


def then_touched(path, old, new):  # by rename, with mode and time set afterwards
    by_rename(path, old, new)
    os.chmod(path, 0o644)
    os.utime(path)


ways = [in_place, in_two_writes, emptied_first, by_rename, with_backup, backup_copied, deleted_and_made, then_touched]


def ids_by_title():
    found, cursor = {}, ""
    while True:
        page = call("GET", "/v1/documents?limit=100" + (f"&cursor={cursor}" if cursor else ""))
        found.update({one["title"]: one["id"] for one in page["data"]})
        cursor = page["next_cursor"]
        if not cursor:
            return found


def wait_until(arrived, what):
    begin = time.monotonic()
    while not arrived():
        if time.monotonic() - begin > 60:
            sys.exit(f"{what} did not arrive")
        time.sleep(0.004)
    return time.monotonic()


def shown(name, times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))] * 1000
    print(f"  {name:34} median {at(0.5):5.0f} ms, p95 {at(0.95):5.0f} ms of {len(times)}")


def watch(folder):
    process = subprocess.Popen(["ws", "sync", "watch", "--json"], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "watching " in line:
            return process
    sys.exit("the watch ended")


documents = {title: one for title, one in ids_by_title().items() if title.startswith("note-")}
names = sorted(documents)
random.seed(1)
watches = [watch(here), watch(there)]
whole = set()
there_times = []
try:
    for way in ways:
        times = []
        for turn in range(saves):
            title = random.choice(names)
            path = f"{here}/{title}.md"
            old = open(path).read()
            new = f"# {title}\n\nSaved {way.__name__} {turn}: " + "text " * random.randrange(1, 200) + "end\n"
            whole.add(hashlib.sha256(new.encode()).hexdigest())
            time.sleep(random.uniform(1.1, 1.6))  # as people do, and no pause of a save
            way(path, old, new)
            begin = time.monotonic()
            wanted = hashlib.sha256(new.encode()).hexdigest()
            seen = lambda: call("GET", "/v1/documents/" + documents[title])["content_sha256"] == wanted
            on_service = wait_until(seen, title)
            times.append(on_service - begin)
            there_times.append(wait_until(lambda: open(f"{there}/{title}.md").read() == new, title) - on_service)
        shown(way.__name__, times)
    shown("from the service to the other folder", there_times)
    state = call("GET", "/_mock/state")["tables"]
    ids = set(documents.values())
    texts = [row["content"] for row in state["documents"] if row["id"] in ids]
    texts += [row["content"] for row in state["document_revisions"] if row["document_id"] in ids]
    torn = sum(1 for text in texts if not text.endswith("\nText.\n")
               and hashlib.sha256(text.encode()).hexdigest() not in whole)
    print(f"  texts on the service that nobody saved: {torn}")
    if os.environ.get("IDLE"):
        time.sleep(130)
        count = lambda: len(call("GET", "/_mock/requests")["data"])
        before = count()
        time.sleep(60)
        print(f"  requests of two watches in an idle minute: {count() - before}")
finally:
    for process in watches:
        process.terminate()
        process.wait()
