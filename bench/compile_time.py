#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compile_time.py [--runs N] [--cxx COMPILER] [--cc COMPILER] -- what a program pays the compiler for each way to
have threads: the same program, ten threads that add to a sum under a lock, compiled with -O2. CPU seconds of
the compiler, median and least of N runs taken in turn, and lines after preprocessing."""
import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

PTHREADS = """#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void* add(void* n) {
  pthread_mutex_lock(&lock);
  sum += (long)n;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t threads[10];
  for (long i = 0; i < 10; ++i)
    pthread_create(&threads[i], 0, add, (void*)i);
  for (int i = 0; i < 10; ++i)
    pthread_join(threads[i], 0);
  return sum != 45;
}
"""
ABT = """#include "front/abt/abt.h"
static ABT_mutex lock;
static long sum;
static void add(void* n) {
  ABT_mutex_lock(lock);
  sum += (long)n;
  ABT_mutex_unlock(lock);
}
int main(int argc, char** argv) {
  ABT_init(argc, argv);
  ABT_mutex_create(&lock);
  ABT_xstream stream;
  ABT_pool pool;
  ABT_self_get_xstream(&stream);
  ABT_xstream_get_main_pools(stream, 1, &pool);
  ABT_thread threads[10];
  for (long i = 0; i < 10; ++i)
    ABT_thread_create(pool, add, (void*)i, ABT_THREAD_ATTR_NULL, &threads[i]);
  for (int i = 0; i < 10; ++i)
    ABT_thread_free(&threads[i]);
  ABT_mutex_free(&lock);
  ABT_finalize();
  return sum != 45;
}
"""
BODY = """
long sum = 0;
rt::mutex* lock = nullptr;
void add(long n) {
  lock->lock();
  sum += n;
  lock->unlock();
}
int work() {
  rt::mutex m;
  lock = &m;
  rt::thread threads[10];
  for (long i = 0; i < 10; ++i)
    threads[i] = rt::thread([i] { add(i); });
  for (auto& t : threads)
    t.join();
  return sum != 45;
}
"""
STD = "#include <mutex>\n#include <thread>\nnamespace rt = std;" + BODY + "int main() { return work(); }\n"
LIBWEFT = ("#include <weft/mutex.hpp>\n#include <weft/thread.hpp>\nnamespace rt = weft;" + BODY +
           "int main() { return work(); }\n")
LIGHT = '#include <weft/light.hpp>\nnamespace rt = weft::light;' + BODY + "int main() { return work(); }\n"
PAGE = ("#include <weft/compose.hpp>\nusing rt = weft::compose::runtime<weft::compose::default_policies>;" + BODY +
        "int main() { return rt::run(work); }\n")
COMPOSED = ("#include <weft/compose.hpp>\nstruct page : weft::compose::default_policies {\n"
            "  template <class Unit>\n  using ready_queue = weft::compose::locked_fifo<Unit>;\n};\n"
            "using rt = weft::compose::runtime<page>;" + BODY + "int main() { return rt::run(work); }\n")

PROGRAMS = [
    ("C, pthread.h", "c", PTHREADS),
    ("C, abt.h", "c", ABT),
    ("C++, abt.h", "cpp", ABT),
    ("C++, <thread>, <mutex>", "cpp", STD),
    ("C++, weft/thread.hpp, weft/mutex.hpp", "cpp", LIBWEFT),
    ("C++, weft/light.hpp", "cpp", LIGHT),
    ("C++, weft/compose.hpp, the default page", "cpp", PAGE),
    ("C++, weft/compose.hpp, a page of one's own", "cpp", COMPOSED),
]


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(runs, cxx, cc):
    """For each program its title, CPU seconds (median, least) and lines."""
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for number, (_, suffix, text) in enumerate(PROGRAMS):
            source = pathlib.Path(folder, f"{number}.{suffix}")
            source.write_text(text)
            language = [cxx, "-std=c++20"] if suffix == "cpp" else [cc, "-std=c17"]
            commands.append([*language, "-O2", f"-I{ROOT}", str(source)])
        samples = [[] for _ in commands]
        for _ in range(runs + 1):  # in turn, so that a busy moment hits all; the first run warms the caches
            for taken, command in zip(samples, commands):
                taken.append(cpu_seconds([*command, "-c", "-o", "/dev/null"]))
        lines = [subprocess.run([*command, "-E", "-P"], check=True, capture_output=True, text=True).stdout.count("\n")
                 for command in commands]
    return [{"program": title, "median": statistics.median(taken[1:]), "least": min(taken[1:]), "lines": count}
            for (title, *_), taken, count in zip(PROGRAMS, samples, lines)]


def print_table(rows):
    print(f"{'program':46}{'median s':>10}{'least s':>10}{'lines':>10}")
    for row in rows:
        print(f"{row['program']:46}{row['median']:10.3f}{row['least']:10.3f}{row['lines']:10}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--cc", default="gcc")
    wanted = parser.parse_args(arguments)
    print_table(measure(wanted.runs, wanted.cxx, wanted.cc))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"compile_time: {error}")
