#include "api-client/base/utf8_slug.hpp"

#include <utf8proc.h>

#include "api-client/base/utf8.hpp"

namespace ws::utf8 {
namespace {

/// Letters, marks, digits and connectors: `\p{Word}` in the Ruby regular expression that GitHub uses.
bool is_part_of_slug(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return c == '-';
  }
}

}  // namespace

std::string slug(std::string_view heading) {
  std::string out;
  for_each(heading, [&](char32_t c) {
    if (c == ' ') {
      out += '-';
    } else if (is_part_of_slug(c)) {
      append(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  });
  return out;
}

}  // namespace ws::utf8
