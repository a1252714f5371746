/// A file without a name, which is gone when it is closed.
#pragma once

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"

namespace ws {

/// For reading and writing: in $TMPDIR, else in /var/tmp or where else one can be made (/tmp may be a file system in
/// memory). Fails with `disk`.
Result<Descriptor> open_nameless_file();

}  // namespace ws
