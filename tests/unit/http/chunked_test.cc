// SPDX-License-Identifier: Apache-2.0
#include "http/chunked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tinker::http {
namespace {

struct Decoded {
  std::string body;
  std::string end;  // "done", "more" or the fault
  std::size_t used = 0;
  bool operator==(const Decoded&) const = default;
};

Decoded decoded(std::string_view coded, std::size_t piece = 1000) {
  ChunkedDecoder decoder;
  Decoded result;
  while (result.used < coded.size() && !decoder.done() && !decoder.broken()) {
    const auto step = decoder.step(coded.substr(result.used, piece));
    result.body += step.payload;
    result.used += step.used;
  }
  result.end = decoder.done() ? "done" : decoder.broken() ? std::string(decoder.fault()) : "more";
  return result;
}

TEST(ChunkedDecoder, DecodesHoweverTheBytesCome) {
  const std::string coded = "5\r\nhello\r\n00a;x=\"y z\";w\r\n0123456789\r\n0\r\nA: b\r\nC:\r\n\r\n";
  for (std::size_t piece = 1; piece <= coded.size() + 4; ++piece)
    EXPECT_EQ(decoded(coded + "next", piece), (Decoded{"hello0123456789", "done", coded.size()})) << piece;
}

TEST(ChunkedDecoder, TakesAnEmptyBody) { EXPECT_EQ(decoded("0\r\n\r\n").end, "done"); }

TEST(ChunkedDecoder, WaitsForTheLastByte) {
  const std::string coded = "5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t cut = 0; cut < coded.size(); ++cut) EXPECT_EQ(decoded(coded.substr(0, cut)).end, "more");
}

TEST(ChunkedDecoder, S10_RefusesWhatIsNoChunk) {
  for (const char* bad : {" 5\r\n",
                          "5 \r\n",
                          "+5\r\n",
                          "-5\r\n",
                          "0x5\r\n",
                          "5h\r\n",
                          "\r\n",
                          ";a\r\n",
                          "5\n",
                          "5\rhello",
                          "5;a\n",
                          "5;a\x01\r\n",
                          "1000000000000000\r\n",
                          "ffffffffffffffffffff\r\n",
                          "5\r\nhello5\r\n",
                          "5\r\nhello\n",
                          "5\r\nhello\rx",
                          "2\r\nhello\r\n",
                          "0\r\n\n",
                          "0\r\nA: b\n",
                          "0\r\n fold: x\r\n",
                          "0\r\nA: b\r\n c\r\n",
                          "0\r\nno colon\r\n",
                          "0\r\nnocolon\r\n",
                          "0\r\n: x\r\n",
                          "0\r\nA: \x01\r\n",
                          "0\r\n\rx"}) {
    const auto result = decoded(bad);
    EXPECT_NE(result.end, "done") << bad;
    EXPECT_NE(result.end, "more") << bad;
  }
}

TEST(ChunkedDecoder, LimitsExtensionsAndTrailers) {
  std::string many;
  for (int i = 0; i < 500; ++i) many += "1;0123456789\r\nx\r\n";

  EXPECT_EQ(decoded(many + "0\r\n\r\n").end, "chunk extensions are longer than 4096 bytes");
  EXPECT_EQ(decoded("1;" + std::string(5000, 'e') + "\r\n").end, "chunk extensions are longer than 4096 bytes");
  EXPECT_EQ(decoded("0\r\nA: " + std::string(9000, 't')).end, "trailers are longer than 8192 bytes");
}

}  // namespace
}  // namespace tinker::http
