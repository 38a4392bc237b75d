// SPDX-License-Identifier: MIT
// Reads the exception tables of gcc and clang (Itanium C++ ABI, "Exception Handling Tables"): per function, a
// list of ranges of instructions, each with its landing pad and a chain of actions. An instruction in no
// range must not throw.
#include "weft/arch/unwinding.hpp"

#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <unwind.h>

namespace weft::arch {
namespace {

// Forms of numbers in the tables (LSB, "DWARF Exception Header Encoding").
enum encoding : std::uint8_t {
  absolute = 0x00,
  uleb128 = 0x01,
  udata2 = 0x02,
  udata4 = 0x03,
  udata8 = 0x04,
  sleb128 = 0x09,
  sdata2 = 0x0a,
  sdata4 = 0x0b,
  sdata8 = 0x0c,
  form_mask = 0x0f,
  pc_relative = 0x10,
  data_relative = 0x30,
  base_mask = 0x70,
  indirect = 0x80,
  omitted = 0xff
};

class reader {
 public:
  reader(const unsigned char* at, _Unwind_Context* frame) noexcept : at_(at), frame_(frame) {}
  [[nodiscard]] const unsigned char* at() const noexcept { return at_; }
  std::uint8_t byte() noexcept { return *at_++; }
  std::uint64_t unsigned_leb() noexcept { return leb(nullptr); }
  std::int64_t signed_leb() noexcept {
    unsigned bits = 0;
    const std::uint64_t value = leb(&bits);
    const bool negative = bits < 64 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::uintptr_t encoded(std::uint8_t e) noexcept {
    const auto from = reinterpret_cast<std::uintptr_t>(at_);
    std::uintptr_t value = number(e);
    if (value == 0)
      return 0;
    if ((e & base_mask) == pc_relative)
      value += from;
    if ((e & base_mask) == data_relative)
      value += _Unwind_GetDataRelBase(frame_);
    if ((e & indirect) != 0)
      value = *reinterpret_cast<const std::uintptr_t*>(value);
    return value;
  }

 private:
  template <class T>
  std::uintptr_t fixed() noexcept {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return static_cast<std::uintptr_t>(value);
  }
  std::uintptr_t number(std::uint8_t e) noexcept {
    switch (e & form_mask) {
    case uleb128:
      return unsigned_leb();
    case sleb128:
      return static_cast<std::uintptr_t>(signed_leb());
    case udata2:
      return fixed<std::uint16_t>();
    case udata4:
      return fixed<std::uint32_t>();
    case sdata2:
      return fixed<std::int16_t>();
    case sdata4:
      return fixed<std::int32_t>();
    default:
      return fixed<std::uint64_t>(); // absolute, udata8, sdata8
    }
  }
  std::uint64_t leb(unsigned* bits) noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t next;
    do {
      next = byte();
      if (shift < 64)
        value |= std::uint64_t{next & 0x7fU} << shift;
      shift += 7;
    } while ((next & 0x80) != 0);
    if (bits != nullptr)
      *bits = shift;
    return value;
  }

  const unsigned char* at_;
  _Unwind_Context* frame_;
};

// The table of one frame's function, and where that function stands.
struct table {
  _Unwind_Context* frame;
  std::uintptr_t pads;            // what landing pads are counted from
  const unsigned char* types_end; // types are counted backwards from here
  std::uint8_t types_encoding;
  std::uint8_t ranges_encoding;
  const unsigned char* ranges;
  const unsigned char* actions;

