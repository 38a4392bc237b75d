// SPDX-License-Identifier: MIT
// Which worker of which composed runtime the calling code runs on.
#pragma once

#include <system_error>

#include "weft/arch/arch.hpp"
#include "weft/base/export.hpp"

namespace weft::compose {

// The part of a worker that does not depend on its page. `page` tells the runtimes of a process apart: code
// of one that is called on a worker of another, or on no worker, is told so instead of reading a stranger's
// fields.
struct face {
  const void* page = nullptr;
};

inline constinit face no_worker{};

// One slot a kernel thread, for all composed runtimes; libweft has its own. Constant initialisation, so that
// no access calls a function; never read by name, see current_face().
extern "C" {
[[gnu::used, gnu::tls_model("initial-exec")]] inline WEFT_API constinit thread_local face* weft_compose_here =
    &no_worker;
}

// Its address names the page.
template <class P>
inline char page_mark = 0;

// Opaque to the compiler: it may change at every switch.
[[gnu::always_inline]] inline face& current_face() noexcept {
  face* f;
  WEFT_READ_TLS(f, weft_compose_here);
  return *f;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_outside() {
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          "weft: this runtime's threads, locks and waits are for code inside its run()");
}

// The worker of page P that the caller runs on. Errors: std::system_error(operation_not_permitted) where that
// is none.
template <class P, class Worker>
[[gnu::always_inline]] inline Worker& checked_worker() {
  face& f = current_face();
  if (f.page != &page_mark<P>) [[unlikely]]
    throw_outside();
  return static_cast<Worker&>(f);
}

} // namespace weft::compose
