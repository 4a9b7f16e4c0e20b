#pragma once

#include <inlay/batch/batch.hpp>

/// The first clicks of the synthetic data. One batch, since the program only has to learn by heart.
inlay::batch some_clicks();
