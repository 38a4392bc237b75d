// SPDX-License-Identifier: MIT
// switch_to with Boost.Context: its raw jump (fcontext) and its C++ class (fiber), main with one other
// context.
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fiber.hpp>
#include <cstdlib>

#include "bench/switch_to/workload.hpp"

namespace bench = weft::bench;
namespace context = boost::context;
using bench::switch_to::turns;

namespace {

struct shared {
  turns* t;
  std::size_t n;
};

void other(context::detail::transfer_t from) {
  const shared s = *static_cast<shared*>(from.data);
  for (std::size_t i = 0; i < s.n; ++i) {
    s.t->step(1);
    from = context::detail::jump_fcontext(from.fctx, nullptr);
  }
  std::abort();
}

void jump(turns& t, std::size_t n, std::vector<char>& stack) {
  shared s{&t, n};
  auto fctx = context::detail::make_fcontext(stack.data() + stack.size(), stack.size(), other);
  for (std::size_t i = 0; i < n; ++i) {
    t.step(0);
    fctx = context::detail::jump_fcontext(fctx, &s).fctx;
  }
}

void resume(turns& t, std::size_t n) {
  context::fiber f([&](context::fiber&& back) {
    for (std::size_t i = 0; i < n; ++i) {
      t.step(1);
      back = std::move(back).resume();
    }
    return std::move(back);
  });
  for (std::size_t i = 0; i < n; ++i) {
    t.step(0);
    f = std::move(f).resume();
  }
  f = std::move(f).resume();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::switch_to::defaults(), {"fcontext", "fiber"});
  std::vector<char> stack(64 * 1024);
  const bool raw = rec.form_is("fcontext");
  return bench::switch_to::run(rec, [&](turns& t) {
    if (raw) {
      jump(t, rec.opt().n, stack);
    } else {
      resume(t, rec.opt().n);
    }
  });
}
