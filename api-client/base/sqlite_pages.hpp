/// The pages of SQLite's databases in memory.
///
/// SQLite allocates each page with its own data behind it, a little more than 4 KiB, which an allocator rounds up to 5;
/// and it looks a page up in a hash table under a lock. Here a page of a database in memory, which never leaves it, has
/// exactly its size, and its number is its place in a table. Databases in files keep SQLite's own cache.
#pragma once

namespace ws::sqlite {

/// To be called before SQLite's first use; later it has no effect.
void use_memory_pages();

}  // namespace ws::sqlite
