#pragma once

#include <inlay/core/config.hpp>
#include <inlay/core/error.hpp>

#include <cstddef>
#include <string>

#if INLAY_HAS_CUDA
#include <cuda_runtime.h>

#include <memory>
#else
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#endif

namespace inlay::inline INLAY_ABI {

#if INLAY_HAS_CUDA

namespace detail {

inline void check_cuda(cudaError_t status, char const* what) {
  if (status != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(status));
}

template <class Body>
__global__ void for_each_kernel(std::size_t count, Body body) {
  auto const stride = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    body(i);
  }
}

}  // namespace detail

/// Execution on the GPU: a stream, shared by all copies of the handle. What is submitted runs in
/// order, after the call has returned.
class device_exec {
 public:
  static constexpr char const* name = "cuda";

  /// Whether there is a GPU. All else throws where there is none.
  [[nodiscard]] static bool is_available() noexcept {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  }

  /// On a stream of its own of the current GPU.
  device_exec() {
    cudaStream_t stream = nullptr;
    detail::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                       "the GPU gives no stream");
    stream_ = std::shared_ptr<CUstream_st>(stream, cudaStreamDestroy);
  }

  /// Calls body(i) for every i of [0, count), side by side. `body` is copied to the GPU.
  template <class Body>
  void for_each(std::size_t count, Body const& body) const {
    constexpr std::size_t threads = 128;
    constexpr std::size_t most_blocks = 65'536;
    if (count == 0) return;
    auto const blocks = (count + threads - 1) / threads;
    detail::for_each_kernel<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks),
                              static_cast<unsigned>(threads), 0, stream_.get()>>>(count, body);
    detail::check_cuda(cudaGetLastError(), "the GPU does not take a kernel");
  }

  /// Waits until all that was submitted is done. Synchronises.
  void wait() const {
    detail::check_cuda(cudaStreamSynchronize(stream_.get()), "the GPU reports an error");
  }

 private:
  std::shared_ptr<CUstream_st> stream_;
};

#else

/// Execution of device algorithms on the CPU, by Thrust's C++ system: what is submitted runs before
/// the call returns.
class device_exec {
 public:
  static constexpr char const* name = "emulated";

  /// Always: it is the CPU.
  [[nodiscard]] static bool is_available() noexcept { return true; }

  /// Calls body(i) for every i of [0, count).
  template <class Body>
  void for_each(std::size_t count, Body const& body) const {
    thrust::for_each_n(thrust::device, thrust::counting_iterator<std::size_t>(0), count, body);
  }

  /// Nothing is ever under way.
  void wait() const noexcept {}
};

#endif

}  // namespace inlay::inline INLAY_ABI
