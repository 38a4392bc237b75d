# SPDX-License-Identifier: MIT
"""Python packages of PyPI, with the copies of libgomp that their wheels bring."""
from harness import program


@program('scikit-learn', wheels=('scikit-learn',), quick=True, tolerance=1e-3)
def scikit_learn(run):
    run.python('learn_sklearn.py', out='learnt')


# The stock runtime hangs in the child: there the child's results are compared with the parent's.
@program('scikit-learn in a forked child', wheels=('scikit-learn',), quick=True, stock=False)
def scikit_learn_forked(run):
    run.python('learn_sklearn.py', 'fork', out='learnt')


@program('XGBoost', wheels=('xgboost-cpu', 'scikit-learn'), tolerance=1e-4)
def xgboost(run):
    run.python('learn_trees.py', 'xgboost', run.threads, out='learnt')


@program('LightGBM', wheels=('lightgbm', 'scikit-learn'), tolerance=1e-4)
def lightgbm(run):
    run.python('learn_trees.py', 'lightgbm', run.threads, out='learnt')


@program('Faiss', wheels=('faiss-cpu',), tolerance=1e-3)
def faiss(run):
    run.python('learn_faiss.py', out='found')


@program('pykdtree', wheels=('pykdtree', 'numpy'), quick=True)
def pykdtree(run):
    run.python('learn_nearest.py', out='found')


@program('PySCF', wheels=('pyscf',), tolerance=1e-7)
def pyscf(run):
    run.python('learn_molecule.py', out='energies')


@program('Intel MKL, over libiomp5', wheels=('mkl', 'numpy'), tolerance=1e-8)
def mkl_intel(run):
    run.python('call_mkl.py', 'intel', run.threads, out='solved')


@program('Intel MKL, over libgomp', wheels=('mkl', 'numpy'), tolerance=1e-8)
def mkl_gnu(run):
    run.python('call_mkl.py', 'gnu', run.threads, out='solved')
