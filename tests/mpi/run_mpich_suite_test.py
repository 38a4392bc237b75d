#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_mpich_suite_test.py COMPILER LIBABT: run_mpich_suite --argobots over a suite of four programs and an engine, both made here: the
engine's compiler is the C compiler's, its launcher starts one rank, and its "Argobots" is a copy of Weft's libabt.so in another folder,
which the programs know by its path. Each program ends as its name says, and the runner counts it so."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = '''
#define _GNU_SOURCE
#include <abt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int is_on_theirs(void) {
  Dl_info info;
  return dladdr((void*)ABT_init, &info) != 0 && strstr(info.dli_fname, "/theirs/lib/") != NULL;
}
int main(int count, char** words) {
  ABT_init(count, words);
  const int good = %s;
  ABT_finalize();
  puts(good ? " No Errors" : "it went wrong");
  return 0;
}
'''
PROGRAMS = {'on_both': '1', 'on_weft': '!is_on_theirs()', 'on_theirs': 'is_on_theirs()', 'on_none': '0'}
SAID = """fails on both libraries (failed): threads/all/on_none 1
fails on Weft's libabt: threads/all/on_theirs 1
mpich: 2 of the 3 tests that count pass; of 5: 2 passed, 1 fails on Weft's libabt, 1 fails on both libraries, 1 not compiled"""


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def make_engine(prefix, compiler, libabt):
    theirs = prefix / 'theirs/lib'
    theirs.mkdir(parents=True)
    (prefix / 'theirs/include').symlink_to(HERE.parents[1] / 'front/abt')
    shutil.copy(libabt, theirs / 'libabt.so.1')  # its name for the loader
    (theirs / 'libabt.so').symlink_to('libabt.so.1')
    write(prefix / 'bin/mpicc', f'#!/bin/sh\nexec "{compiler}" "$@" -ldl\n', 0o755)
    write(prefix / 'bin/mpiexec', '#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nshift 2\nexec "$@"\n', 0o755)
    write(prefix / 'engine.c', 'extern int ABT_initialized(void);\nint engine(void) { return ABT_initialized(); }\n')
    (prefix / 'lib').mkdir()
    subprocess.run([compiler, '-shared', '-fPIC', prefix / 'engine.c', '-o', prefix / 'lib/libmpi.so', f'-L{theirs}', '-labt',
                    f'-Wl,-rpath,{theirs}'], check=True)


def make_suite(root):
    for source in ('util/mtest.c', 'util/mtest_thread.c', 'util/mtest_common.c', 'util/dtypes.c', 'dtpools/src/pool.c'):
        write(root / source, 'typedef int nothing;\n')
    write(root / 'include/config.h', '#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX\n')
    write(root / 'threads/all/testlist', ''.join(f'{name} 1\n' for name in [*PROGRAMS, 'not_there']))
    for name, good in PROGRAMS.items():
        write(root / f'threads/all/{name}.c', PROGRAM % good)


def main():
    compiler, libabt = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix='weft-suite-') as folder:
        prefix, root = Path(folder) / 'engine', Path(folder) / 'suite'
        make_engine(prefix, compiler, libabt)
        make_suite(root)
        done = subprocess.run([HERE / 'run_mpich_suite', root, 'mpich', libabt.resolve().parent, '--argobots', prefix, '--limit', '30', '--out', folder],
                              capture_output=True, text=True)
        print(done.stdout, done.stderr, *(path.read_text() for path in root.glob('weft_*/errors.txt')))
        missing = [line for line in SAID.splitlines() if line not in done.stdout.splitlines()]
        assert done.returncode == 1 and not missing, missing
        assert list(Path(folder).glob('mpich_suite_argobots_mpich-*.json'))


main()
