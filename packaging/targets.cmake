# What every target of ours has in common. Warnings sit here and nowhere else: they are for our code, not for others'.
add_library(ws_common INTERFACE)
target_include_directories(ws_common INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(ws_common INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  -ffunction-sections -fdata-sections)
target_link_options(ws_common INTERFACE -Wl,--gc-sections)
# What an attacker who finds a fault in a program of ours must still get past: addresses at random, tables of pointers that
# are read-only once the program runs, no stack to run code on. Every build has the latter two, and Debian's compilers
# make position-independent programs unasked.
target_link_options(ws_common INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
# Checks at run time, in every build but those for debugging: canaries on the stack, bounds of what the C library copies,
# bounds of the standard library's containers. (_FORTIFY_SOURCE needs an optimising compiler, and sanitizers see more than
# it does. -fcf-protection is not among them: it takes effect only where every linked object has it, and Debian 12's
# static libraries and start files have not.)
if(NOT WS_SANITIZE)
  set(checked $<NOT:$<CONFIG:Debug>>)
  target_compile_options(ws_common INTERFACE
    $<${checked}:-fPIE> $<${checked}:-fstack-protector-strong> $<${checked}:-U_FORTIFY_SOURCE> $<${checked}:-D_FORTIFY_SOURCE=2>
    $<${checked}:-D_GLIBCXX_ASSERTIONS>)
  # WS_STATIC: a program without a loader.
  target_link_options(ws_common INTERFACE $<$<BOOL:$<TARGET_PROPERTY:WS_STATIC>>:-static-pie>
    $<$<AND:${checked},$<NOT:$<BOOL:$<TARGET_PROPERTY:WS_STATIC>>>>:-pie>)
endif()
# The same bytes from every folder: no path of the build's in an assertion or a debug section.
target_compile_options(ws_common INTERFACE
  $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=> $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/>)
# A char has a sign on x86-64 and none on arm64: the same code does the same on both.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  target_compile_options(ws_common INTERFACE -fsigned-char)
endif()
if(WS_WERROR)
  target_compile_options(ws_common INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Designated initialisers leave out what has a default: that is what the operation table is made of.
  target_compile_options(ws_common INTERFACE -Wno-missing-field-initializers)
else()
  target_compile_options(ws_common INTERFACE -Wno-missing-field-initializers -Wno-missing-braces)
endif()
if(CMAKE_UNITY_BUILD)
  # Several files in one: what one keeps to itself is shadowed in the next, and gcc 12 inlines until it takes a moved
  # variant for an uninitialised one.
  target_compile_options(ws_common INTERFACE
    -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local -Wno-subobject-linkage -Wno-maybe-uninitialized>)
endif()
if(WS_SANITIZE)
  # The instrumented code makes gcc 12 see uninitialised values where there are none.
  add_compile_options(-fsanitize=${WS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${WS_SANITIZE})
endif()

# Counts which lines run: those of the programs, not of their tests.
option(WS_COVERAGE "Count with gcov which lines of the programs run" OFF)

# The programs land in one place, whatever folder they come from: build/bin for `./dev build`.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# ws_precompiled(NAME FROM) - the headers that cost most, compiled once for FROM and taken from there by NAME. Both must
# be compiled with the same options; what they define may differ as long as no precompiled header reads it.
function(ws_precompiled name from)
  if(NOT WS_PRECOMPILE)
    return()
  elseif(name STREQUAL from)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/packaging/precompiled.hpp ${ARGN})
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  else()
    target_precompile_headers(${name} REUSE_FROM ${from})
  endif()
endfunction()

# ws_library(NAME SOURCES... ) - one of the floors of the house (ARCHITECTURE.md). Sources are listed, never globbed.
function(ws_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PRIVATE ws_common)
  if(WS_COVERAGE)
    target_compile_options(${name} PRIVATE --coverage)
    target_link_options(${name} PUBLIC --coverage)
  endif()
  ws_precompiled(${name} ws_base)
endfunction()

# ws_self_contained(TARGET CONTAINED ARCHIVES...) - links the program so that it needs the C library alone: one file to
# carry to machines where none of these packages is. It also starts faster: a third of the time went into finding and
# relocating shared libraries. A library without an archive comes shared. Appends to CONTAINED what is inside.
function(ws_self_contained target contained)
  set(inside ${${contained}})
  foreach(archive ${ARGN})
    find_library(WS_ARCHIVE_${archive} lib${archive}.a)
    mark_as_advanced(WS_ARCHIVE_${archive})
    if(WS_ARCHIVE_${archive})
      target_link_libraries(${target} PRIVATE ${WS_ARCHIVE_${archive}})
      list(APPEND inside ${archive})
    endif()
  endforeach()
  if(WS_COVERAGE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/coverage.cpp)
  endif()
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/packaging/fmt_library.cpp ${PROJECT_SOURCE_DIR}/packaging/old_glibc.cpp)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/packaging/fmt_library.cpp ${PROJECT_SOURCE_DIR}/packaging/old_glibc.cpp
    TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_options(${target} PRIVATE LINKER:--as-needed -static-libgcc -static-libstdc++)
  list(APPEND inside libstdc++ fmt)
  set(${contained} ${inside} PARENT_SCOPE)
endfunction()
