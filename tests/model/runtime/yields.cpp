// SPDX-License-Identifier: MIT
// What a thread that yields calls of the scheduler: its worker has nothing else; others run meanwhile.
#include "tests/model/checker/model.hpp"
#include "weft/sched/switch.hpp"

namespace weft::sched {
namespace {

[[noreturn]] void not_modelled() {
  model::fail("not modelled here: a worker with other threads");
}

} // namespace

void yield_slowly() {
  model::relax();
}
void yield_alone() {
  not_modelled();
}
void yield_without_successor() {
  not_modelled();
}
void yield_to_unstarted(descriptor&) {
  not_modelled();
}
void republish(void*) {
  not_modelled();
}

} // namespace weft::sched
