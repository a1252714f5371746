# Planted: every error is worth three tries, also a 401 or a 404.
import json, os, sys, urllib.error, urllib.request


def call(path):
    request = urllib.request.Request(os.environ["WS_BASE_URL"] + path)
    request.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
    for _ in range(3):
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            pass
    sys.exit("no answer from " + path)


call("/v1/me")
