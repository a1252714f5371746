#include "api-client/base/invisible.hpp"

#include "api-client/base/utf8.hpp"

namespace ws::utf8 {

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029; }

// Bidirectional controls, zero-width characters, the byte order mark, interlinear annotations, the block of tags.
bool is_hidden(char32_t c) {
  return c == 0x061C || c == 0x180E || c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

bool is_hidden_in_name(char32_t c) {
  return is_hidden(c) || c == 0x00AD || (c >= 0x0600 && c <= 0x0605) || c == 0x06DD || c == 0x070F ||
         (c >= 0x0890 && c <= 0x0891) || c == 0x08E2 || c == 0x110BD || c == 0x110CD ||
         (c >= 0x13430 && c <= 0x1343F) || (c >= 0x1BCA0 && c <= 0x1BCA3) || (c >= 0x1D173 && c <= 0x1D17A);
}

bool is_joiner(char32_t c) { return c == 0x200C || c == 0x200D; }

bool has_stray_joiner(std::string_view name) {
  bool stray = false;
  bool after_character = false;
  for_each(name, [&](char32_t c) {
    stray = stray || (is_joiner(c) && !after_character);
    after_character = !is_joiner(c);
  });
  return stray || !after_character;
}

}  // namespace ws::utf8
