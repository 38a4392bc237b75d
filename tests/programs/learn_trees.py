# SPDX-License-Identifier: MIT
"""usage: learn_trees.py xgboost|lightgbm THREADS: boosted trees, and what they predict; from two Python threads too."""
import concurrent.futures
import sys

import numpy

library, threads = sys.argv[1], int(sys.argv[2])
r = numpy.random.default_rng(1)
points = r.normal(size=(20000, 12))
target = points[:, 0] * points[:, 1] + numpy.sin(3 * points[:, 2]) + points[:, 3]


def predicted(_=0):
    if library == 'xgboost':
        import xgboost
        data = xgboost.DMatrix(points, label=target, nthread=threads)
        model = xgboost.train({'nthread': threads, 'tree_method': 'hist', 'max_depth': 6, 'seed': 1}, data, 30)
        return model.predict(data)
    import lightgbm
    data = lightgbm.Dataset(points, label=target)
    model = lightgbm.train({'num_threads': threads, 'verbosity': -1, 'deterministic': True, 'force_row_wise': True, 'seed': 1},
                           data, 30)
    return model.predict(points)


first = predicted()
print(numpy.square(first - target).mean(), *first[:2000:100], sep='\n')
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for other in pool.map(predicted, range(2)):
        assert numpy.allclose(other, first, rtol=1e-3, atol=1e-3), abs(other - first).max()
