// SPDX-License-Identifier: MIT
// compose with Weft: by hand, composed from the default parts, and libweft, on one worker with a deque.
// Forms: <how>.<what>.
#include <string>
#include <string_view>
#include <vector>

#include "bench/compose/by_hand.hpp"
#include "bench/compose/workload.hpp"
#include "bench/peer/weft.hpp"
#include "weft/compose.hpp"

namespace bench = weft::bench;

namespace {

// The default parts, as templates: a recorder of one's own that does nothing is enough to leave libweft.
struct silent : weft::compose::no_recorder {};
struct page : weft::compose::default_policies {
  using recorder = silent;
};

struct composed : weft::compose::runtime<page> {
  template <class Main>
  static void run(Main&& main) {
    weft::compose::runtime<page>::run(main, {.workers = 1});
  }
};
struct libweft : weft::compose::libweft {
  template <class Main>
  static void run(Main&& main) {
    const weft::runtime::scope started(bench::weft_options(1, true));
    main();
  }
};

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> forms;
  for (const char* how : {"by_hand", "composed", "libweft"})
    for (const char* what : {"fork_join", "create_join", "yield", "lock"})
      forms.push_back(std::string(how) + "." + what);
  bench::recorder rec(argc, argv, bench::compose::defaults(), forms);
  const std::string_view form = rec.opt().form;
  const std::string_view how = form.substr(0, form.find('.'));
  const std::string_view what = form.substr(form.find('.') + 1);
  if (how == "by_hand")
    bench::by_hand::runtime::run([&] { bench::compose::measure<bench::by_hand::runtime>(rec, what); });
  else if (how == "composed")
    composed::run([&] { bench::compose::measure<composed>(rec, what); });
  else
    libweft::run([&] { bench::compose::measure<libweft>(rec, what); });
  return rec.finish();
}
