# SPDX-License-Identifier: MIT
"""The servers of the suite "http": how each is started on a free port of the loopback, and its CPU time, memory
and descriptors while it runs. One that is not installed is None."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")

# Fields as the others have them; access log off, and nothing that costs time and is not asked for.
NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log crit;
worker_processes {workers}; worker_rlimit_nofile 20000;
events {{ worker_connections 15000; }}
http {{
  access_log off; server_tokens off; etag off; max_ranges 0; sendfile on; tcp_nodelay on;
  keepalive_requests 1000000000; default_type text/plain;
  types {{ text/plain txt; }}
  open_file_cache max=1000; open_file_cache_valid 1s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096; root {root};
    location = /plaintext {{ return 200 "Hello, World!"; }}
  }}
}}
"""


class Server:
    """A running server and all its processes."""

    def __init__(self, command, cpus, environment=None, port=None):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **(environment or {})}, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.port = port or self._port_it_says()
        self._wait_until_it_answers()

    def _port_it_says(self):
        found = re.search(r"port (\d+)", self.process.stdout.readline())
        if not found:
            raise RuntimeError("the server says no port")
        return int(found.group(1))

    def _wait_until_it_answers(self):
        for _ in range(100):
            try:
                self.answer("/plaintext")
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    def answer(self, path):
        """Status line, fields and body, as they come."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as peer:
            peer.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            text = b""
            while b"\r\n\r\n" not in text:
                part = peer.recv(65536)
                if not part:
                    raise OSError("no answer")
                text += part
            length = int(re.search(rb"Content-Length: (\d+)", text).group(1))
            while len(text.split(b"\r\n\r\n", 1)[1]) < length:
                text += peer.recv(65536)
            return text

    def processes(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def cpu_seconds(self):
        ticks = 0
        for process in self.processes():
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def resident_bytes(self):
        return sum(int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
                   for process in self.processes()) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{process}/fd")) for process in self.processes())

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def starters(bin_dir, folder):
    """name -> function(workers, cpus) that starts a server, or the reason why there is none."""
    weft_http = bin_dir.parent.parent / "apps" / "http" / "weft-http"
    go, asio, nginx = bin_dir / "http.go", bin_dir / "http.asio", shutil.which("nginx", path="/usr/sbin:/usr/bin")
    root = folder / "root"
    root.mkdir()
    (root / "file.txt").write_text("0123456789abcdef" * 64)

    def weft(source):
        return lambda workers, cpus: Server(
            [weft_http, "--port", "0", "--workers", str(workers), "--io", source, "--server-name", "nginx",
             "--root", root, "--connections", "15000"], cpus)

    def start_nginx(workers, cpus):
        port = free_port()
        own = folder / f"nginx-{port}"
        own.mkdir()
        (own / "nginx.conf").write_text(NGINX.format(folder=own, workers=workers, port=port, root=root))
        return Server([nginx, "-e", own / "error.log", "-c", own / "nginx.conf"], cpus, port=port)

    def start_go(workers, cpus):
        return Server([go, root], cpus, environment={"GOMAXPROCS": str(workers)})

    def start_asio(workers, cpus):
        return Server([asio, str(workers)], cpus)

    there = {"weft": (weft("epoll"), weft_http.exists(), "build the target weft-http"),
             "weft-uring": (weft("uring"), weft_http.exists(), "build the target weft-http"),
             "nginx": (start_nginx, nginx, "no nginx"),
             "go": (start_go, go.exists(), "no Go at configuration"),
             "asio": (start_asio, asio.exists(), "no Boost at configuration")}
    return {name: start if is_there else reason for name, (start, is_there, reason) in there.items()}
