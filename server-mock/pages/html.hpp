/// Shared by all pages: escaping, the page frame, the style sheet.
#pragma once

#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

/// Escapes for text and for attributes in double quotes.
std::string escape(std::string_view text);

/// A complete page without script and external URLs, not framable by other sites. `main` is HTML.
http::Response page(int status, std::string_view title, std::string_view main);

/// Nothing but scripts and styles of this server, and nothing that another site may frame or keep.
http::Response script_page(int status, std::string_view type, std::string text);

}  // namespace ws::mock::pages
