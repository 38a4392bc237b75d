// SPDX-License-Identifier: MIT
#include "weft/trace/request_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weft::trace {
namespace {

using progress = request_lines::progress;

class request_lines_of : public ::testing::Test {
 protected:
  progress send(std::string_view text) {
    std::copy(text.begin(), text.end(), lines.room().begin());
    return lines.add(text.size(), [this](std::string_view line) {
      got.emplace_back(line);
      return line != "enough";
    });
  }
  request_lines lines;
  std::vector<std::string> got;
};

TEST_F(request_lines_of, pieces) {
  EXPECT_EQ(send("trace st"), progress::goes_on);
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(send("art\n\ntrace stop\ntra"), progress::goes_on);
  EXPECT_EQ(send("ce\n"), progress::goes_on);
  EXPECT_EQ(got, (std::vector<std::string>{"trace start", "", "trace stop", "trace"}));
}

TEST_F(request_lines_of, a_line_that_fills_the_room) {
  const std::size_t room = lines.room().size();
  EXPECT_EQ(send(std::string(room - 1, 'x') + "\n"), progress::goes_on);
  EXPECT_EQ(send(std::string(room - 1, 'y')), progress::goes_on);
  EXPECT_EQ(send("y"), progress::too_long);
  EXPECT_EQ(got, (std::vector<std::string>{std::string(room - 1, 'x')}));
}

TEST_F(request_lines_of, nothing_after_the_end) {
  EXPECT_EQ(send("one\nenough\ntwo\n"), progress::ended);
  EXPECT_EQ(got, (std::vector<std::string>{"one", "enough"}));
}

} // namespace
} // namespace weft::trace
