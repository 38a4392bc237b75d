// SPDX-License-Identifier: MIT
// Everything a program needs: threads, structured parallelism, synchronisation, pools and schedulers,
// tracing.
#pragma once

#include "weft/barrier.hpp"
#include "weft/blocking.hpp"
#include "weft/channel.hpp"
#include "weft/condition_variable.hpp"
#include "weft/delegator.hpp"
#include "weft/fork_join.hpp"
#include "weft/future.hpp"
#include "weft/io.hpp"
#include "weft/latch.hpp"
#include "weft/mutex.hpp"
#include "weft/parallel.hpp"
#include "weft/pool.hpp"
#include "weft/recursive_mutex.hpp"
#include "weft/runtime.hpp"
#include "weft/semaphore.hpp"
#include "weft/shared_mutex.hpp"
#include "weft/sleep.hpp"
#include "weft/suspend.hpp"
#include "weft/suspended_thread.hpp"
#include "weft/task_group.hpp"
#include "weft/thread.hpp"
#include "weft/thread_specific.hpp"
#include "weft/trace.hpp"
