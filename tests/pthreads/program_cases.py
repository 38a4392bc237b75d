# SPDX-License-Identifier: MIT
"""Programs of others with threads, each with a check: what they write is compared with what they read, or write without the preload."""
import functools
import glob
import http.server
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

import server_cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '../..')
SOURCES = os.path.join(ROOT, 'weft')
# Debian's: its tests are a package, and it has no shims of a version manager before it.
SYSTEM_PYTHON = '/usr/bin/python3'
# What writes FILE packed to its output; what unpacks it again, on the C library alone.
PACKERS = {
    'pigz': (['pigz', '-1', '-p4', '-c', 'FILE'], ['gzip', '-dc']),
    'pbzip2': (['pbzip2', '-1', '-p4', '-c', 'FILE'], ['bzip2', '-dc']),
    'lbzip2': (['lbzip2', '-1', '-n4', '-c', 'FILE'], ['bzip2', '-dc']),
    'plzip': (['plzip', '-1', '-n4', '-c', 'FILE'], ['plzip', '-dc']),
    'xz': (['xz', '-1', '-T4', '--block-size=1MiB', '-c', 'FILE'], ['xz', '-dc']),
    'zstd': (['zstd', '-q', '-1', '-T4', '-c', 'FILE'], ['zstd', '-dqc']),
    '7z': (['7z', 'a', '-txz', '-mx=1', '-mmt=4', '-bso0', '-bsp0', '-so', 'none', 'FILE'], ['xz', '-dc']),
}
NODE = '''
const { Worker } = require('worker_threads');
let left = 4, sum = 0;
const work = `let s = 0; for (let k = 0; k < 1e6; ++k) s += k % 7; require('worker_threads').parentPort.postMessage(s);`;
for (let i = 0; i < 4; ++i)
  new Worker(work, { eval: true }).on('message', m => { sum += m; if (--left === 0) console.log(sum); });
'''
JAVA = '''
import java.util.concurrent.*;
import java.util.stream.*;
class Threads {
  static long sum = 0;
  public static void main(String[] words) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(16);
    var results = IntStream.range(0, 100).mapToObj(i -> pool.submit(() -> IntStream.range(0, 10000).mapToLong(k -> k % (i + 1)).sum()))
        .collect(Collectors.toList());
    for (var r : results) sum += r.get();
    pool.shutdown();
    Thread[] all = new Thread[50];
    for (int i = 0; i < all.length; ++i) {
      all[i] = new Thread(() -> { for (int k = 0; k < 100; ++k) synchronized (pool) { ++sum; } });
      all[i].start();
    }
    for (Thread t : all) t.join();
    var numbers = new ArrayBlockingQueue<Integer>(10);
    new Thread(() -> { for (int i = 0; i < 2000; ++i) try { numbers.put(i); } catch (InterruptedException e) {} }).start();
    for (int i = 0; i < 2000; ++i) sum += numbers.take();
    System.gc();
    System.out.println(sum);
  }
}
'''
PERL = '''
use threads; use threads::shared;
my $sum :shared = 0;
$_->join for map { my $i = $_; threads->create(sub { for my $k (1..1000) { lock $sum; $sum += $k % ($i + 1) } }) } 1..8;
print "$sum\\n";
'''
SQL = '''pragma threads=4; pragma cache_size=10;
create table t as with recursive n(x) as (select 1 union all select x+1 from n where x < 100000) select x, (x * 7919) % 100003 as y from n;
create index i on t(y); select count(*), sum(x * (y % 3)) from (select x, y from t order by y desc);'''
PYTHON = '''
import concurrent.futures, queue, threading, time
work = queue.Queue()
def serve():
    while work.get() is not None:
        time.sleep(0.001)
        work.task_done()
servers = [threading.Thread(target=serve) for _ in range(20)]
for s in servers: s.start()
for i in range(300): work.put(i)
work.join()
for s in servers: work.put(None)
for s in servers: s.join()
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    print(sum(pool.map(lambda x: x * x, range(1000))))
meet, met = threading.Barrier(8), []
def member():
    for _ in range(20): meet.wait()
    met.append(threading.get_ident())
members = [threading.Thread(target=member) for _ in range(8)]
for m in members: m.start()
for m in members: m.join()
print(len(set(met)))
'''
SQLITE = '''
import os, sqlite3, sys, threading
file = sys.argv[1]
def database():
    d = sqlite3.connect(file, timeout=60, isolation_level=None)
    d.execute('pragma synchronous=off')
    return d
database().executescript('pragma journal_mode=wal; create table t(who, what)')
seen = []
def write(who):
    d = database()
    for i in range(50): d.execute('insert into t values (?, ?)', (who, i * who))
def read():
    d = database()
    last = 0
    while last < 200:
        now = d.execute('select count(*) from t').fetchone()[0]
        assert now >= last
        last = now
    seen.append(last)
all_threads = [threading.Thread(target=write, args=(w,)) for w in range(4)] + [threading.Thread(target=read) for _ in range(4)]
for t in all_threads: t.start()
for t in all_threads: t.join()
print(len(seen), database().execute('select count(*), sum(what) from t').fetchall())
'''
OPENBLAS = '''
import ctypes, hashlib, random, sys
blas = ctypes.CDLL(sys.argv[1])
n = 300
numbers = random.Random(1)
a, b, c = ((ctypes.c_double * (n * n))(*(numbers.random() for _ in range(n * n))) for _ in range(3))
one = ctypes.c_double(1)
for _ in range(20):
    blas.cblas_dgemm(101, 111, 111, n, n, n, one, a, n, b, n, ctypes.c_double(1e-3), c, n)
print(hashlib.sha1(bytes(c)).hexdigest())
'''


