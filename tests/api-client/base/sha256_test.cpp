#include "api-client/base/sha256.hpp"

#include <catch2/catch.hpp>

using ws::Sha256;

TEST_CASE("sha256: the standard's own examples", "[base]") {
  // FIPS 180-4, the examples "abc" and the empty message.
  CHECK(Sha256::of("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Sha256::of("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("sha256: pieces hash like the whole, and a stream can be used again", "[base]") {
  ws::Sha256Stream stream;
  for (int round = 0; round < 2; ++round) {
    stream.update("a");
    stream.update("");
    stream.update("bc");
    CHECK(stream.finish() == Sha256::of("abc"));
  }
}

TEST_CASE("sha256: only 64 hexadecimal digits are read", "[base]") {
  const std::string hex = Sha256::of("x").hex();
  CHECK(Sha256::from_hex(hex).value() == Sha256::of("x"));
  CHECK_FALSE(Sha256::from_hex(hex.substr(1)));
  CHECK_FALSE(Sha256::from_hex("g" + hex.substr(1)));
}
