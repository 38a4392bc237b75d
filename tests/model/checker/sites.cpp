// SPDX-License-Identifier: MIT
#include "tests/model/checker/sites.hpp"

#include "tests/model/checker/quarantine.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

namespace weft::model {
namespace {

struct place {
  std::source_location where;
  operation what;
  std::memory_order order;
};

bool noting = false;
// Not among the static variables that are put back when an execution is left.
auto& noted = *new std::vector<place, host_allocator<place>>;
const mutation* in_force = nullptr;

// What tests do themselves is not mutated. Heavy fences have no place: they are one.
bool is_under_test(const std::source_location& where, operation what) {
  const std::string_view file = where.file_name();
  return what == operation::heavy_fence ||
         (file.find("weft/") != file.npos && file.find("tests/") == file.npos);
}

// "weft/room/file": what comes before may differ from one translation unit to the next.
std::string_view file_of(const std::source_location& where) {
  const std::string_view path = where.file_name();
  const std::size_t at = path.rfind("weft/");
  return at == path.npos ? path : path.substr(at);
}

bool same(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() && file_of(a) == file_of(b);
}

void note(operation what, std::memory_order asked) {
  for (const place& p : noted) {
    if (p.what == what && (what == operation::heavy_fence || same(p.where, sites::standing)))
      return;
  }
  if (is_under_test(sites::standing, what))
    noted.push_back({sites::standing, what, asked});
}

bool is_in_force(operation what) {
  return in_force != nullptr && in_force->what == what &&
         (what == operation::heavy_fence || same(in_force->where, sites::standing));
}

std::vector<weakening> weakenings_of(const place& p) {
  switch (p.what) {
  case operation::fence:
  case operation::heavy_fence:
  case operation::futex_wake:
    return {weakening::dropped};
  case operation::futex_wait:
    return {weakening::blind};
  default:
    break;
  }
  switch (p.order) {
  case std::memory_order_relaxed:
    return {};
  case std::memory_order_acq_rel:
    return {weakening::acquire, weakening::release};
  case std::memory_order_seq_cst:
    return {p.what == operation::load    ? weakening::acquire
            : p.what == operation::store ? weakening::release
                                         : weakening::acq_rel};
  default:
    return {weakening::relaxed};
  }
}

std::vector<weakening> bugs_of(const place& p) {
  switch (p.what) {
  case operation::load:
    return {weakening::unseen};
  case operation::store:
    return {weakening::late, weakening::forgotten};
  case operation::rmw:
    return {weakening::forgotten};
  case operation::cas:
    return {weakening::unchecked};
  default:
    return {};
  }
}

// "bool weft::sync::wait_word::decide(unsigned int) [with ...]" -> "wait_word::decide"
std::string short_name(std::string_view pretty) {
  std::string text(pretty);
  for (const char* anonymous : {"{anonymous}::", "(anonymous namespace)::", "<unnamed>::"}) {
    for (std::size_t at; (at = text.find(anonymous)) != text.npos;)
      text.erase(at, std::strlen(anonymous));
  }
  text.erase(std::min(text.find('('), text.size()));
  std::string plain; // without template arguments
  int depth = 0;
  for (const char c : text) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0)
      plain += c;
    depth -= c == '>' ? 1 : 0;
  }
  plain.erase(0, plain.rfind(' ') + 1);
  const std::size_t last = plain.rfind("::");
  const std::size_t before = last == plain.npos ? plain.npos : plain.rfind("::", last - 1);
  return before == plain.npos ? plain : plain.substr(before + 2);
}

constexpr const char* operation_names[] = {"load",  "store",       "rmw",        "cas",
                                           "fence", "heavy fence", "futex wait", "futex wake"};
constexpr const char* weakening_names[] = {"relaxed", "acquire", "release", "acq_rel",   "dropped",
                                           "blind",   "unseen",  "late",    "forgotten", "unchecked"};

} // namespace

std::string mutation::name() const {
  const std::string end =
      std::string(operation_names[static_cast<int>(what)]) + " -> " + weakening_names[static_cast<int>(how)];
  if (what == operation::heavy_fence)
    return end;
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  return std::string(file) + ": " + short_name(where.function_name()) + ": " + end;
}

namespace sites {

std::source_location& standing = *new std::source_location;

void start_noting() {
  noted.clear();
  noting = true;
}

std::vector<mutation> stop_noting(bool logic) {
  noting = false;
  std::sort(noted.begin(), noted.end(), [](const place& a, const place& b) {
    return std::tuple(file_of(a.where), a.where.line(), a.where.column()) <
           std::tuple(file_of(b.where), b.where.line(), b.where.column());
  });
  std::vector<mutation> all;
  for (const place& p : noted) {
    for (const weakening how : logic ? bugs_of(p) : weakenings_of(p))
      all.push_back({p.where, p.what, how});
  }
  return all;
}

void weaken(const mutation* one) {
  in_force = one;
}

std::memory_order order(operation what, std::memory_order asked) {
  if (noting) [[unlikely]]
    note(what, asked);
  if (!is_in_force(what)) [[likely]]
    return asked;
  switch (in_force->how) {
  case weakening::acquire:
    return std::memory_order_acquire;
  case weakening::release:
    return std::memory_order_release;
  case weakening::acq_rel:
    return std::memory_order_acq_rel;
  case weakening::relaxed:
    return std::memory_order_relaxed;
  default:
    return asked;
  }
}

bool is_off(operation what) {
  if (noting) [[unlikely]]
    note(what, std::memory_order_seq_cst);
  return is_in_force(what);
}

bool has(operation what, weakening bug) {
  return in_force != nullptr && in_force->how == bug && is_in_force(what);
}

} // namespace sites
} // namespace weft::model
