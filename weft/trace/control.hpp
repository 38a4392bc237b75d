// SPDX-License-Identifier: MIT
// Recording switched on and off from outside, by the tool weft. A process listens only if WEFT_CONTROL=1 was
// in its environment when its first worker started; then one kernel thread of it sleeps in poll(2).
//
// Requests are lines of ASCII, at most 63 characters. Each is answered by "ok\n", or by "error " and a
// sentence:
//
//   trace start        record until `trace stop` on this connection; if that ends first, all is thrown away
//   trace start keep   record until `trace stop` on any connection
//   trace stop         end; after "ok <bytes>\n" that many bytes in the raw form (raw_file.hpp) follow
#pragma once

namespace weft::trace {

// Called once, when the first worker attaches. Contexts: thread, foreign kernel thread. Switches: never.
// Errors: said on stderr; nobody listens then.
void open_control_if_asked() noexcept;

// In the child of fork(), where the thread that listened is not.
void close_control_after_fork() noexcept;

} // namespace weft::trace
