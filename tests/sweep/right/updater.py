#!/usr/bin/env python3
"""Adds one line to a document under its revision; somebody else's edit in between is kept."""
import contextlib, email.utils, hashlib, http.client, json, os, re, signal, sys, time, uuid
from urllib.parse import urlsplit
BASE, TOKEN = os.environ.get("WS_BASE_URL", "").rstrip("/"), os.environ.get("WS_TOKEN", "")
TIMEOUT, LONGEST_WAIT = 3.0, 30.0
LINE = "- checked by the updater"

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

def good(d):
    return is_id(d.get("id")) and type(d.get("content_revision")) is int and isinstance(d.get("content"), str) and d.get(
        "content_sha256") in (None, hashlib.sha256(d["content"].encode()).hexdigest())

def update(id):
    """Reads before every send, so that an outcome that was not known is known before the next one."""
    path, sends, failed = "/v1/documents/" + id, 0, None
    while True:
        now = call(f"read {id}", "GET", path, 200, lambda d: good(d) and d["id"] == id)
        text, revision = now["content"], now["content_revision"]
        if LINE in text.splitlines():
            return revision
        if now.get("status") == "archived" or sends == 4:
            raise failed or Failed(f"update {id}: status 200, code archived: nothing was changed")
        text += ("" if text.endswith("\n") or not text else "\n") + LINE + "\n"
        try:
            sends += 1
            body = {"content": text, "expected_content_revision": revision}
            return call(f"update {id}, try {sends}", "PUT", path, 200, lambda d: good(d) and d["id"] == id and (
                d["content"] == text and d["content_revision"] > revision), body, sends=1)["content_revision"]
        except Failed as error:
            failed, wait = error, max(error.wait, 0.05 * 2 ** (sends - 1))
        conflict = failed.status == 412 or failed.status == 409 and failed.code in ("revision_conflict", "-")
        if not (conflict or failed.status in (0, 200, 408, 425, 429) or failed.status >= 500) or wait > LONGEST_WAIT:
            raise failed
        time.sleep(wait)

def main():
    body = {"title": "Updater list", "content": "# List\n\n- first line\n"}
    key = "updater-" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:40]
    id = call("create the list", "POST", "/v1/documents", 201, lambda d: is_id(d.get("id")), body, key)["id"]
    print(id, "holds the line at revision", update(id), flush=True)

try:
    if not BASE.startswith(("http://", "https://")) or not TOKEN:
        raise Failed("WS_BASE_URL and WS_TOKEN must be set")
    main()
except (Failed, OSError, ValueError) as error:
    sys.exit(f"updater: {error}")
