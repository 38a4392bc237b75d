# SPDX-License-Identifier: MIT
"""MPICH's own test suite: which tests its folders list, and how their programs are compiled for an engine, in C, C++ and Fortran."""
import functools
import re
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

RANKS = 4
LINES = 2  # of one program
MEMORY = 4  # GiB
OTHERS = {'threads', 'ft', 'ckpoint', 'impls', 'manual'}  # of threads; of what only MPICH survives; of one engine; to be looked at
LISTS = ('testlist', 'testlist.dtp')
COMPILERS = {'.c': 'mpicc', '.cxx': 'mpicxx', '.f': 'mpif77', '.f90': 'mpifort'}
NAMES = {  # that MPI 3 has removed, which some programs use
    'openmpi': ['-DOMPI_OMIT_MPI1_COMPAT_DECLS=0', '-DOMPI_REMOVED_USE_STATIC_ASSERT=0'],
    'mpich': [],
}


@dataclass(frozen=True)
class Test:
    folder: str
    program: str
    ranks: int
    words: tuple
    environment: tuple
    launcher_words: tuple
    patience: float  # how many times the usual limit of time
    must_fail: bool  # by its exit status

    @property
    def title(self):
        return ' '.join((f'{self.folder}/{self.program}', str(self.ranks), *self.words, *('='.join(e) for e in self.environment)))


