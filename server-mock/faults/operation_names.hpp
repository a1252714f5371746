/// The names by which fault rules, the journal and its verification know requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws::mock {

/// The operations of the API, "upload.put", "openapi" and the pages.
const std::vector<std::string>& operation_names();
/// Whether the name, or a pattern with `*`, is one of them.
bool names_operation(std::string_view pattern);
/// "There is no operation docs.delete; did you mean ...?"
std::string no_such_operation(std::string_view pattern);

}  // namespace ws::mock
