"""Uploads every file of DIR by `curl --parallel`: one process for each of the three calls, with connections it keeps."""
import json
import os
import subprocess
import sys

folder, answers, base_url, token = sys.argv[1:]
os.makedirs(answers)
names = sorted(os.listdir(folder))


def by_curl(requests):
    config = "\nnext\n".join("\n".join('%s = "%s"' % (key, value.replace('"', '\\"')) for key, value in each) for each in requests)
    subprocess.run(["curl", "-sS", "--fail", "--parallel", "--config", "-"], input=config.encode(), check=True, stdout=subprocess.DEVNULL)


def call(path, body, output):
    return [("header", "Authorization: Bearer " + token), ("header", "Content-Type: application/json"),
            ("url", base_url + path), ("data", json.dumps(body)), ("output", output)]


by_curl([call("/v1/files/uploads", {"file_name": name, "size_bytes": os.path.getsize(os.path.join(folder, name))},
              os.path.join(answers, name)) for name in names])
started = {name: json.load(open(os.path.join(answers, name))) for name in names}
by_curl([[("header", "Content-Type: application/octet-stream"), ("upload-file", os.path.join(folder, name)),
          ("url", started[name]["upload_url"]), ("output", "/dev/null")] for name in names])
by_curl([call("/v1/files/uploads:finalize",
              {"upload_id": started[name]["upload_id"], "blob_name": started[name]["blob_name"], "file_name": name,
               "size_bytes": os.path.getsize(os.path.join(folder, name))}, "/dev/null") for name in names])
