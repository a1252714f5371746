/// What every page has in common: escaping, the frame, the style sheet.
#pragma once

#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

/// For text and for attributes in double quotes.
std::string escape(std::string_view text);

/// A whole page: no script, no address outside, nothing that another site may frame. `main` is HTML.
http::Response page(int status, std::string_view title, std::string_view main);

}  // namespace ws::mock::pages
