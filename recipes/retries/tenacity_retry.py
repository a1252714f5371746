#!/usr/bin/python3
# tenacity around requests, as its documentation shows it. The key is made where the request is, in what is repeated.
import os
import sys
import uuid

import requests
from tenacity import retry, stop_after_attempt, wait_exponential

documents = os.environ["WS_BASE_URL"] + "/v1/documents"
bearer = {"Authorization": "Bearer " + os.environ["WS_TOKEN"]}


@retry(stop=stop_after_attempt(3), wait=wait_exponential(multiplier=1, max=10), reraise=True)
def call(method, url, **rest):
    answer = requests.request(method, url, headers=bearer | {"Idempotency-Key": str(uuid.uuid4())}, **rest)
    answer.raise_for_status()
    return answer.json()


try:
    template = call("GET", f"{documents}/{sys.argv[1]}")
    made = call("POST", documents, json={"title": template["title"] + ", week 48", "content": "All is well."})
    print("created", made["id"])
except (requests.RequestException, LookupError, TypeError) as error:
    sys.exit(f"failed: {error!r}")
