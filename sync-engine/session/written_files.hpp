/// Which document a file stays when this program writes it anew.
///
/// A file that is replaced has another number than before, and perhaps another name and another text: nothing of it
/// could tell its document. So whoever changes a user's file records what lies there now, in the transaction that ends
/// the change, and what is about to lie there in the one before it (a test reads the sources for any that does not).
/// `identify` believes that before it compares texts.
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The file at `path`, as this program has just written it or left it there; or, before `text` takes its place, the one
/// that lies there now: where a call is killed in between and the file renamed, the text tells whose it is. Within the
/// caller's transaction; nothing where no file lies there, or no document is named.
Result<void> record_written(Session& session, const DocumentId& document, const RelativePath& path, const Sha256& text);

}  // namespace ws::sync
