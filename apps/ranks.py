# SPDX-License-Identifier: MIT
"""Programs named PROGRAM.ENGINE as ranks of that engine's jobs on this machine: for the scripts that compare them."""
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'bench'))
import run as bench  # noqa: E402

LAUNCH = {
    'openmpi': ['mpiexec.openmpi', '--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '0', '--mca', 'btl', 'self,vader',
                '--mca', 'pml', 'ob1'],
    'mpich': ['mpiexec.mpich', '-iface', 'lo', '-bind-to', 'none'],
}
NO_ENGINE = 77


def engines(folder, program):
    """Those for which the program was built. Without any: says so, and ends with the code of a test that is left out."""
    found = [engine for engine in LAUNCH if (folder / f'{program}.{engine}').exists()]
    if not found:
        print(f'neither Open MPI nor MPICH was found when Weft was built: {folder} has no {program}.openmpi and no {program}.mpich')
        sys.exit(NO_ENGINE)
    return found


def share_of_others(of):
    """What `of()` returns, and the share of all CPUs that others had meanwhile."""
    began, (everything, own) = time.monotonic(), bench.cpu_seconds()
    result = of()
    now, (everything_now, own_now) = time.monotonic(), bench.cpu_seconds()
    return result, max(0, everything_now - everything - (own_now - own)) / ((now - began) * len(os.sched_getaffinity(0)))


def wait_for_quiet(seconds):
    """Until others leave nine tenths of the CPUs alone, or so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and share_of_others(lambda: time.sleep(0.2))[1] > 0.1:
        pass


def launch(program, engine, ranks, words, timeout, environment):
    """What subprocess.run() gives; None: it took too long. `program`: its path without the engine."""
    try:
        return subprocess.run([*LAUNCH[engine], '-n', str(ranks), f'{program}.{engine}', *words], capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
                                                    **environment})
    except subprocess.TimeoutExpired:
        return None


def run_job(program, engine, ranks, words, workers, timeout, with_layer=True):
    """The JSON object that rank 0 prints; None, and a line that says why, if it failed. `program`: its path without the engine."""
    words = list(map(str, words))
    done = launch(program, engine, ranks, words, timeout, {'WEFT_WORKERS': str(workers), **({} if with_layer else {'WEFT_MPI': '0'})})
    if done is None:
        return None, f'{" ".join(words)}: more than {timeout} s'
    lines = [line for line in done.stdout.splitlines() if line.startswith('{')]
    if done.returncode != 0 or len(lines) != 1:
        # The launcher adds words of its own.
        own = [line for line in done.stderr.splitlines() if line.startswith(f'{pathlib.Path(program).name}:')]
        return None, f'{" ".join(words)}: {own[0] if own else done.stderr.strip()[-300:] or done.returncode}'
    return json.loads(lines[0]), ''


def add_options(parser, folder):
    parser.add_argument('--bin', type=pathlib.Path, default=pathlib.Path(f'build/release/apps/{folder}'))
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--output', type=pathlib.Path)
    parser.add_argument('--dirty', action='store_true', help='into bench/results although the tree has changes')


def parse(parser):
    options = parser.parse_args()
    options.out, options.quick = options.output, False  # as bench/run.py names them
    options.bin = options.bin.resolve()
    return options


def begin(options, suite, *facts):
    """What stands in a file of bench/results beside its results; its `facts` are options. Ends the program if the tree is not clean."""
    if options.output:
        bench.require_clean(options)
    start = datetime.datetime.now(datetime.timezone.utc)
    return start, {**bench.facts(suite, start, options.bin), 'quick': False, 'passes': options.rounds,
                   **{fact: getattr(options, fact) for fact in facts}}


def end(options, start, data, wrong, results):
    """Prints what was wrong, and writes the file. The exit status."""
    print(*wrong, sep='\n')
    if options.output:
        print(f'{bench.write_results(options, data["suite"], start, {**data, "failures": wrong, "results": results})}.json')
    return 1 if wrong else 0
