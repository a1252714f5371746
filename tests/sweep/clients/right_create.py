# Right: one key for all tries and all runs, Retry-After kept, a 4xx is told, nothing believed that cannot be read.
import json, os, sys, time, urllib.error, urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


opener = urllib.request.build_opener(NoRedirect)


def call(method, path, body=None, key=None):
    for attempt in range(3):
        request = urllib.request.Request(os.environ["WS_BASE_URL"] + path, method=method)
        request.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        if key:
            request.add_header("Idempotency-Key", key)
        wait = 0.1
        try:
            with opener.open(request, timeout=2) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (408, 425, 429, 500, 502, 503, 504):
                sys.exit("%s %s: %d" % (method, path, error.code))
            wait = float(error.headers.get("Retry-After", wait))
        except (OSError, ValueError, EOFError):
            pass
        except Exception as error:  # http.client has errors of its own for an answer that ends too early
            if type(error).__module__ != "http.client":
                raise
        time.sleep(wait)
    sys.exit("%s %s: no answer" % (method, path))


for title in ("one", "two"):
    made = call("POST", "/v1/documents", {"title": title, "content": "text"}, "right-create-" + title)
    if call("GET", "/v1/documents/" + made["id"]).get("id") != made["id"]:
        sys.exit("another document came back")
