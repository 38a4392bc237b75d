// SPDX-License-Identifier: MIT
#include "front/mpi/engine.hpp"

#include "weft/door/process.hpp"

namespace weft::mpi {
namespace {

weft::mutex& turns() noexcept {
  return door::immortal<weft::mutex>();
}

} // namespace

weft::mutex& engine_section::take_turn() {
  weft::mutex& all = turns();
  all.lock(); // SWITCH: may resume on another worker
  return all;
}

engine_attempt::engine_attempt()
    : turns_(engine_is_shared() ? nullptr : &turns()), has_turn_(turns_ == nullptr || turns_->try_lock()) {}

engine_attempt::~engine_attempt() {
  if (turns_ != nullptr && has_turn_)
    turns_->unlock();
}

} // namespace weft::mpi
