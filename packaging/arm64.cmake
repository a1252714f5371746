# Toolchain file: builds for arm64 with Debian's cross compiler and the packages that packaging/sysroot.sh unpacked into
# WS_SYSROOT; an emulator runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Configuring tries the compiler in projects of their own, which get this variable too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WS_SYSROOT)
set(CMAKE_SYSROOT ${WS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${WS_SYSROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${WS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${WS_SYSROOT}/usr/share/pkgconfig)
