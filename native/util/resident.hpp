// How much memory the process has in use, as the operating system counts it.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace misstep {

// Bytes of memory that are the process's own now; 0 where the system does not tell.
inline std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t size = 0, resident = 0, shared = 0;
    if (!(file >> size >> resident >> shared) || shared > resident) return 0;
    return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Bytes of memory that the machine has.
inline std::size_t machine_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Gives memory back to the system that was freed, but kept for later.
inline void give_back_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace misstep
