#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft-http as a program: its help has no control bytes, SIGTERM lets a request under way end, refuses who comes
then, and the status is 0. Usage: program_test.py WEFT_HTTP"""

import os
import re
import signal
import socket
import subprocess
import sys

PATIENCE = 30


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def start(program, *arguments):
    server = subprocess.Popen([program, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
    said = server.stdout.readline()
    found = re.match(r"weft-http: port (\d+), ", said)
    check(found, f"it said {said!r}")
    return server, int(found.group(1))


def connect(port):
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return made


def read_all(connection):
    got = b""
    while more := connection.recv(65536):
        got += more
    return got


def helps(program):
    for arguments, status in ((["--help"], 0), (["--io", "none"], None), (["--port", "x"], None)):
        done = subprocess.run([program, *arguments], capture_output=True, timeout=PATIENCE, check=False)
        check(done.returncode == status if status is not None else done.returncode not in (0, -signal.SIGABRT),
              f"{arguments}: status {done.returncode}")
        text = done.stdout + done.stderr
        check(text, f"{arguments}: it says nothing")
        wrong = [byte for byte in text if byte < 0x20 and byte != 0x0A or byte == 0x7F]
        check(not wrong, f"{arguments}: control bytes {wrong} in what it says")


def drains(program, io):
    server, port = start(program, "--io", io, "--workers", "2", "--drain-ms", "20000")
    idle = connect(port)
    idle.sendall(b"GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\n")
    check(idle.recv(65536).startswith(b"HTTP/1.1 200 "), "no answer")
    under_way = connect(port)
    # The 100 says that the head has been read.
    under_way.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
    check(under_way.recv(65536).startswith(b"HTTP/1.1 100 "), "no 100")
    under_way.sendall(b"abc")
    server.send_signal(signal.SIGTERM)
    check(read_all(idle) == b"", "the idle connection was sent something")  # it ends: the server drains now
    try:
        connect(port)
        check(False, "somebody could connect after SIGTERM")
    except ConnectionRefusedError:
        pass
    check(server.poll() is None, "it ended before the request under way")
    under_way.sendall(b"def")
    answer = read_all(under_way)
    check(answer.startswith(b"HTTP/1.1 405 ") and b"Connection: close\r\n" in answer, f"the answer was {answer!r}")
    check(server.wait(PATIENCE) == 0, f"status {server.returncode}")
    server.stdout.close()


def ends_at_once(program, number):
    server, _ = start(program)
    server.send_signal(number)
    check(server.wait(PATIENCE) == 0, f"status {server.returncode} after signal {number}")
    server.stdout.close()


def main():
    program = os.path.abspath(sys.argv[1])
    try:
        helps(program)
        for io in ("epoll", "uring"):
            drains(program, io)
        for number in (signal.SIGTERM, signal.SIGINT):
            ends_at_once(program, number)
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
