// Functions of glibc 2.35 and 2.36 that Debian's static libraries call: programs that bring their own start with 2.34.
#include <cstdint>

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/random.h>

#ifdef __GLIBC__

namespace {

struct Wanted {
  std::uintptr_t address;
  dl_find_object* found;
};

/// For dl_iterate_phdr: 1, which ends the search, where `object` contains the address and can be unwound.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  const auto& wanted = *static_cast<const Wanted*>(data);
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t frames = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && wanted.address >= start && wanted.address - start < part.p_memsz) {
      begin = start;
      end = start + part.p_memsz;
    }
    if (part.p_type == PT_GNU_EH_FRAME) frames = start;
  }
  if (begin == 0 || frames == 0) return 0;
  // NOLINTBEGIN(performance-no-int-to-ptr): the loader gives addresses as numbers
  wanted.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  wanted.found->dlfo_map_end = reinterpret_cast<void*>(end);
  wanted.found->dlfo_eh_frame = reinterpret_cast<void*>(frames);
  // NOLINTEND(performance-no-int-to-ptr)
  return 1;
}

}  // namespace

extern "C" {

/// Since 2.35; called by libgcc's unwinder for each frame that an exception passes.
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Wanted wanted{reinterpret_cast<std::uintptr_t>(address), found};
  *found = {};
  return ::dl_iterate_phdr(look_into, &wanted) == 1 ? 0 : -1;
}

/// Since 2.36.
__attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) ::abort();
  return number;
}

}  // extern "C"

#endif
