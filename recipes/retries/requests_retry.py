#!/usr/bin/python3
# requests, with the Retry of urllib3 as the documentation of requests shows it ("Automatic Retries"): for POST alone.
import os
import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["WS_TOKEN"]
retries = Retry(total=3, backoff_factor=0.1, status_forcelist=[502, 503, 504], allowed_methods={"POST"})
session.mount("http://", HTTPAdapter(max_retries=retries))
documents = os.environ["WS_BASE_URL"] + "/v1/documents"
try:
    template = session.get(f"{documents}/{sys.argv[1]}")
    template.raise_for_status()
    note = {"title": template.json()["title"] + ", week 48", "content": "All is well."}
    made = session.post(documents, json=note)
    made.raise_for_status()
    print("created", made.json()["id"])
except (requests.RequestException, LookupError, TypeError) as error:
    sys.exit(f"failed: {error!r}")
