/// Which document each file here is: also where no run has seen a rename yet.
#pragma once

#include <map>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// By where the file lies. A document whose file is missing is at the path where it lay.
using DocumentsHere = std::map<RelativePath, DocumentId>;

/// Looks at every file, and asks nobody. Fails as `survey` does.
Result<DocumentsHere> find_documents_here(Session& session);

}  // namespace ws::sync
