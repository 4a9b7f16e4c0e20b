#pragma once

#include "../train_run.hpp"

/// Trains as `options.ranks` threads that share no memory but the samples. The first one reports.
void run_on_ranks(train_options const& options, train_data const& data, run_outputs& outputs);
