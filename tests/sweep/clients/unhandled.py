# Planted: nothing handles a failed call.
import os, urllib.request

request = urllib.request.Request(os.environ["WS_BASE_URL"] + "/v1/me", headers={"Authorization": "Bearer " + os.environ["WS_TOKEN"]})
urllib.request.urlopen(request, timeout=5).read()
