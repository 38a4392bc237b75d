// SPDX-License-Identifier: MIT
#include "front/mpi/engine.hpp"

#include "front/mpi/process.hpp"
#include "weft/door/process.hpp"

namespace weft::mpi {
namespace {

weft::mutex& turns() noexcept {
  return door::immortal<weft::mutex>();
}

} // namespace

bool engine_is_shared() noexcept {
  return granted_level() == MPI_THREAD_MULTIPLE;
}

engine_section::engine_section() : turns_(engine_is_shared() ? nullptr : &turns()) {
  if (turns_ != nullptr)
    turns_->lock(); // SWITCH: may resume on another worker
}

engine_section::~engine_section() {
  if (turns_ != nullptr)
    turns_->unlock();
}

engine_attempt::engine_attempt()
    : turns_(engine_is_shared() ? nullptr : &turns()), has_turn_(turns_ == nullptr || turns_->try_lock()) {}

engine_attempt::~engine_attempt() {
  if (turns_ != nullptr && has_turn_)
    turns_->unlock();
}

} // namespace weft::mpi