  table(const unsigned char* data, _Unwind_Context* f) noexcept : frame(f) {
    reader r(data, f);
    const std::uint8_t pads_encoding = r.byte();
    pads = pads_encoding == omitted ? _Unwind_GetRegionStart(f) : r.encoded(pads_encoding);
    types_encoding = r.byte();
    const std::uint64_t to_types = types_encoding == omitted ? 0 : r.unsigned_leb();
    types_end = types_encoding == omitted ? nullptr : r.at() + to_types;
    ranges_encoding = r.byte();
    const std::uint64_t length = r.unsigned_leb();
    ranges = r.at();
    actions = ranges + length;
  }
  // Of a handler; null: it takes everything.
  [[nodiscard]] const std::type_info* type(std::int64_t number) const noexcept {
    const int size = (types_encoding & form_mask) == udata2 || (types_encoding & form_mask) == sdata2   ? 2
                     : (types_encoding & form_mask) == udata4 || (types_encoding & form_mask) == sdata4 ? 4
                                                                                                        : 8;
    return reinterpret_cast<const std::type_info*>(
        reader(types_end - number * size, frame).encoded(types_encoding));
  }
};

// clang has no range that must not throw: it catches everything there, and calls a function of its own that
// calls std::terminate(). Who handles an exception calls __cxa_begin_catch() first.
bool ends_process([[maybe_unused]] std::uintptr_t pad) noexcept {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const unsigned char*>(pad);
  const auto skip_landing_pad = [](const unsigned char* c) {
    return std::memcmp(c, "\xf3\x0f\x1e\xfa", 4) == 0 ? c + 4 : c;
  };
  code = skip_landing_pad(code);
  if (std::memcmp(code, "\x48\x89\xc7\xe8", 4) != 0) // movq %rax, %rdi; call
    return false;
  std::int32_t distance;
  std::memcpy(&distance, code + 4, sizeof distance);
  const unsigned char* called = code + 8 + distance;
  if (called == reinterpret_cast<const unsigned char*>(&abi::__cxa_begin_catch))
    return false;
  called = skip_landing_pad(called);
  const bool saves_a_register =
      *called == 0x50 || *called == 0x55; // pushq: a function, no entry of the linker's table
  return saves_a_register;
#else
  return false;
#endif
}

struct search {
  const std::type_info& thrown;
  bool begun = false; // beyond would_be_caught() itself, which lets nothing out
  bool caught = false;
};

enum class verdict { goes_on, caught, ends };

verdict act(const table& t, std::uint64_t action, std::uintptr_t pad, const std::type_info& thrown) noexcept {
  if (pad == 0 || action == 0)
    return verdict::goes_on; // nothing to do, or destructors only
  const unsigned char* at = t.actions + action - 1;
  for (;;) {
    reader r(at, t.frame);
    const std::int64_t filter = r.signed_leb();
    const unsigned char* next = r.at();
    const std::int64_t step = r.signed_leb();
    if (filter > 0) {
      const std::type_info* type = t.type(filter);
      if (type == nullptr)
        return ends_process(pad) ? verdict::ends : verdict::caught;
      if (*type == thrown)
        return verdict::caught;
    } else if (filter < 0) {
      return verdict::ends; // throw(): we are in no list of exceptions
    }
    if (step == 0)
      return verdict::goes_on;
    at = next + step;
  }
}

verdict look(const table& t, std::uintptr_t at, const std::type_info& thrown) noexcept {
  const std::uintptr_t start = _Unwind_GetRegionStart(t.frame);
  reader r(t.ranges, t.frame);
  while (r.at() < t.actions) {
    const std::uintptr_t begin = start + r.encoded(t.ranges_encoding);
    const std::uintptr_t length = r.encoded(t.ranges_encoding);
    const std::uintptr_t pad = r.encoded(t.ranges_encoding);
    const std::uint64_t action = r.unsigned_leb();
    if (at < begin)
      break;
    if (at < begin + length)
      return act(t, action, pad == 0 ? 0 : t.pads + pad, thrown);
  }
  return verdict::ends;
}

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* argument) noexcept {
  auto& s = *static_cast<search*>(argument);
  if (!s.begun) {
    s.begun = true;
    return _URC_NO_REASON;
  }
  const auto* data = static_cast<const unsigned char*>(
      reinterpret_cast<const void*>(_Unwind_GetLanguageSpecificData(frame)));
  if (data == nullptr)
    return _URC_NO_REASON;
  int before = 0;
  const std::uintptr_t at = _Unwind_GetIPInfo(frame, &before) - (before == 0 ? 1 : 0);
  const verdict v = look(table(data, frame), at, s.thrown);
  s.caught = v == verdict::caught;
  return v == verdict::goes_on ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

} // namespace

[[gnu::noinline]] bool would_be_caught(const std::type_info& thrown) {
  search s{thrown};
  _Unwind_Backtrace(&look_at, &s);
  return s.caught;
}

} // namespace weft::arch