class Context:
    """What the cases of one run share: a folder with `file`, whose content is `data`."""

    def __init__(self, preload, folder, seed):
        numbers = random.Random(seed)
        self.preload, self.folder, self.file = preload, folder, os.path.join(folder, 'data')
        self.data = b''.join(b'%d %s\n' % (numbers.randrange(10**9), b'x' * numbers.randrange(40)) for _ in range(150_000))
        with open(self.file, 'wb') as out:
            out.write(self.data)

    def environment(self, workers):
        return {} if workers is None else {'LD_PRELOAD': self.preload, 'WEFT_WORKERS': str(workers)}

    def run(self, words, workers=None, read=None, folder=SOURCES, limit=120):
        """What it writes. `workers`: None: on the C library alone."""
        words = [w.replace('FILE', self.file) for w in words]
        done = subprocess.run(words, input=read, env={**os.environ, **self.environment(workers)}, capture_output=True, timeout=limit,
                              cwd=folder)
        if done.returncode != 0:
            said = (done.stdout[-1500:] + done.stderr[-500:]).decode(errors='replace')
            raise RuntimeError(f'{" ".join(words)[:100]} on {workers or "no"} workers: {done.returncode}: {said}')
        return done.stdout

    @functools.lru_cache(maxsize=None)  # pylint: disable=method-cache-max-size-none
    def on_libc(self, words):
        return self.run(list(words))


def expect(found, wanted):
    if found != wanted or not wanted:
        raise RuntimeError(f'wrote {found[:200]!r}, not {wanted[:200]!r}')


def expect_same(c, workers, *words):
    expect(c.run(list(words), workers), c.on_libc(words))


def pack(name, c, workers):
    words, unpack = PACKERS[name]
    expect(c.run(unpack, read=c.run(words, workers)), c.data)
    if name == 'xz':
        expect(c.run(['xz', '-d', '-T4', '-c'], workers, read=c.run(words)), c.data)


def git(c, workers):
    expect_same(c, workers, 'git', 'grep', '--no-index', '-c', '--threads=4', 'include')
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCES, os.path.join(folder, 'work'))
        for words in (['init', '-q'], ['add', '.'], ['-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-qm', 'all']):
            c.run(['git', *words], folder=os.path.join(folder, 'work'))
        c.run(['git', '-c', 'pack.threads=4', 'repack', '-adfq'], workers, folder=os.path.join(folder, 'work'))
        c.run(['git', 'fsck', '--strict'], workers, folder=os.path.join(folder, 'work'))
        expect(c.run(['git', 'status', '--porcelain', '-b'], folder=os.path.join(folder, 'work'))[:2], b'##')


def java(c, workers):
    file = os.path.join(c.folder, 'Threads.java')
    with open(file, 'w', encoding='ascii') as out:
        out.write(JAVA)
    expect_same(c, workers, 'java', file)


def sqlite(c, workers):
    expect_same(c, workers, 'sqlite3', ':memory:', SQL)
    with tempfile.TemporaryDirectory() as folder:
        expect(c.run([sys.executable, '-c', SQLITE, os.path.join(folder, 'db')], workers), b'4 [(200, 7350)]\n')


def openblas(c, workers):
    expect_same(c, workers, 'env', 'OPENBLAS_NUM_THREADS=4', sys.executable, '-c', OPENBLAS, glob.glob(OPENBLAS_LIBRARY)[0])


def cpp20(c, workers):
    program = os.path.join(c.folder, 'cpp20')
    if not os.path.exists(program):
        c.run(['g++', '-std=c++20', '-O1', '-pthread', '-I', ROOT, os.path.join(HERE, 'library_of_cpp.cpp'), '-o', program])
    for case in ('futures', 'atomic_waits', 'stopped', 'only_once', 'exit_unwinds', 'cancel_unwinds'):
        c.run([program, case], workers)


