#include "tests/check.hpp"

int main() {
    int failed_tests = 0;
    for (const auto& test : misstep::testing::all_tests()) {
        int before = misstep::testing::failures();
        test.body();
        if (misstep::testing::failures() != before) {
            std::printf("FAILED %s\n", test.name);
            ++failed_tests;
        }
    }
    std::printf("%zu passed, %d failed\n",
                misstep::testing::all_tests().size() - static_cast<std::size_t>(failed_tests), failed_tests);
    return failed_tests == 0 ? 0 : 1;
}
