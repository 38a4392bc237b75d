// SPDX-License-Identifier: MIT
// A five-point stencil on a square: each step sets every cell to the mean of itself and its four neighbours.
// The square is cut into blocks; stencil_*.c run the same blocks in six ways and compare with a plain loop.
#pragma once

#include <string.h>

#include "samples.h"

enum {
  SIDE = 128,  // cells
  BLOCK = 16,  // cells along the side of a block
  ACROSS = SIDE / BLOCK,
  BLOCKS = ACROSS * ACROSS,
  STEPS = 20
};

// Step k reads plane k % 2 and writes the other; the rim is fixed. So a block may do step k as soon as its
// neighbours have done step k - 1: then they have read what it is about to write over.
struct stencil {
  double cells[2][SIDE + 2][SIDE + 2];
};

static inline void stencil_begin(struct stencil* s) {
  memset(s, 0, sizeof *s);
  for (int plane = 0; plane < 2; ++plane) {
    for (int x = 0; x < SIDE + 2; ++x) s->cells[plane][0][x] = 100.0; // hot above, cold elsewhere
  }
}

static inline void stencil_block(struct stencil* s, int block, int step) {
  const int top = 1 + block / ACROSS * BLOCK, left = 1 + block % ACROSS * BLOCK;
  double (*from)[SIDE + 2] = s->cells[step % 2];
  double (*to)[SIDE + 2] = s->cells[(step + 1) % 2];
  for (int y = top; y < top + BLOCK; ++y) {
    for (int x = left; x < left + BLOCK; ++x) {
      to[y][x] = 0.2 * (from[y][x] + from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
    }
  }
}

// The blocks that touch this one: two at a corner, three at the rim, four inside.
static inline int stencil_neighbours(int block, int found[4]) {
  const int y = block / ACROSS, x = block % ACROSS;
  int count = 0;
  if (y > 0) found[count++] = block - ACROSS;
  if (y < ACROSS - 1) found[count++] = block + ACROSS;
  if (x > 0) found[count++] = block - 1;
  if (x < ACROSS - 1) found[count++] = block + 1;
  return count;
}

// A block at a step, as the argument of a unit.
struct work {
  struct stencil* on;
  int block;
  int step;
};

static inline void do_work(void* work) {
  const struct work* w = work;
  stencil_block(w->on, w->block, w->step);
}

// The same operations in the same order give the same bits.
static inline void stencil_check(const struct stencil* s, const char* how) {
  static struct stencil plain;
  stencil_begin(&plain);
  for (int step = 0; step < STEPS; ++step) {
    for (int block = 0; block < BLOCKS; ++block) stencil_block(&plain, block, step);
  }
  CHECK(memcmp(s, &plain, sizeof plain) == 0);
  printf("%d steps of %d blocks by %s: a cell near the hot side is at %.6f\n", STEPS, BLOCKS, how,
         s->cells[STEPS % 2][SIDE / 16][SIDE / 2]);
}
