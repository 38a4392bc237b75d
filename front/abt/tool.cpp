// SPDX-License-Identifier: MIT
// ABT_tool_*: the core's observer and what the front itself knows, as the events of Argobots.
#include "front/abt/tool.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/observe.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stream.hpp"
#include "weft/door/switch.hpp"

namespace weft::abt {

constinit std::atomic<std::uint64_t> tool_events{0};

namespace {

struct listener {
  ABT_tool_thread_callback_fn callback;
  std::uint64_t events;
  void* argument;
};

constexpr std::uint64_t told_of = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_JOIN |
                                  ABT_TOOL_EVENT_THREAD_FREE | ABT_TOOL_EVENT_THREAD_REVIVE |
                                  ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_FINISH |
                                  ABT_TOOL_EVENT_THREAD_CANCEL | ABT_TOOL_EVENT_THREAD_YIELD |
                                  ABT_TOOL_EVENT_THREAD_SUSPEND | ABT_TOOL_EVENT_THREAD_RESUME;

// Replaced as a whole; old ones stay until finalisation, since a stream may be calling one.
constinit std::atomic<const listener*> current_listener{nullptr};

// Under state().lock. Never destroyed: streams may call a listener while statics are.
std::vector<std::unique_ptr<const listener>>& listeners() noexcept {
  using list = std::vector<std::unique_ptr<const listener>>;
  alignas(list) static std::byte room[sizeof(list)];
  static auto* made = ::new (static_cast<void*>(room)) list;
  return *made;
}

// What a callback may ask about, in its caller's frame. The rest is looked up when it asks: few do.
struct context_of_event {
  std::uint64_t event;
  descriptor* unit;
  descriptor* cause; // null: a foreign kernel thread
};

// Units that run one another: the main scheduler of a stream is the outermost, whether it is a ULT or not.
int depth_here(const xstream* es) noexcept {
  if (es == nullptr)
    return 0;
  const scheduler* main = es->main.load();
  return static_cast<int>(door::nesting_here()) + (main != nullptr && main->loops() ? 0 : 1);
}

// The listener, if it wants this event.
[[gnu::always_inline]] inline const listener* listener_for(std::uint64_t event) noexcept {
  const listener* l = current_listener.load(std::memory_order_acquire);
  return l != nullptr && (l->events & event) != 0 ? l : nullptr;
}

// `es`: the caller's, if it has one.
[[gnu::always_inline]] inline void tell(const listener& l, ABT_xstream es, descriptor& u, std::uint64_t event,
                                        descriptor* cause) noexcept {
  context_of_event c{event, &u, cause};
  l.callback(handle_of(u), es, event, reinterpret_cast<ABT_tool_context>(&c), l.argument);
}
[[nodiscard]] ABT_xstream handle_or_null(xstream* es) noexcept {
  return es != nullptr ? handle_of(*es) : ABT_XSTREAM_NULL;
}

// By door::event; those behind are nothing of the kind.
constexpr std::array<std::uint64_t, 4> event_of{ABT_TOOL_EVENT_THREAD_RUN, ABT_TOOL_EVENT_THREAD_YIELD,
                                                ABT_TOOL_EVENT_THREAD_SUSPEND, ABT_TOOL_EVENT_THREAD_FINISH};
static_assert(static_cast<int>(door::event::run) == 0 && static_cast<int>(door::event::stop_yield) == 1 &&
              static_cast<int>(door::event::stop_wait) == 2 && static_cast<int>(door::event::stop_end) == 3);

// Of which of those a listener is told.
std::uint32_t worker_events_of(std::uint64_t mask) noexcept {
  std::uint32_t events = 0;
  for (std::size_t i = 0; i < event_of.size(); ++i) {
    if ((mask & event_of[i]) != 0)
      events |= door::bit_of(static_cast<door::event>(i));
  }
  return events;
}
// What the front itself tells.
constexpr std::uint64_t events_of_units =
    told_of & ~(ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_SUSPEND | ABT_TOOL_EVENT_THREAD_FINISH);

// On the worker, for each event of a unit.
void observe_worker(worker& w, door::event what, const void* unit, std::uint32_t) noexcept {
  const auto number = static_cast<std::size_t>(what);
  if (number >= event_of.size())
    return;
  const std::uint64_t event = event_of[number];
  const listener* const l = listener_for(event);
  if (l == nullptr)
    return;
  auto& u = *static_cast<descriptor*>(const_cast<void*>(unit));
  if (!is_ours(u) || (event == ABT_TOOL_EVENT_THREAD_FINISH && door::is_unwinding(u)))
    return;                                  // what was cancelled does not finish
  xstream& es = *door::owner_of<xstream>(w); // only streams are observed
  tell(*l, handle_of(es), u, event, &u);
}

void observe_ready_unit(descriptor& u) noexcept {
  if (const listener* l = listener_for(ABT_TOOL_EVENT_THREAD_RESUME); l != nullptr && is_ours(u))
    tell(*l, handle_or_null(stream_here()), u, ABT_TOOL_EVENT_THREAD_RESUME, unit_here());
}

} // namespace

void tell_tool_slowly(descriptor& u, std::uint64_t event) noexcept {
  if (door::units_are_recorded()) {
    if (event == ABT_TOOL_EVENT_THREAD_CREATE || event == ABT_TOOL_EVENT_THREAD_REVIVE)
      door::note_made(u);
    if (event == ABT_TOOL_EVENT_THREAD_RESUME)
      door::note_ready(u);
  }
  if (const listener* l = listener_for(event)) {
    xstream* const es = stream_here();
    tell(*l, handle_or_null(es), u, event, es != nullptr ? &door::unit_here() : nullptr);
  }
}

void tool_reason::set(ABT_sync_event_type type, const void* object) noexcept {
  descriptor* self = unit_here();
  if (self == nullptr || !is_ours(*self)) // then nobody asks
    return;
  unit_info* info = info_in(*self);
  try {
    if (info == nullptr)
      info = &info_of(*self);
    info->waits_for = type;
    info->waits_for_object = const_cast<void*>(object);
    info_ = info;
  } catch (const std::bad_alloc&) { // then the tool is not told
  }
}

void forget_old_listeners() noexcept {
  std::erase_if(listeners(), [](const auto& l) { return l.get() != current_listener.load(); });
}

void join_tool(worker& w) noexcept {
  if (tool_events.load(std::memory_order_acquire) != 0)
    door::observe(w, true);
}

namespace {

int listen(ABT_tool_thread_callback_fn callback, std::uint64_t events, void* argument) {
  const std::uint64_t told = callback != nullptr ? events & told_of : 0;
  const bool on = told != 0;
  const std::scoped_lock held(state().lock);
  const listener* next = nullptr;
  if (on) {
    listeners().push_back(std::make_unique<const listener>(listener{callback, events, argument}));
    next = listeners().back().get();
  }
  current_listener.store(next, std::memory_order_release);
  const bool of_ready = (told & ABT_TOOL_EVENT_THREAD_RESUME) != 0;
  door::set_observers({&observe_worker, worker_events_of(told), of_ready ? &observe_ready_unit : nullptr,
                       (told & events_of_units) != 0});
  if ((tool_events.exchange(told) != 0) == on)
    return ABT_SUCCESS;
  for (xstream* es : state().streams)
    door::observe(*es->worker.load(), on);
  return ABT_SUCCESS;
}

// The worker of the caller takes its slow paths from now on, not from its next look at its scheduler on.
void stop_fast_paths_here() {
  if (who() == caller::thread && stream_here() != nullptr)
    door::yield_thoroughly();
}

constexpr std::uint64_t events_with_pool = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_REVIVE |
                                           ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_RESUME;
constexpr std::uint64_t events_with_sync = ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND;
constexpr std::uint64_t events_with_depth = events_with_sync | ABT_TOOL_EVENT_THREAD_RUN |
                                            ABT_TOOL_EVENT_THREAD_FINISH | ABT_TOOL_EVENT_THREAD_CANCEL;

bool has_answer(std::uint64_t event, ABT_tool_query_kind kind) noexcept {
  switch (kind) {
  case ABT_TOOL_QUERY_KIND_POOL:
    return (event & events_with_pool) != 0;
  case ABT_TOOL_QUERY_KIND_STACK_DEPTH:
    return (event & events_with_depth) != 0;
  case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE:
  case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE:
    return (event & events_with_sync) != 0;
  default:
    return true;
  }
}

int query(const context_of_event& c, ABT_tool_query_kind kind, void* value) noexcept {
  if (!has_answer(c.event, kind))
    return ABT_ERR_INV_ARG;
  pool* const own_pool = pool_of(*c.unit);
  const unit_info* const info = info_if_any(*c.unit);
  switch (kind) {
  case ABT_TOOL_QUERY_KIND_POOL:
    *static_cast<ABT_pool*>(value) = own_pool != nullptr ? handle_of(*own_pool) : ABT_POOL_NULL;
    return ABT_SUCCESS;
  case ABT_TOOL_QUERY_KIND_STACK_DEPTH:
    *static_cast<int*>(value) = depth_here(stream_here());
    return ABT_SUCCESS;
  case ABT_TOOL_QUERY_KIND_CALLER_TYPE:
    *static_cast<ABT_exec_entity_type*>(value) =
        c.cause != nullptr ? ABT_EXEC_ENTITY_TYPE_THREAD : ABT_EXEC_ENTITY_TYPE_EXT;
    return ABT_SUCCESS;
  case ABT_TOOL_QUERY_KIND_CALLER_HANDLE:
    *static_cast<ABT_thread*>(value) =
        c.cause != nullptr && is_ours(*c.cause) ? handle_of(*c.cause) : nullptr;
    return ABT_SUCCESS;
  case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE:
    *static_cast<ABT_sync_event_type*>(value) = info != nullptr ? info->waits_for : ABT_SYNC_EVENT_TYPE_USER;
    return ABT_SUCCESS;
  case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE:
    *static_cast<void**>(value) = info != nullptr ? info->waits_for_object : nullptr;
    return ABT_SUCCESS;
  }
  return ABT_ERR_INV_ARG;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn callback, uint64_t event_mask,
                                      void* user_arg) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    const bool before = tool_events.load() != 0;
    const int code = listen(callback, event_mask, user_arg);
    if (before != (tool_events.load() != 0))
      stop_fast_paths_here();
    return code;
  });
}

int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind kind, void* value) {
  const weft::door::runtime_section in_runtime;
  if (is_null(context))
    return ABT_ERR_INV_TOOL_CONTEXT;
  const auto& c = *reinterpret_cast<const context_of_event*>(context);
  if (value == nullptr || c.event != event)
    return ABT_ERR_INV_ARG;
  return query(c, kind, value);
}

} // extern "C"
