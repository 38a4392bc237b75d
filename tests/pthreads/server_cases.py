# SPDX-License-Identifier: MIT
"""Servers of others with threads: many clients at once get right answers, and the server ends when it is told to."""
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

CLIENTS, ROUNDS = 20, 30


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), 20)
        self.rest = b''

    def send(self, text):
        self.socket.sendall(text)

    def line(self):
        while b'\r\n' not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b'\r\n', 1)
        return line

    def take(self, count):
        while len(self.rest) < count:
            self.more()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def more(self):
        got = self.socket.recv(65536)
        if not got:
            raise RuntimeError('the server has closed the connection')
        self.rest += got


def use_redis(c, client):
    for i in range(ROUNDS):
        key, value = f'k{client}.{i}'.encode(), b'v' * (i * 37)
        c.send(b'*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n' % (len(key), key, len(value), value))
        assert c.line() == b'+OK'
        c.send(b'*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n' % (len(key), key))
        assert c.line() == b'$%d' % len(value) and c.take(len(value) + 2) == value + b'\r\n'


def use_memcached(c, client):
    for i in range(ROUNDS):
        key, value = f'k{client}.{i}'.encode(), b'v' * (i * 37)
        c.send(b'set %s 0 0 %d\r\n%s\r\n' % (key, len(value), value))
        assert c.line() == b'STORED'
        c.send(b'get %s\r\n' % key)
        assert c.line() == b'VALUE %s 0 %d' % (key, len(value)) and c.take(len(value) + 2) == value + b'\r\n'
        assert c.line() == b'END'


def use_nginx(c, client):
    for i in range(ROUNDS):
        c.send(b'GET /file HTTP/1.1\r\nHost: here\r\n\r\n')
        assert c.line() == b'HTTP/1.1 200 OK'
        length = 0
        while header := c.line():
            name, value = header.split(b': ', 1)
            length = int(value) if name == b'Content-Length' else length
        assert hashlib.sha1(c.take(length)).digest() == FILE_DIGEST, f'client {client}, {i}'


NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
thread_pool default threads=8;
events {{ worker_connections 256; }}
http {{ access_log off; aio threads; sendfile off; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""
FILE = os.urandom(200_000)
FILE_DIGEST = hashlib.sha1(FILE).digest()


def nginx(folder, port):
    with open(os.path.join(folder, 'file'), 'wb') as file:
        file.write(FILE)
    with open(os.path.join(folder, 'conf'), 'w', encoding='utf-8') as file:
        file.write(NGINX.format(folder=folder, port=port))
    return ['-p', folder, '-c', os.path.join(folder, 'conf'), '-e', os.path.join(folder, 'errors')]


# name: the program, its words, from a folder of its own and its port; what a client does.
SERVERS = {
    'redis': ('redis-server', lambda folder, port: ['--port', str(port), '--save', '', '--io-threads', '4', '--io-threads-do-reads', 'yes',
                                                    '--dir', folder], use_redis),
    'memcached': ('memcached', lambda _, port: ['-u', 'nobody', '-l', '127.0.0.1', '-p', str(port), '-t', '4'], use_memcached),
    'nginx': ('nginx', nginx, use_nginx),
}
PATH = os.environ.get('PATH', '') + ':/usr/sbin'


def connect(port, server):
    for _ in range(200):
        if server.poll() is not None:
            raise RuntimeError(f'the server has ended: {server.returncode}')
        try:
            return Connection(port)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise RuntimeError('the server does not listen')


def end_with_an_event(server, port):
    """nginx looks whether it has been told to end, and then waits for events: a signal between the two is seen at the next one."""
    for _ in range(20):
        try:
            server.wait(1)
            return
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                socket.create_connection(('127.0.0.1', port), 1).close()
    server.wait(1)


def serve(words, port, use, environment, log):
    wrong = []
    with subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as server:

        def be_client(number):
            try:
                use(connect(port, server), number)
            except Exception as e:  # pylint: disable=broad-except
                wrong.append(f'client {number}: {e!r}')

        try:
            connect(port, server)
            clients = [threading.Thread(target=be_client, args=(i,)) for i in range(CLIENTS)]
            for c in clients:
                c.start()
            for c in clients:
                c.join()
            server.send_signal(signal.SIGTERM)
            end_with_an_event(server, port)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            wrong.append(repr(e))
        finally:
            server.kill()
    return wrong


def run(name, preload):
    """`preload`: what the environment gets for it. Raises where something is wrong."""
    program, words_for, use = SERVERS[name]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        os.chmod(folder, 0o755)
        port = free_port()
        words = [shutil.which(program, path=PATH), *words_for(folder, port)]
        wrong = serve(words, port, use, {**os.environ, 'PATH': PATH, **preload}, log)
        if wrong:
            log.seek(0)
            raise RuntimeError('; '.join(wrong[:3]) + ': ' + log.read().decode(errors='replace')[-600:])
