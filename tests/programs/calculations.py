# SPDX-License-Identifier: MIT
"""Libraries and programs that compute with numbers; simulations."""
import array
import math
import pathlib

from harness import program


@program('FFTW', debian=('libfftw3-dev',), quick=True, tolerance=1e-12)
def fftw(run):
    run(run.compiled('fftw.c', '-fopenmp', '-lfftw3_omp', '-lfftw3', '-lm'), run.threads, out='spectrum')


@program('OpenBLAS', debian=('libopenblas0-openmp',), quick=True, tolerance=1e-9)
def openblas(run):
    # Beside the library that the alternatives of the system may point to.
    folder = next(pathlib.Path('/usr/lib').glob('*/openblas-openmp'))
    run(run.compiled('openblas.c', '-fopenmp', f'-Wl,-rpath,{folder}', folder / 'libopenblas.so.0', '-lm'), out='solved')


@program('primecount', debian=('primecount-bin',), quick=True)
def primecount(run):
    run('primecount', '1e13', '--threads', run.threads, out='primes')


@program('GNU Octave', debian=('octave', 'libopenblas0-openmp'), tolerance=1e-8)
def octave(run):
    run('octave-cli', '--no-gui', '--quiet', '--eval',
        'n = 600; a = reshape(sin(1:n*n), n, n); b = a * a\' + n * eye(n); c = chol(b); x = b \\ (1:n)\';'
        'printf("%.12g\\n", norm(c\' * c - b) < 1e-8 * norm(b), x(1:60:n), sort(eig(b))(1:60:n))', out='solved')


@program('R, data.table', debian=('r-cran-data.table',))
def data_table(run):
    run('Rscript', '--vanilla', '-e',
        'library(data.table); setDTthreads(' + str(run.threads) + ', throttle = 1); set.seed(1); n <- 1e6;'
        'd <- data.table(k = sample(1000L, n, TRUE), v = sample(1e6L, n, TRUE));'
        'print(d[, .(s = sum(v), m = median(v)), keyby = k]); o <- d[order(v, k)]; print(o); fwrite(o[1:100000], "sorted.csv");'
        'print(all.equal(fread("sorted.csv"), o[1:100000], check.attributes = FALSE))', out='table')


@program('ngspice', debian=('ngspice',), tolerance=1e-6)
def ngspice(run):
    def circuit(path):
        stages = '\n'.join(f'M{i} n{i + 1} n{i} 0 0 nm W=1u L=0.1u\nR{i} vdd n{i + 1} 10k\nC{i} n{i + 1} 0 10f'
                           for i in range(101))
        path.write_text(f'chain\nVdd vdd 0 1.8\nVin n0 0 pulse(0 1.8 1n 0.1n 0.1n 5n 10n)\n{stages}\n'
                        f'.model nm nmos level=54 version=4.8\n.option noinit\n.control\nset num_threads={run.threads}\n'
                        'tran 0.05n 10n\nprint v(n10)[60] v(n50)[100] v(n100)[150]\nquit\n.endc\n.end\n')
    run('ngspice', '-b', run.input(f'chain{run.threads}.cir', circuit), out='voltages')
    voltages = run.folder / 'voltages'
    voltages.write_text('\n'.join(line for line in voltages.read_text().splitlines() if line.startswith('v(')))


@program('Normaliz', debian=('normaliz',))
def normaliz(run):
    def cone(path):
        rows = [[1 + (i * i * 7 + j * 5 + i * j * 3) % 11 for j in range(6)] for i in range(14)]
        path.write_text('amb_space 6\ncone 14\n' + '\n'.join(' '.join(map(str, row)) for row in rows) + '\nHilbertBasis\n')
    run('normaliz', f'-x={run.threads}', '--OutputDir=.', run.input('cone.in', cone))


@program('CDO', debian=('cdo',))
def cdo(run):
    for how in ('remapbil,r180x90', 'smooth', 'remapcon,n16'):
        run('cdo', '-P', run.threads, '-f', 'ext', how, '-topo', how.split(',')[0])


@program('zfp', debian=('zfp',), quick=True)
def zfp(run):
    def field(path):
        path.write_bytes(array.array('d', (math.sin(i * 0.01) + (i % 97) / 30 for i in range(64 * 64 * 32))).tobytes())
    run('zfp', '-d', '-3', '64', '64', '32', '-x', f'omp={run.threads}', '-a', '1e-4', '-i', run.input('field', field), '-z', 'packed')
    run('zfp', '-d', '-3', '64', '64', '32', '-a', '1e-4', '-z', 'packed', '-o', 'unpacked')


LAMMPS = '''units lj
atom_style charge
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.5 87287
mass * 1.0
set type 1 charge 0.5
set type 2 charge -0.5
velocity all create 1.44 87287 loop geom
pair_style lj/cut/coul/long 2.5
pair_coeff * * 1.0 1.0
kspace_style pppm 1e-5
fix 1 all nve
dump 1 all custom/mpiio 20 forces id type fx fy fz
dump_modify 1 sort id format float %.8g
run 40
'''


# Debian's has regions where it sums charges and where it writes.
@program('LAMMPS', debian=('lammps',), tolerance=1e-5)
def lammps(run):
    run('lmp', '-log', 'none', '-screen', 'none', '-in', run.input('melt.in', lambda path: path.write_text(LAMMPS)),
        OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')


MOLECULES = '''#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
SOL 216
'''
DYNAMICS = '''integrator = md
nsteps = 50
dt = 0.001
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
gen-vel = yes
gen-temp = 300
gen-seed = 1
constraints = h-bonds
nstenergy = 10
nstcalcenergy = 10
'''


def water(run, ranks):
    topology = run.input('water.top', lambda path: path.write_text(MOLECULES))
    settings = run.input('md.mdp', lambda path: path.write_text(DYNAMICS))
    system = run.input('water.tpr', lambda path: run.prepare(
        'gmx', 'grompp', '-f', settings, '-c', '/usr/share/gromacs/top/spc216.gro', '-p', topology, '-o', f'{path}.tpr',
        '-po', f'{path}.mdp', '-maxwarn', '2') or path.with_name(path.name + '.tpr').rename(path))
    run('gmx', '-quiet', 'mdrun', '-s', system, '-ntmpi', ranks, '-ntomp', run.threads, '-nb', 'cpu', '-reprod', '-deffnm', 'md')
    run.prepare('sh', '-c', 'printf "Potential\\nTotal-Energy\\nPressure\\n\\n" | gmx -quiet energy -xvg none '
                f'-f {run.folder}/md.edr -o {run.folder}/energy.xvg')
    run.keep('energy.xvg')


# The times of single steps part after some dozens, whichever the runtime: molecules are chaotic.
@program('GROMACS', debian=('gromacs',), tolerance=1e-3)
def gromacs(run):
    water(run, 1)


@program('GROMACS, two ranks', debian=('gromacs',), tolerance=1e-3)
def gromacs_ranks(run):
    water(run, 2)
