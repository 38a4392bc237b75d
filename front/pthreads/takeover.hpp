// SPDX-License-Identifier: MIT
// Which threads become Weft's: what the environment says of it, and what the program is.
#pragma once

namespace weft::pthreads {

/// Whether new threads are Weft's at all: not where WEFT_PTHREADS=off asks for it, nor in a sanitized
/// program, nor where the machine cannot preempt; the last two are said, by the first call. *Contexts*: all
/// but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] bool takes_threads_over() noexcept;

/// Whether a thread that begins in `code` is to be a kernel thread, as a pattern of WEFT_PTHREADS_NATIVE
/// matches the file that it lies in; of a std::thread, whose state is `argument`, the file that made it.
/// *Contexts*, *Switches*, *Errors*: as above; takes no lock of the loader's.
[[nodiscard]] bool is_native(const void* code, const void* argument) noexcept;
/// Whether a thread of that name is to have a kernel thread for itself. *Contexts*, *Switches*, *Errors*: as
/// above.
[[nodiscard]] bool is_native_name(const char* name) noexcept;

} // namespace weft::pthreads
