// SPDX-License-Identifier: MIT
// Calls on descriptors that suspend the thread instead of its worker. Names, parameters and results are those
// of POSIX; instead of errno there is an exception, or an std::error_code in the manner of std::filesystem.
//
// All: *Contexts*: thread; a foreign kernel thread blocks in the kernel; a tasklet as long as it need not
// wait (operation_not_permitted then). *Switches*: may. *Errors*: those of the system call, in
// std::system_category(); besides: ETIMEDOUT and ECANCELED when the limit ended the wait, EBADF when the
// descriptor was closed (by io::close) meanwhile, ENOMEM, EMFILE, ENFILE when there is no event source and
// none can be had. Nothing has been read, written or accepted then. Interrupted calls go on (no EINTR). A
// write to a socket that the other side has closed is EPIPE, never SIGPIPE; to a pipe it is what it is. A
// request to cancel the thread does not end a wait. O_NONBLOCK: sockets and files stay as they are; a
// listening socket has it after its first accept(), and so has a pipe or terminal after its first use where
// the kernel knows no other way (Linux before 6.4). What a call does and leaves behind is otherwise what the
// blocking call does; but the socket's own limits and least amounts (SO_RCVTIMEO, SO_SNDTIMEO, SO_RCVLOWAT)
// are not heard. Guide: docs/guide/io.md.
#pragma once

#include "weft/base/export.hpp"
#include "weft/io/limit.hpp"

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <system_error>

namespace weft::io {

// --- transfer: the number of bytes. A read may return less than asked for (0: the end); a write, as write(2)
// does where O_NONBLOCK is not set, only when its limit, an error or a close ended it after a part ---

WEFT_API std::size_t read(int descriptor, void* buffer, std::size_t bytes, const limit& how_long = {});
WEFT_API std::size_t read(int descriptor, void* buffer, std::size_t bytes, std::error_code& error,
                          const limit& how_long = {}) noexcept;
WEFT_API std::size_t write(int descriptor, const void* buffer, std::size_t bytes, const limit& how_long = {});
WEFT_API std::size_t write(int descriptor, const void* buffer, std::size_t bytes, std::error_code& error,
                           const limit& how_long = {}) noexcept;

/// As write(), until all is written. *Errors*: also after a part has been written; how much, the caller does
/// not learn.
WEFT_API void write_all(int descriptor, const void* buffer, std::size_t bytes, const limit& how_long = {});
WEFT_API void write_all(int descriptor, const void* buffer, std::size_t bytes, std::error_code& error,
                        const limit& how_long = {}) noexcept;

/// `count`: 0 to IOV_MAX.
WEFT_API std::size_t readv(int descriptor, const iovec* buffers, int count, const limit& how_long = {});
WEFT_API std::size_t readv(int descriptor, const iovec* buffers, int count, std::error_code& error,
                           const limit& how_long = {}) noexcept;
WEFT_API std::size_t writev(int descriptor, const iovec* buffers, int count, const limit& how_long = {});
WEFT_API std::size_t writev(int descriptor, const iovec* buffers, int count, std::error_code& error,
                            const limit& how_long = {}) noexcept;

/// At `offset` (0 or more) of a file. A file is never waited for in a way that a limit could end.
WEFT_API std::size_t pread(int descriptor, void* buffer, std::size_t bytes, std::int64_t offset);
WEFT_API std::size_t pread(int descriptor, void* buffer, std::size_t bytes, std::int64_t offset,
                           std::error_code& error) noexcept;
WEFT_API std::size_t pwrite(int descriptor, const void* buffer, std::size_t bytes, std::int64_t offset);
WEFT_API std::size_t pwrite(int descriptor, const void* buffer, std::size_t bytes, std::int64_t offset,
                            std::error_code& error) noexcept;

/// `flags` as of recv(2), send(2). MSG_WAITALL: all, unless the limit, an error, an end or urgent data come
/// before. MSG_DONTWAIT: EAGAIN instead of a wait, from tasklets too. MSG_WAITALL with MSG_PEEK looks every
/// millisecond, for there is no event.
WEFT_API std::size_t recv(int descriptor, void* buffer, std::size_t bytes, int flags,
                          const limit& how_long = {});
WEFT_API std::size_t recv(int descriptor, void* buffer, std::size_t bytes, int flags, std::error_code& error,
                          const limit& how_long = {}) noexcept;
WEFT_API std::size_t send(int descriptor, const void* buffer, std::size_t bytes, int flags,
                          const limit& how_long = {});
WEFT_API std::size_t send(int descriptor, const void* buffer, std::size_t bytes, int flags,
                          std::error_code& error, const limit& how_long = {}) noexcept;

// --- making and closing: a descriptor made here or adopted must be closed here ---

/// As socket(2), with SOCK_CLOEXEC.
[[nodiscard]] WEFT_API int socket(int domain, int type, int protocol);
[[nodiscard]] WEFT_API int socket(int domain, int type, int protocol, std::error_code& error) noexcept;

/// As accept4(2) with SOCK_CLOEXEC. `address` and `length` may be null.
[[nodiscard]] WEFT_API int accept(int descriptor, sockaddr* address, socklen_t* length,
                                  const limit& how_long = {});
[[nodiscard]] WEFT_API int accept(int descriptor, sockaddr* address, socklen_t* length,
                                  std::error_code& error, const limit& how_long = {}) noexcept;

/// After a limit has ended it the connection may still be made: close the socket, or call again, which waits
/// for it. After a refusal the socket may be used for the next try.
WEFT_API void connect(int descriptor, const sockaddr* address, socklen_t length, const limit& how_long = {});
WEFT_API void connect(int descriptor, const sockaddr* address, socklen_t length, std::error_code& error,
                      const limit& how_long = {}) noexcept;

/// As open(2) with O_CLOEXEC.
[[nodiscard]] WEFT_API int open(const char* path, int flags, mode_t mode = 0);
[[nodiscard]] WEFT_API int open(const char* path, int flags, mode_t mode, std::error_code& error) noexcept;

/// Says that `descriptor`, made elsewhere, will be closed by io::close() and not otherwise: spares a system
/// call each time somebody must wait for it. *Undefined*: ::close() on such a one. *Errors*: none.
/// *Switches*: never.
WEFT_API void adopt(int descriptor) noexcept;

/// Takes that back: it may be closed elsewhere from now on. *Contexts*: all, signal handlers too. *Errors*:
/// none. *Switches*: never.
WEFT_API void disown(int descriptor) noexcept;
/// The same of all from `first` to `last`, as close_range(2) closes them.
WEFT_API void disown_all(unsigned first, unsigned last) noexcept;

/// Closes it; whoever waits for it ends with EBADF. *Contexts*: all but signal handlers. *Switches*: never.
/// *Errors*: as close(2); the descriptor is gone all the same.
WEFT_API void close(int descriptor);
WEFT_API void close(int descriptor, std::error_code& error) noexcept;

// --- others ---

/// Waits for one of `events` (POLLIN, POLLOUT, ...) and returns those there are, with POLLERR and POLLHUP.
WEFT_API short poll(int descriptor, short events, const limit& how_long = {});
WEFT_API short poll(int descriptor, short events, std::error_code& error,
                    const limit& how_long = {}) noexcept;

WEFT_API void fsync(int descriptor);
WEFT_API void fsync(int descriptor, std::error_code& error) noexcept;
WEFT_API void fdatasync(int descriptor);
WEFT_API void fdatasync(int descriptor, std::error_code& error) noexcept;

} // namespace weft::io
