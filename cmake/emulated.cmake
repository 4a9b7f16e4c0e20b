# inlay::emulated, once CCCL is found: inlay whose device algorithms run on the CPU, by Thrust's C++
# systems. Serves this project, those that add it as a subdirectory, and the installed package.
#
# inlay_target_scope is GLOBAL where inlay::inlay is known to the whole build, else empty: a target
# must not outreach what it links.

# Without the device-system definition that this target carries, g++ fails inside Thrust.
if(NOT TARGET inlay_thrust_cpp)
  thrust_create_target(inlay_thrust_cpp HOST CPP DEVICE CPP ${inlay_target_scope})
endif()

if(NOT TARGET inlay::emulated)
  add_library(inlay::emulated INTERFACE IMPORTED ${inlay_target_scope})
  target_compile_definitions(inlay::emulated INTERFACE INLAY_EMULATED=1)
  target_link_libraries(inlay::emulated INTERFACE inlay::inlay inlay_thrust_cpp)
endif()
