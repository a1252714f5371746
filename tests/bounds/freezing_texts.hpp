/// Texts that cost a reader the square of their length, or more, unless it takes care: what `bounds_test` puts through
/// everything that takes a text from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::test {

struct FreezingText {
  const char* name = "";
  std::string (*make)(std::size_t bytes) = nullptr;  ///< about so many bytes
};

const std::vector<FreezingText>& freezing_texts();

/// `text` again and again, at least so many bytes.
std::string repeated(std::string_view text, std::size_t bytes);
/// Its lines in another order; the same for the same text and seed.
std::string shuffled_lines(std::string_view text, unsigned seed);

}  // namespace ws::test
