// SPDX-License-Identifier: Apache-2.0
#include "http/head_scanner.h"

#include <gtest/gtest.h>

#include <string>

namespace tinker::http {
namespace {

using State = HeadScanner::State;

// What the scanner says when `text` comes in pieces of `piece` bytes, and how far it got.
std::pair<State, std::size_t> scanned(std::string_view text, std::size_t piece) {
  HeadScanner scanner;
  State state = State::more;
  while (state == State::more && !text.empty()) {
    state = scanner.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return {state, scanner.size()};
}

TEST(HeadScanner, FindsTheEndHoweverTheBytesCome) {
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  for (std::size_t piece = 1; piece <= head.size() + 5; ++piece)
    EXPECT_EQ(scanned(head + "extra", piece), std::pair(State::whole, head.size())) << piece;
}

TEST(HeadScanner, SkipsOneEmptyLine) {
  HeadScanner scanner;
  EXPECT_EQ(scanner.feed("\r\nA\r\n\r\n"), State::whole);
  EXPECT_EQ(scanner.lead(), 2u);
  EXPECT_EQ(scanner.size(), 7u);

  EXPECT_EQ(scanned("\r\n\r\nA\r\n\r\n", 1), std::pair(State::whole, std::size_t{4})) << "two empty lines are an empty head";
}

TEST(HeadScanner, RefusesWhatTwoProgramsReadDifferently) {
  for (std::size_t piece = 1; piece <= 40; ++piece) {
    EXPECT_EQ(scanned("GET / HTTP/1.1\nHost: x\r\n\r\n", piece).first, State::bare_line_feed);
    EXPECT_EQ(scanned("GET / HTTP/1.1\r\nHost: x\n\r\n", piece).first, State::bare_line_feed);
    EXPECT_EQ(scanned("GET / HTTP/1.1\r\nHost: x\r\n\n", piece).first, State::bare_line_feed);
    EXPECT_EQ(scanned("\nGET / HTTP/1.1\r\n\r\n", piece).first, State::bare_line_feed);
    EXPECT_EQ(scanned("G\n", piece).first, State::bare_line_feed);
    EXPECT_EQ(scanned("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", piece).first, State::folded);
    EXPECT_EQ(scanned("GET / HTTP/1.1\r\n\tA: b\r\n\r\n", piece).first, State::folded);
  }
}

}  // namespace
}  // namespace tinker::http
