# SPDX-License-Identifier: MIT
"""What a program of tests/programs is, and how it is run: stock and over Weft, each with two threads and with four."""
import dataclasses
import functools
import importlib.metadata
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WHEELS = ROOT / 'build/wheels'  # a venv; `./do programs` makes it
RUNTIME = re.compile(r'/lib(gomp|omp|iomp5)[.-][^/]*$')  # of OpenMP, private copies of wheels among them
PATH_OF_DEBIAN = '/usr/bin:/bin:/usr/games:'  # before what may have been put in front of it
SET_BY_US = re.compile(r'^(OMP|GOMP|KMP|MKL|OPENBLAS|MAGICK|WEFT)_|^LD_(PRELOAD|LIBRARY_PATH)$')


class Failed(Exception):
    """What is wrong with a run."""


class NotFound(Exception):
    """Why a program cannot be run here."""


@dataclasses.dataclass
class Program:
    name: str
    steps: Callable  # steps(run): runs the commands; called anew for each way to run them
    debian: tuple = ()  # packages, all of them needed; the version of the first is what was tried
    wheels: tuple = ()  # of PyPI, the same
    quick: bool = False  # seconds altogether, and small: part of ./do test
    tolerance: float = 0  # relative, of the numbers in what it writes; 0: every byte is the same
    threads: tuple = (2, 4)
    limit: int = 120  # seconds a command
    stock: bool = True  # False: the stock runtime cannot run it
    slug: str = ''

    def __post_init__(self):
        self.slug = re.sub(r'[^a-z0-9]+', '_', self.name.lower()).strip('_')


PROGRAMS = []


def program(name, **what):
    def add(steps):
        PROGRAMS.append(Program(name, steps, **what))
        return steps
    return add


@functools.lru_cache(None)
def debian_version(package):
    if not shutil.which('dpkg-query'):
        return None
    asked = subprocess.run(['dpkg-query', '-W', '-f', '${Status}|${Version}', package], capture_output=True, text=True)
    status, _, version = asked.stdout.partition('|')
    return version if status == 'install ok installed' else None


@functools.lru_cache(None)
def wheel_version(package):
    found = importlib.metadata.distributions(name=package, path=[str(p) for p in WHEELS.glob('lib/python3*/site-packages')])
    return next((d.version for d in found), None)


def version_of(p):
    """Of what it is named for. Raises NotFound with what there is not."""
    lacking = [f'{name} of Debian' for name in p.debian if not debian_version(name)]
    lacking += [f'{name} of PyPI' for name in p.wheels if not wheel_version(name)]
    if lacking:
        raise NotFound('not installed: ' + ', '.join(lacking))
    return (wheel_version(p.wheels[0]) if p.wheels else debian_version(p.debian[0])) or ''


def build_witness(folder):
    library = folder / 'witness.so'
    subprocess.run(['cc', '-O2', '-shared', '-fPIC', '-fvisibility=hidden', HERE / 'witness.c', '-o', library], check=True)
    return library


def threads_of_session(session):
    """A line a kernel thread: process, thread, name, state, and where in the kernel it waits."""
    lines = []
    for task in pathlib.Path('/proc').glob('[0-9]*/task/[0-9]*'):
        try:
            if os.getsid(int(task.parts[2])) == session:
                state = task.joinpath('stat').read_text().rpartition(')')[2].split()[0]
                name, waits = (task.joinpath(f).read_text().strip() for f in ('comm', 'wchan'))
                lines.append(f'{task.parts[2]} {task.name} {name} {state} {waits}')
        except OSError:  # it has ended, or is another user's
            pass
    return '\n'.join(lines)


