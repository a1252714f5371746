"""Many claims that wait, and how the server fares meanwhile: waiting_claims.py BASE_URL TOKEN PID COUNT.

Prints its resident memory with COUNT waiting claims and what other calls take (bars: 16 MiB, 5 ms)."""
import json
import resource
import socket
import sys
import time
import urllib.parse
import urllib.request


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def call(base, token, method, path, body=None):
    request = urllib.request.Request(base + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main():
    base, token, pid, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    address = urllib.parse.urlsplit(base)
    idle = resident_mib(pid)
    body = json.dumps({"worker_id": "bench", "wait_seconds": 30}).encode()
    claim = (f"POST /v1/agent-events:claim HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
             f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    waiting = []
    for _ in range(count):
        connection = socket.create_connection((address.hostname, address.port))
        connection.sendall(claim)
        waiting.append(connection)
    other = socket.create_connection((address.hostname, address.port))
    other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    get = f"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    times = []
    for _ in range(2000):
        begin = time.perf_counter()
        other.sendall(get)
        other.recv(65536)
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    print(f"  {count} waiting claims                   {resident_mib(pid):.1f} MiB (idle {idle:.1f}; bar 16), other calls "
          f"p50 {times[1000]:.2f}, p99 {times[1980]:.2f}, max {times[-1]:.2f} ms (bar 5)")


main()
