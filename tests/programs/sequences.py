# SPDX-License-Identifier: MIT
"""Sequences of genes and proteins, and other texts."""
from harness import program
from inputs import AMINO_ACIDS, aligned, family, messages, noise_bytes, reads


@program('Clustal Omega', debian=('clustalo',), quick=True)
def clustalo(run):
    proteins = run.input('proteins.fa', family(16, 80, AMINO_ACIDS))
    run('clustalo', '--threads', run.threads, '-i', proteins, '-o', 'aligned.fa')


@program('FastTree', debian=('fasttree',), quick=True, tolerance=1e-3)
def fasttree(run):
    run('fasttreeMP', '-nt', '-quiet', run.input('aligned.fa', aligned(60, 200, 'ACGT')), out='tree')


@program('Kalign', debian=('kalign',), quick=True)
def kalign(run):
    proteins = run.input('proteins.fa', family(120, 150, AMINO_ACIDS))
    run('kalign', '-i', proteins, '-o', 'aligned.fa')


@program('CD-HIT', debian=('cd-hit',), quick=True)
def cd_hit(run):
    proteins = run.input('proteins.fa', family(2000, 150, AMINO_ACIDS, share=0.05, families=80))
    run('cd-hit', '-T', run.threads, '-c', '0.8', '-i', proteins, '-o', 'clusters')


@program('MUSCLE', debian=('muscle',))
def muscle(run):
    proteins = run.input('proteins.fa', family(24, 120, AMINO_ACIDS))
    run('muscle', '-threads', run.threads, '-align', proteins, '-output', 'aligned.fa')


@program('MMseqs2', debian=('mmseqs2',))
def mmseqs2(run):
    proteins = run.input('proteins.fa', family(400, 120, AMINO_ACIDS, share=0.1, families=20))
    run('mmseqs', 'easy-cluster', proteins, 'clusters', 'tmp', '--threads', run.threads)
    run.keep('clusters_cluster.tsv')
    run.sort('clusters_cluster.tsv')  # with more threads they come in any order, with the stock runtime too


@program('SUMACLUST', debian=('sumaclust',), quick=True)
def sumaclust(run):
    run('sumaclust', '-p', run.threads, run.input('genes.fa', family(400, 120, 'acgt', share=0.03, families=20)), out='clusters')


@program('andi', debian=('andi',), quick=True)
def andi(run):
    run('andi', '-t', run.threads, run.input('genomes.fa', family(12, 20000, 'ACGT', share=0.05)), out='distances')


@program('phylonium', debian=('phylonium',), quick=True)
def phylonium(run):
    genomes = []
    for i in range(8):
        genomes.append(run.input(f'genome{i}.fa', lambda path, i=i: family(1, 20000, 'ACGT', share=0.01 * i)(path)))
    run('phylonium', '-t', run.threads, *genomes, out='distances')


@program('Velvet', debian=('velvet',))
def velvet(run):
    pieces = run.input('reads.fa', reads(20000, 80, 40000))
    run('velveth_de', 'assembled', '21', '-short', pieces)
    run('velvetg_de', 'assembled', '-cov_cutoff', '2')
    run.keep('assembled/contigs.fa', 'assembled/stats.txt')


@program('IQ-TREE', debian=('iqtree',), tolerance=1e-3, threads=(2,))  # it refuses more than there are CPUs
def iqtree(run):
    genes = run.input('aligned.fa', aligned(10, 300, 'ACGT'))
    run('iqtree2', '-s', genes, '-m', 'JC', '-fast', '-T', run.threads, '-seed', '1', '--prefix', 'tree', '-quiet')
    run.keep('tree.treefile')


@program('MEGAHIT', debian=('megahit',))
def megahit(run):
    pieces = run.input('reads.fa', reads(20000, 80, 40000))
    run('megahit', '-t', run.threads, '-r', pieces, '-o', 'assembled', '--k-list', '21,29')
    run.keep('assembled/final.contigs.fa')


@program('SPAdes', debian=('spades',))
def spades(run):
    pieces = run.input('reads.fa', reads(8000, 80, 16000))
    run('spades.py', '--only-assembler', '-t', run.threads, '-m', '4', '-k', '21', '-s', pieces, '-o', 'assembled')
    run.keep('assembled/contigs.fasta')


@program('NCBI BLAST+', debian=('ncbi-blast+',))
def blast(run):
    proteins = run.input('proteins.fa', family(2000, 150, AMINO_ACIDS, share=0.2, families=80))
    asked = run.input('asked.fa', family(40, 150, AMINO_ACIDS, share=0.1, families=80))
    run.prepare('makeblastdb', '-in', proteins, '-dbtype', 'prot', '-out', run.folder / 'known')
    run('blastp', '-num_threads', run.threads, '-query', asked, '-db', 'known', '-out', 'hits', '-outfmt', '6')
    run.keep('hits')


@program('par2', debian=('par2',), quick=True)
def par2(run):
    data = run.input('data', noise_bytes(3_000_000))
    (run.folder / 'data').write_bytes(data.read_bytes())
    run('par2', 'create', f'-t{run.threads}', '-r10', '-s20000', 'data')
    (run.folder / 'data').write_bytes(data.read_bytes()[:1_000_000] + bytes(90_000) + data.read_bytes()[1_090_000:])
    run('par2', 'repair', f'-t{run.threads}', 'data.par2')


@program('gettext\'s msgmerge', debian=('gettext',), quick=True)
def msgmerge(run):
    old, new = run.input('old.po', messages(900, False)), run.input('new.pot', messages(900, True))
    run('msgmerge', '--no-location', '-o', 'merged.po', old, new)
