// Runs all tests, or those whose name contains the first argument.
#include <cstring>
#include <exception>

#include "tests/check.hpp"

namespace {

// An error that escapes is a failure like any other; the tests after it still run.
void run(const misstep::testing::TestCase& test) {
    try {
        test.body();
    } catch (const std::exception& error) {
        std::printf("%s: threw: %s\n", test.name, error.what());
        ++misstep::testing::failures();
    }
}

}  // namespace

int main(int argc, char** argv) {
    int passed = 0, failed = 0;
    for (const auto& test : misstep::testing::all_tests()) {
        if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr) continue;
        const int before = misstep::testing::failures();
        run(test);
        const bool is_good = misstep::testing::failures() == before;
        if (!is_good) std::printf("FAILED %s\n", test.name);
        ++(is_good ? passed : failed);
    }
    std::printf("C++ unit tests: %d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
