// A test runner in a page: TEST(name) { CHECK(condition); }. A library would be larger than what is tested
// with it.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace misstep::testing {

struct TestCase {
    const char* name;
    std::function<void()> body;
};
inline std::vector<TestCase>& all_tests() {
    static std::vector<TestCase> tests;
    return tests;
}
inline int& failures() {
    static int count = 0;
    return count;
}
struct Register {
    Register(const char* name, std::function<void()> body) { all_tests().push_back({name, std::move(body)}); }
};

}  // namespace misstep::testing

#define TEST(name)                                                               \
    static void test_##name();                                                   \
    static const misstep::testing::Register register_##name(#name, test_##name); \
    static void test_##name()

// The expression must throw just this kind of error, or one derived from it.
#define CHECK_THROWS(Error, expression) CHECK_THROWS_SAYING(Error, "", expression)

// Likewise, and the message must contain the text.
#define CHECK_THROWS_SAYING(Error, text, expression)                                   \
    do {                                                                               \
        bool is_thrown = false;                                                        \
        try {                                                                          \
            static_cast<void>(expression);                                             \
        } catch (const Error& error) {                                                 \
            is_thrown = std::string(error.what()).find(text) != std::string::npos;     \
            if (!is_thrown) std::printf("the message is: %s\n", error.what());         \
        }                                                                              \
        CHECK(is_thrown && #Error " from " #expression);                               \
    } while (false)

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            ++misstep::testing::failures();                                     \
        }                                                                       \
    } while (false)