def curl(c, workers):
    """Names are looked up by threads of its own; eight addresses at once."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Length', str(len(c.data)))
            self.end_headers()
            self.wfile.write(c.data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            address = f'http://localhost:{server.server_port}/'
            expect(c.run(['curl', '-sS', '--noproxy', '*', address], workers), c.data)
            files = [os.path.join(c.folder, f'curl{i}') for i in range(8)]
            c.run(['curl', '-sS', '--noproxy', '*', '-Z', *(w for i, f in enumerate(files) for w in ('-o', f, f'{address}{i}'))], workers)
            for file in files:
                with open(file, 'rb') as got:
                    expect(got.read(), c.data)
        finally:
            server.shutdown()


def python_module(name, c, workers):
    """CPython's own tests of it. They look for themselves whether all was right."""
    with tempfile.TemporaryDirectory() as folder:
        c.run([SYSTEM_PYTHON, '-m', 'test', '-q', '-W', name], workers, folder=folder, limit=400)


def has_python_module(name):
    return any(os.path.exists(p) for ending in ('.py', '') for p in glob.glob(f'/usr/lib/python3.*/test/{name}{ending}'))


def once(*words):
    return lambda c, workers: c.run(list(words), workers)


def same(*words):
    return lambda c, workers: expect_same(c, workers, *words)


OPENBLAS_LIBRARY = '/usr/lib/*-linux-gnu/openblas-pthread/libopenblas.so.0'
# name: what has to be installed (the first is the program), the check. Programs that check themselves are run once.
CASES = {
    **{name: ([words[0], unpack[0]], functools.partial(pack, name)) for name, (words, unpack) in PACKERS.items()},
    'sort': (['sort'], same('sort', '--parallel=4', '-S', '1M', '-n', 'FILE')),
    'git': (['git'], git),
    'ripgrep': (['rg'], same('rg', '-j4', '--sort=path', '-c', 'include', '.')),
    'x264': (['x264'], same('x264', '--quiet', '--threads', '4', '--preset', 'ultrafast', '--demuxer', 'raw', '--input-res', '160x96',
                            '--frames', '60', '-o', '/dev/stdout', '--muxer', 'raw', 'FILE')),
    'OpenBLAS': ([OPENBLAS_LIBRARY, 'module _ctypes'], openblas),
    'C++20': (['g++'], cpp20),
    'sqlite': (['sqlite3', 'module _sqlite3'], sqlite),
    'perl': (['perl'], same('perl', '-e', PERL)),
    'java': (['java', 'javac'], java),
    'node': (['node'], same('node', '-e', NODE)),
    'curl': (['curl'], curl),
    'sysbench threads': (['sysbench'], once('sysbench', 'threads', '--threads=16', '--events=500', '--time=10', 'run')),
    'sysbench mutex': (['sysbench'], once('sysbench', 'mutex', '--threads=16', '--mutex-loops=1000', '--mutex-locks=1000', 'run')),
    'sysbench memory': (['sysbench'], once('sysbench', 'memory', '--threads=16', '--memory-total-size=1G', '--time=10', 'run')),
    'stress-ng pthread': (['stress-ng'], once('stress-ng', '--quiet', '--pthread', '1', '--pthread-ops', '300', '--timeout', '20')),
    # So many that its first thread cannot do them all before its creator goes on, which stress-ng takes for none created.
    'stress-ng mutex': (['stress-ng'], once('stress-ng', '--quiet', '--mutex', '1', '--mutex-ops', '300000', '--timeout', '20')),
    'stress-ng sem': (['stress-ng'], once('stress-ng', '--quiet', '--sem', '1', '--timeout', '1')),
    'Python': ([sys.executable], same(sys.executable, '-c', PYTHON)),
}
# Debian starts the servers that it installs.
SERVERS = {name: ([program], lambda c, workers, name=name: server_cases.run(name, c.environment(workers)))
           for name, (program, _, _) in server_cases.SERVERS.items()}
# Up to minutes each.
CPYTHON = {f'CPython {name}': ([SYSTEM_PYTHON, f'test {name}'], functools.partial(python_module, name))
           for name in ('test_threading', 'test_queue', 'test_concurrent_futures', 'test_thread', 'test_threadsignals',
                        'test_socketserver', 'test_fork1')}


def is_there(needed):
    if needed.startswith('test '):
        return has_python_module(needed[5:])
    if needed.startswith('module '):  # of the Python that runs this
        return importlib.util.find_spec(needed[7:]) is not None
    if '*' in needed:
        return bool(glob.glob(needed))
    return shutil.which(needed, path=server_cases.PATH) is not None
