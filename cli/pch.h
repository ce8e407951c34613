#pragma once

// Precompiled: what most commands include of other libraries; none of ours, so that a change never rebuilds all.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
