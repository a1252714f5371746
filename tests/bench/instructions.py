"""Instructions of the server for one call: instructions.py WS_MOCK [CALLS [FOLDER]].

Runs it under callgrind and counts 1,000 reads of one document and 1,000 creates (or CALLS of each), after 100 of either
(bars: 65,000 and 135,000). With FOLDER the profiles stay there: callgrind.get, callgrind.create."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as work:
        folder = sys.argv[3] if len(sys.argv) > 3 else work
        ready_file = os.path.join(work, "ready.json")
        server = subprocess.Popen(
            ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={work}/out", program,
             "--listen", "127.0.0.1:0", "--ready-file", ready_file, "--log", "off"], stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(ready_file):
                time.sleep(0.05)
            with open(ready_file, encoding="utf-8") as file:
                ready = json.load(file)
            connection = socket.create_connection(("127.0.0.1", ready["port"]))

            def call(method, path, body=""):
                kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
                connection.sendall((f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{ready['port']}\r\n"
                                    f"Authorization: Bearer {ready['token']}\r\n{kind}\r\n{body}").encode())
                answer = b""
                while b"\r\n\r\n" not in answer:
                    answer += connection.recv(65536)
                head, _, rest = answer.partition(b"\r\n\r\n")
                while len(rest) < int(re.search(rb"Content-Length: (\d+)", head)[1]):
                    rest += connection.recv(65536)
                assert head.startswith(b"HTTP/1.1 20"), head
                return json.loads(rest)

            def control(*words):
                subprocess.run(["callgrind_control", *words, str(server.pid)], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

            document = call("GET", "/v1/documents?limit=1")["data"][0]["id"]
            note = json.dumps({"title": "A note of a few words",
                               "content": "# A heading\n\nSome text that is neither long nor short.\n"})
            for number, (name, words) in enumerate({"get": ("GET", f"/v1/documents/{document}"),
                                                    "create": ("POST", "/v1/documents", note)}.items(), 1):
                for _ in range(100):
                    call(*words)
                control("-i", "on")
                for _ in range(count):
                    call(*words)
                control("-i", "off")
                control("-d")
                profile = os.path.join(folder, f"callgrind.{name}")
                os.replace(f"{work}/out.{number}", profile)
                with open(profile, encoding="utf-8") as file:
                    total = int(re.search(r"^totals: (\d+)", file.read(), re.M)[1])
                print(f"  {name + ', instructions a call':<37} {total / count:,.0f}")
        finally:
            server.terminate()
            server.wait()


main()
