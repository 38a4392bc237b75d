// SPDX-License-Identifier: MIT
// FFTW's OpenMP build: transforms there and back, of one and of three dimensions; the spectrum is printed.
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double round_trip(const char* name, int rank, const int* sizes) {
  long count = 1;
  for (int d = 0; d < rank; ++d)
    count *= sizes[d];
  fftw_complex* const in = fftw_alloc_complex((size_t)count);
  fftw_complex* const out = fftw_alloc_complex((size_t)count);
  fftw_plan there = fftw_plan_dft(rank, sizes, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_plan_dft(rank, sizes, out, in, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (long i = 0; i < count; ++i) {
    in[i][0] = sin((double)i * 0.37) + (double)(i % 17);
    in[i][1] = cos((double)i * 0.11);
  }
  double worst = 0;
  for (int turn = 0; turn < 10; ++turn) {
    fftw_execute(there);
    if (turn == 9) {
      for (long i = 0; i < count; i += count / 50)
        printf("%s %ld %.15g %.15g\n", name, i, out[i][0], out[i][1]);
    }
    fftw_execute(back);
    for (long i = 0; i < count; ++i) {
      in[i][0] /= (double)count;
      in[i][1] /= (double)count;
      worst = fmax(worst, fabs(in[i][0] - sin((double)i * 0.37) - (double)(i % 17)));
      worst = fmax(worst, fabs(in[i][1] - cos((double)i * 0.11)));
    }
  }
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(in);
  fftw_free(out);
  return worst;
}

int main(int argc, char** argv) {
  if (argc != 2 || fftw_init_threads() == 0)
    return 2;
  fftw_plan_with_nthreads(atoi(argv[1]));
  const double line = round_trip("line", 1, (int[]){1 << 18});
  const double cube = round_trip("cube", 3, (int[]){64, 48, 40});
  if (line > 1e-11 || cube > 1e-11) {
    fprintf(stderr, "what came back differs by %g, %g\n", line, cube);
    return 1;
  }
  return 0;
}
