# Every library the project uses, each as one imported target. All are Debian 12 packages; `./dev install-deps` has the list.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS url)

# Opened at run time by the files that use them (api-client/http/curl.cpp, sync-engine/git/): only their headers are needed.
find_path(WS_CURL_INCLUDE curl/curl.h REQUIRED)
find_path(WS_GIT2_INCLUDE git2.h REQUIRED)

find_path(WS_UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(WS_UTF8PROC utf8proc REQUIRED)
find_path(WS_CMARK_INCLUDE cmark-gfm.h REQUIRED)
find_library(WS_CMARK cmark-gfm REQUIRED)
find_library(WS_CMARK_EXTENSIONS cmark-gfm-extensions REQUIRED)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
