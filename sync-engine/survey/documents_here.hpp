/// Which document each file here is: also where no run has seen a rename yet.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// By where the file lies. A document whose file is missing is at the path where it lay.
using DocumentsHere = std::map<RelativePath, DocumentId>;

/// Looks at every file, and asks nobody. Fails as `survey` does.
Result<DocumentsHere> find_documents_here(Session& session);

/// What has the place here: a file, a folder, or in the same folder a name that is one with it on other machines.
/// Empty: it is free.
std::optional<std::string> find_taken(const RootFolder& root, const RelativePath& place);

}  // namespace ws::sync
