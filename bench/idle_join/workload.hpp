// SPDX-License-Identifier: MIT
// idle_join: how long it takes to join an idle worker, or a unit pushed to one. Paused and reported as wakeup
// is; the joiner waits as the peer has it wait.
#pragma once

#include "bench/wakeup/workload.hpp"
