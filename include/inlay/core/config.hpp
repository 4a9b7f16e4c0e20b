#pragma once

// The only macros of the library. Users set none of them; INLAY_EMULATED comes with the CMake
// target `inlay::emulated`.

#define INLAY_VERSION_MAJOR 0
#define INLAY_VERSION_MINOR 1
#define INLAY_VERSION_PATCH 0

// INLAY_ABI names the inline namespace around everything. A type that holds device storage has
// another layout in each build, so a program that mixes builds must fail to link rather than run.
#if defined(__CUDACC__)
#define INLAY_HAS_CUDA 1
#define INLAY_HAS_THRUST 1
#define INLAY_HD __host__ __device__
#define INLAY_ABI cuda_v0
#elif defined(INLAY_EMULATED)
#define INLAY_HAS_CUDA 0
#define INLAY_HAS_THRUST 1
#define INLAY_HD
#define INLAY_ABI emulated_v0
#else
#define INLAY_HAS_CUDA 0
#define INLAY_HAS_THRUST 0
#define INLAY_HD
#define INLAY_ABI host_v0
#endif

namespace inlay::inline INLAY_ABI {}
