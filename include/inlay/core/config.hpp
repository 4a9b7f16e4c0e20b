#pragma once

// The only macros of the library. Users set none of them; INLAY_EMULATED and INLAY_ZLIB come with
// the CMake targets `inlay::emulated` and `inlay::zlib`.

#define INLAY_VERSION_MAJOR 0
#define INLAY_VERSION_MINOR 1
#define INLAY_VERSION_PATCH 0

// Under -ffast-math a compiler may take it that no value is infinite or not a number, and drop the
// checks that keep a broken gradient from the tables.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "inlay must not be compiled with -ffast-math: it checks that gradients are finite"
#endif

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

// Whether files that gzip has compressed can be read. Not whether <zlib.h> is there: who does not
// link zlib must not need it.
#if defined(INLAY_ZLIB)
#define INLAY_HAS_ZLIB 1
#else
#define INLAY_HAS_ZLIB 0
#endif

// Whether registers of four floats are there whatever the flags: on every x86-64.
#if defined(__SSE2__) && !INLAY_HAS_CUDA
#define INLAY_HAS_VECTORS 1
#else
#define INLAY_HAS_VECTORS 0
#endif

// INLAY_COMPILED_ONCE stands before a function that must give the same bits to all its callers.
// Inlined, or copied for a constant argument, the same loop may fuse other products with sums.
#if defined(__clang__) || defined(__CUDACC__)
#define INLAY_COMPILED_ONCE [[gnu::noinline]]
#else
#define INLAY_COMPILED_ONCE [[gnu::noinline, gnu::noclone]]
#endif

/// Composable parts for training models with very large embedding tables.
namespace inlay::inline INLAY_ABI {}