class Run:
    """One way to run a program: with the stock runtime or with Weft's, and so many threads."""

    def __init__(self, p, folder, threads, weft, witness):
        self.program, self.threads, self.weft, self.witness = p, threads, weft, witness
        self.shared = folder / 'input'  # the same for all ways
        self.folder = folder / f'{"weft" if weft else "stock"}.{threads}'
        self.seen = self.folder.with_suffix('.witness' + str(threads))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.shared.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True)
        self.seen.unlink(missing_ok=True)
        self.seconds = 0.0

    def input(self, name, make):
        """A file, which make(path) writes if it is not there yet."""
        path = self.shared / name
        if not path.exists():
            new = path.with_name('new.' + name)
            make(new)
            new.rename(path)
        return path

    def compiled(self, source, *words):
        """A C program of this folder."""
        def build(path):
            made = subprocess.run(['cc', '-O2', '-Wall', HERE / source, '-o', path, *words], capture_output=True, text=True)
            if made.returncode != 0:
                raise Failed(f'cc: {made.stderr.strip()}')
        return self.input(source.removesuffix('.c'), build)

    @staticmethod
    def prepare(*words):
        """Makes an input with a program."""
        made = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=100,
                              env={**os.environ, 'PATH': PATH_OF_DEBIAN + os.environ.get('PATH', '')})
        if made.returncode != 0:
            raise Failed(f'{words[0]}: {made.stderr.strip()}')

    def forget(self, *names):
        """What is not compared: it has times or numbers of processes in it."""
        for name in names:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def keep(self, *names):
        """Nothing but this is compared."""
        kept = {self.folder / name for name in names}
        for path in [p for p in self.folder.rglob('*') if p.is_file() and p not in kept]:
            path.unlink()

    def sort(self, name):
        path = self.folder / name
        path.write_text('\n'.join(sorted(path.read_text().splitlines())))

    def python(self, script, *words, **options):
        self(WHEELS / 'bin/python', HERE / script, *words, **options)

    def __call__(self, *words, out='', **more):
        """Runs a command in the folder of this way. `out` names a file for what it prints; `more` is environment."""
        words = [str(w) for w in words]
        before = self.seen.read_text() if self.seen.exists() else ''
        environment = {k: v for k, v in os.environ.items() if not SET_BY_US.match(k)}
        environment.update(PATH=PATH_OF_DEBIAN + environment.get('PATH', ''), LC_ALL='C', WITNESS=str(self.seen),
                           LD_PRELOAD=str(self.witness), OMP_NUM_THREADS=str(self.threads), HOME=str(self.shared), **more)
        start = time.monotonic()
        with open(self.folder.with_suffix(f'.said{self.threads}'), 'w+', errors='replace') as said, \
                open(self.folder / out if out else os.devnull, 'w') as file:
            child = subprocess.Popen((self.weft + words) if self.weft else words, cwd=self.folder, env=environment,
                                     stdin=subprocess.DEVNULL, stdout=file if out else said, stderr=said,
                                     start_new_session=True)
            stuck = []

            def end_it():
                stuck.append(threads_of_session(child.pid))
                os.killpg(child.pid, signal.SIGKILL)
            watch = threading.Timer(self.program.limit, end_it)
            watch.start()
            status = child.wait()  # without a limit of its own: that would look at most every 50 ms
            watch.cancel()
            watch.join()
            said.seek(0)
            end = said.read()[-1500:]
        self.seconds += time.monotonic() - start
        what = ' '.join(words)[:200]
        if stuck:
            raise Failed(f'{self}: no end after {self.program.limit} s: {what}\n{end}\n{stuck[0]}')
        if status != 0:
            raise Failed(f'{self}: status {status}: {what}\n{end}')
        if len(self.seen.read_text() if self.seen.exists() else '') == len(before):
            raise Failed(f'{self}: no process has told which threads it had: {what}')

    def __str__(self):
        return f'{"Weft" if self.weft else "stock"}, {self.threads} threads'

    def makers(self):
        """Library -> how many kernel threads it made, in all processes."""
        made = {}
        for number, name in re.findall(r'^threads (\d+) (.*)$', self.seen.read_text(), re.M):
            made[name] = made.get(name, 0) + int(number)
        return made

    def check_whose_regions(self, folder_of_ours):
        """The test is worth nothing if no region of more than one thread was opened, or by another runtime."""
        made = self.makers()
        others = {n: c for n, c in made.items() if RUNTIME.search(n) and not n.startswith(str(folder_of_ours))}
        ours = sum(c for n, c in made.items() if '/libweft' in n)
        if self.weft and others:
            raise Failed(f'{self}: regions of another runtime: {others}')
        if self.weft and not ours:
            raise Failed(f'{self}: Weft opened no region of two threads: {made}')
        if not self.weft and not others:
            raise NotFound(f'this build opens no region of two threads, over its own runtime either: {made}')


NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?')


def differ(a, b, tolerance):
    """Where two files differ, in words; nothing if they do not."""
    one, other = a.read_bytes(), b.read_bytes()
    if one == other:
        return ''
    if tolerance == 0:
        at = next((i for i, (x, y) in enumerate(zip(one, other)) if x != y), min(len(one), len(other)))
        return f'{len(one)} and {len(other)} bytes, the first that differs is {at}'
    one, other = one.decode(errors='replace'), other.decode(errors='replace')
    if NUMBER.sub('#', one) != NUMBER.sub('#', other):
        return 'other words'
    pairs = [(float(x), float(y)) for x, y in zip(NUMBER.findall(one), NUMBER.findall(other))]
    scale = max((abs(x) for x, _ in pairs), default=0)
    for x, y in pairs:
        # What is nearly nothing beside the largest number has no digits to compare.
        if not math.isclose(x, y, rel_tol=tolerance, abs_tol=tolerance * scale * 1e-3):
            return f'{x} and {y}, tolerance {tolerance}'
    return ''


def compare(stock, weft, tolerance):
    names = [sorted(str(f.relative_to(r.folder)) for f in r.folder.rglob('*') if f.is_file()) for r in (stock, weft)]
    if names[0] != names[1] or not names[0]:
        raise Failed(f'other files: {stock}: {names[0]}; {weft}: {names[1]}')
    for name in names[0]:
        how = differ(stock.folder / name, weft.folder / name, tolerance)
        if how:
            raise Failed(f'{name} differs between {stock} and {weft}: {how}')


def check(p, folder, weft, folder_of_ours, witness):
    """Runs it all ways, and compares. The seconds that each way took."""
    folder = folder / p.slug
    seconds = {}
    for threads in p.threads:
        ways = ([Run(p, folder, threads, None, witness)] if p.stock else []) + [Run(p, folder, threads, weft, witness)]
        for run in ways:
            p.steps(run)
            run.check_whose_regions(folder_of_ours)
            seconds[str(run)] = run.seconds
        compare(ways[0], ways[-1], p.tolerance)
    return seconds
