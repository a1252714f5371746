#!/usr/bin/env python3
"""Creates three documents (once) and mirrors all documents to files below ./mirror/."""
import contextlib, email.utils, hashlib, http.client, json, os, pathlib, re, signal, sys, time, uuid
from urllib.parse import urlencode, urlsplit
BASE, TOKEN = os.environ.get("WS_BASE_URL", "").rstrip("/"), os.environ.get("WS_TOKEN", "")
TIMEOUT, LONGEST_WAIT = 3.0, 30.0
FOLDER, PAGE = pathlib.Path("mirror"), 2

class Failed(Exception):
    def __init__(self, text, status=None, code="-", wait=0.0):
        super().__init__(text.replace(TOKEN or "\0", "***"))
        self.status, self.code, self.wait = status, code, wait

def too_late(*_): raise TimeoutError(f"no whole answer within {TIMEOUT:g} s")

def send(method, path, raw, headers):
    """One send. Status 0: no whole answer, the outcome is not known. Never follows a redirect."""
    url = urlsplit(BASE + path)
    signal.signal(signal.SIGALRM, too_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, TIMEOUT)  # for the whole exchange, also a trickling one
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        with contextlib.closing(kind(url.hostname, url.port, timeout=TIMEOUT)) as conn:
            conn.request(method, url.path + (url.query and "?" + url.query), raw, headers)
            answer = conn.getresponse()
            text, status, got = answer.read(), answer.status, answer.headers
    except (OSError, http.client.HTTPException) as error:
        return 0, {}, {}, f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        return status, got, dict(json.loads(text)), ""
    except (ValueError, TypeError):
        return status, got, {}, "the answer is no JSON object"

def pause(headers, n):
    wait, said, now = 0.05 * 2 ** (n - 1), (headers.get("Retry-After") or "").strip(), headers.get("Date")
    try:
        if re.fullmatch(r"\d+(\.\d+)?", said):
            return max(wait, float(said))
        now = email.utils.parsedate_to_datetime(now).timestamp() if now else time.time()
        return max(wait, email.utils.parsedate_to_datetime(said).timestamp() - now)
    except (ValueError, TypeError):
        return wait

def call(what, method, path, ok, check, body=None, key=None, sends=4):
    """More than one send only of what is safe to repeat: reads, and creates with an Idempotency-Key."""
    rid, raw = str(uuid.uuid4()), None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + TOKEN, "Accept": "application/json", "X-Request-Id": rid}
    headers |= ({"Content-Type": "application/json"} if raw else {}) | ({"Idempotency-Key": key} if key else {})
    for n in range(1, sends + 1):
        status, got, data, why = send(method, path, raw, headers)
        if status == ok and check(data):
            return data
        detail = data.get("detail")
        first = next((d for d in (detail if isinstance(detail, list) else [detail]) if isinstance(d, dict)), {})
        code, wait = str(data.get("code") or first.get("code") or first.get("type") or "-"), pause(got, n)
        again = status in (0, ok, 408, 425, 429) or status >= 500 or (status, code) == (409, "idempotency_in_flight")
        if not again or n == sends or wait > LONGEST_WAIT:  # longer than we would wait: never earlier than it says
            why, rid = why or ("unexpected shape" if status == ok else str(detail)[:200]), got.get("X-Request-Id") or rid
            raise Failed(f"{what}: status {status}, code {code}, request {rid}, sends {n}: {why}", status, code, wait)
        time.sleep(wait)

def is_id(value):
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value, re.I)

def is_page(page):
    data, cursor = page.get("data"), page.get("next_cursor", "")
    good = isinstance(data, list) and all(isinstance(d, dict) and is_id(d.get("id")) for d in data)
    return good and (cursor is None or isinstance(cursor, str) and cursor != "")

def whole(document):
    text, digest = document.get("content"), document.get("content_sha256")
    return isinstance(text, str) and digest in (None, hashlib.sha256(text.encode()).hexdigest())

def list_all():
    found, cursors, query = {}, set(), {"limit": PAGE}
    while query.get("cursor", "") is not None:
        page = call("list documents", "GET", "/v1/documents?" + urlencode(query), 200, is_page)
        found.update((d["id"], True) for d in page["data"])
        query["cursor"] = page["next_cursor"]
        if query["cursor"] in cursors:
            raise Failed("list documents: status 200, code -, but a cursor came a second time: it does not end")
        cursors.add(query["cursor"])
    return found

def main():
    made = []
    for n in (1, 2, 3):
        body = {"title": f"Mirror {n}", "content": f"# Mirror {n}\n\nText number {n}.\n"}
        key = "mirror-" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:40]
        made.append(call(f"create Mirror {n}", "POST", "/v1/documents", 201, lambda d: is_id(d.get("id")), body, key)["id"])
    FOLDER.mkdir(exist_ok=True)
    listed, here = list_all(), [p.stem for p in FOLDER.glob("*.md") if is_id(p.stem)]
    for id in dict.fromkeys([*listed, *made, *here]):
        try:
            document = call(f"read {id}", "GET", "/v1/documents/" + id, 200, lambda d: d.get("id") == id and whole(d))
        except Failed as error:
            if error.status != 404 or id in listed or id in made:
                raise
            print(f"mirror: kept {id}.md: not to be seen, but not known to be gone: {error}", file=sys.stderr)
            continue
        if document.get("status") == "archived":  # the one answer that confirms it gone
            (FOLDER / f"{id}.md").unlink(missing_ok=True)
        elif id in made and id not in listed:
            raise Failed(f"list documents: status 200, code -, but document {id} is there and was not listed")
        else:
            with open(FOLDER / f".{id}.part", "wb") as file:
                file.write(document["content"].encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, FOLDER / f"{id}.md")
            print(id, f"{id}.md", flush=True)

try:
    if not BASE.startswith(("http://", "https://")) or not TOKEN:
        raise Failed("WS_BASE_URL and WS_TOKEN must be set")
    main()
except (Failed, OSError, ValueError) as error:
    sys.exit(f"mirror: {error}")
