# SPDX-License-Identifier: MIT
"""Nearest neighbours with Faiss: by comparing with all, by cells, by a graph; those found by comparing with all are
compared with numpy's."""
import faiss
import numpy

r = numpy.random.default_rng(1)
points, asked = r.random((8000, 32), dtype='float32'), r.random((200, 32), dtype='float32')

flat = faiss.IndexFlatL2(32)
flat.add(points)
distances, exact = flat.search(asked, 5)
there = ((asked[:, None, :] - points[None, :, :]) ** 2).sum(2)
assert numpy.allclose(distances, numpy.sort(there, axis=1)[:, :5], rtol=1e-3), 'not the nearest'
print(distances.sum(), exact.sum())

cells = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 64)
cells.train(points)
cells.add(points)
cells.nprobe = 64  # all of them: the same as above
_, found = cells.search(asked, 5)
print((found == exact).mean())

graph = faiss.IndexHNSWFlat(32, 16)
graph.hnsw.efConstruction = 60
graph.add(points)
graph.hnsw.efSearch = 200
_, found = graph.search(asked, 1)
print((found[:, 0] == exact[:, 0]).mean() > 0.9)  # which links are made first is left to chance
