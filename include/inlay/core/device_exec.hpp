#pragma once

#include <inlay/core/config.hpp>

// Device algorithms run on CCCL: there is nothing here without it.
#if INLAY_HAS_THRUST
#include <inlay/core/device_exec.cuh>
#endif