class Suite:
    """`root`: test/mpi of MPICH's source, configured for the engine. `abt`: the folder of the libabt.so by which programs make threads.
    `prefix`: where the engine is installed; else its compilers have Debian's names."""

    def __init__(self, root, engine, headers, abt=None, only=None, prefix=None):
        self.root, self.engine, self.only, self.prefix = root, engine, only, prefix
        self.abt = abt
        self.work = root / f'weft_{engine}{"_abt" if abt else ""}'
        self.work.mkdir(exist_ok=True)
        self.left_out = Counter()
        self.making = threading.Lock()
        include = self.include_for_abt() if abt else root / 'include'
        self.flags = ['-w', '-O1', '-DHAVE_CONFIG_H', f'-I{include}', f'-I{root}/dtpools/include', f'-I{root}/dtpools/src', *NAMES[engine]]
        self.libraries = ['-lm', '-lpthread']
        if abt:
            self.flags.append(f'-I{headers}')
            self.libraries += [f'-L{abt}', f'-Wl,-rpath,{abt}', '-labt']

    def include_for_abt(self):
        """The suite's headers, configured for Argobots' threads instead of Pthreads."""
        copy = self.work / 'include'
        copy.mkdir(exist_ok=True)
        for header in (self.root / 'include').glob('*.h'):
            (copy / header.name).write_text(header.read_text().replace('define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX',
                                                                       'define THREAD_PACKAGE_NAME THREAD_PACKAGE_ARGOBOTS'))
        return copy

    # --- what there is ---

    def folders(self, names):
        """Those that list tests, of these names and below them; with no names all that are of one thread."""
        found = []
        for name in names or sorted(p.name for p in self.root.iterdir() if p.is_dir() and p.name not in OTHERS | {self.work.name}):
            for listing in sorted(path for kind in LISTS for path in (self.root / name).rglob(kind)):
                folder = str(listing.parent.relative_to(self.root))
                if folder not in found and not folder.startswith('weft_'):
                    found.append(folder)
        return found

    def lines(self, folder):
        for name in LISTS:
            listing = self.root / folder / name
            for line in listing.read_text().splitlines() if listing.exists() else ():
                words = line.split('#')[0].split()
                if len(words) > 1 and words[1].isdigit() and self.only in (None, words[0]):
                    yield words

    def tests(self, folder):
        """Those that are run. What is not is counted in `left_out`, by the reason."""
        lines_of = Counter()
        for words in self.lines(folder):
            program, ranks, rest = words[0], int(words[1]), words[2:]
            marks = dict(w.split('=', 1) for w in rest if '=' in w and not w.startswith(('arg=', 'env=', 'mpiexecarg=')))
            launcher_words = tuple(w[11:] for w in rest if w.startswith('mpiexecarg='))
            reason = self.reason_against(program, ranks, marks, launcher_words)
            if reason is None and lines_of[program] == LINES:
                reason = f'line {LINES + 1} or later of a program'
            if reason is not None:
                self.left_out[reason] += 1
                continue
            lines_of[program] += 1
            yield Test(folder, program, ranks, tuple(w[4:] for w in rest if w.startswith('arg=')),
                       tuple(tuple(w[4:].split('=', 1)) for w in rest if w.startswith('env=')), launcher_words,
                       max(1, int(marks.get('timeLimit', 0)) / 180), 'resultTest' in marks)

    def reason_against(self, program, ranks, marks, launcher_words):
        if ranks > RANKS:
            return f'more than {RANKS} ranks'
        if 'xfail' in marks:
            return 'expected to fail'
        if float(marks.get('mem', 0)) > MEMORY:
            return f'more than {MEMORY} GiB'
        if launcher_words and self.engine != 'mpich':
            return "options of MPICH's launcher"
        if marks.get('resultTest') == 'TestStatusNoErrors' or program == 'timeout':
            return 'a rank or the launcher is to die'
        return None

    # --- how it is made ---

    @functools.cached_property
    def fortran_flags(self):
        """What ./configure found that the suite's Fortran needs."""
        return dict(re.findall(r'^(FFLAGS|FCFLAGS) *= *(.*)$', (self.root / 'Makefile').read_text(), re.M))

    def compiler(self, suffix):
        name = COMPILERS[suffix]
        return f'{self.prefix}/bin/{name}' if self.prefix else f'{name}.{self.engine}'

    def command(self, source):
        suffix = source.suffix
        words = [self.compiler(suffix), f'-I{source.parent}', f'-I{source.parent}/../attr', '-w']
        if suffix in ('.c', '.cxx'):
            return words + self.flags
        return words + self.fortran_flags.get('FFLAGS' if suffix == '.f' else 'FCFLAGS', '').split()

    def make(self, command, output):
        if output.exists():
            return True
        # Modules of Fortran come to lie beside what is made.
        done = subprocess.run([*command, '-o', str(output)], capture_output=True, text=True, errors='replace', cwd=output.parent)
        if done.returncode:
            with (self.work / 'errors.txt').open('a') as errors:
                errors.write(f'{output}: {done.stderr[:1200]}\n')
        return done.returncode == 0

    def compile(self, source, folder, definitions=(), name=None):
        """The object, or None."""
        output = folder / f'{name or source.stem}.o'
        return output if self.make([*self.command(source), *definitions, '-c', str(source)], output) else None

    @functools.cache
    def shared_object(self, name):
        return self.compile(self.root / 'util' / name, self.work)

    @functools.cached_property
    def common(self):
        """The objects that all programs in C and C++ are linked with."""
        pools = (self.compile(s, self.work) for s in sorted((self.root / 'dtpools/src').glob('*.c')))
        return [o for o in (self.shared_object('mtest_common.c'), self.shared_object('dtypes.c'), *pools) if o]

    def helpers(self, folder, suffixes):
        if '.f90' in suffixes:
            return [self.shared_object(f'mtest_{"f08" if "f08" in folder.split("/") else "f90"}.f90')]
        if '.f' in suffixes:
            return [self.shared_object('mtest_f77.f')]
        if '.cxx' in suffixes:
            return [self.shared_object('mtest_cxx.cxx'), *self.common]
        return [self.shared_object('mtest.c'), self.shared_object('mtest_thread.c' if folder.startswith('threads') else 'mtest_single.c'),
                *self.common]

    def source(self, folder, name):
        """Folders of Fortran 2008 use files in C of the older ones'."""
        places = [self.root / folder / name, *(self.root / language / Path(folder).name / name for language in ('f90', 'f77'))]
        return next((p for p in places if p.exists()), places[0])

    @functools.cache
    def rules(self, folder):
        """What the folder's makefile says: its sources' suffix; (sources, definitions) of programs of other files than their own name says."""
        listing = self.root / folder / 'Makefile.am'
        text = listing.read_text().replace('\\\n', ' ') if listing.exists() else ''
        suffix = re.search(r'^AM_DEFAULT_SOURCE_EXT\s*=\s*(\S+)', text, re.M)
        definitions = {name: re.findall(r'-D\S+', words) for name, words in re.findall(r'^(\w+)_CPPFLAGS\s*=(.*)$', text, re.M)}
        sources = {name: [self.source(folder, w) for w in words.split() if not w.endswith('.h')]
                   for name, words in re.findall(r'^(?:nodist_)?(\w+)_SOURCES\s*=(.*)$', text, re.M)}
        return suffix[1] if suffix else '.c', {name: (files, definitions.get(name, [])) for name, files in sources.items()}

    @functools.cache
    def generate(self, folder):
        """The programs of files in C++ and Fortran, which the suite makes of a template."""
        where = self.root / folder
        if (where / 'ioharness.defn').exists() and not (where / '.weft_generated').exists():
            subprocess.run(['perl', str(self.root / 'maint/testmerge'), f'-defn={self.root}/maint/common.defn', 'ioharness.defn',
                            'ioharness.tlt'], cwd=where, capture_output=True, check=False)
            (where / '.weft_generated').touch()

    def program(self, test):
        """Its path, or None: it does not compile."""
        with self.making:  # several tests are of one program
            self.generate(test.folder)
            suffix, rules = self.rules(test.folder)
            sources, definitions = rules.get(test.program, ([self.root / test.folder / f'{test.program}{suffix}'], []))
            if not all(s.exists() for s in sources):
                return None
            folder = self.work / test.folder.replace('/', '_')
            folder.mkdir(exist_ok=True)
            output = folder / test.program
            if output.exists():
                return output
            suffixes = {s.suffix for s in sources}
            objects = [self.compile(s, folder, definitions, f'{test.program}-{s.stem}') for s in sources] + self.helpers(test.folder, suffixes)
            linker = self.compiler(next((s for s in ('.f90', '.f', '.cxx') if s in suffixes), '.c'))
            if None in objects or not self.make([linker, *map(str, objects), *self.libraries], output):
                return None
            return output
