#pragma once

// Precompiled for all tests: what most of them include of other libraries; none of ours, so that a change never rebuilds all.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
