# SPDX-License-Identifier: MIT
"""Nearest neighbours with pykdtree, of some points compared with numpy's."""
import numpy
from pykdtree.kdtree import KDTree

r = numpy.random.default_rng(1)
points, asked = r.random((40000, 3)), r.random((20000, 3))
distances, which = KDTree(points).query(asked, k=4)
there = numpy.sqrt(((asked[:50, None, :] - points[None, :, :]) ** 2).sum(2))
assert (numpy.argsort(there, axis=1)[:, :4] == which[:50]).all(), 'not the nearest'
print(distances.tobytes().hex()[:100000], which.sum())
