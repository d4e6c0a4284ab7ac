#include "jani/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr int max_depth = 2000;

class Parser {
  public:
    Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // some published models start with a byte order mark
    }

    Json parse() {
        Json value = parse_value(0);
        skip_space();
        if (at_ != text_.size()) fail("text after the end of the JSON value");
        return value;
    }

  private:
    [[noreturn]] void fail(const std::string& message) const {
        std::size_t line = 1, column = 1;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            ++column;
            if (text_[i] == '\n') ++line, column = 1;
        }
        throw InputError(file_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_space() {
        while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r'))
            ++at_;
    }
    void expect(char c) {
        if (peek() != c || at_ >= text_.size()) fail(std::string("expected '") + c + "'");
        ++at_;
    }
    bool accept(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    Json parse_value(int depth) {
        if (depth > max_depth) fail("nested more than " + std::to_string(max_depth) + " levels deep");
        skip_space();
        Json value;
        switch (peek()) {
            case '{':
                parse_object(value, depth);
                break;
            case '[':
                parse_array(value, depth);
                break;
            case '"':
                value.kind = Json::Kind::string;
                value.string = parse_string();
                break;
            case 't':
            case 'f':
                value.kind = Json::Kind::boolean;
                value.boolean = peek() == 't';
                if (!accept("true") && !accept("false")) fail("expected a JSON value");
                break;
            case 'n':
                if (!accept("null")) fail("expected a JSON value");
                break;
            default:
                parse_number(value);
        }
        return value;
    }

    void parse_object(Json& value, int depth) {
        value.kind = Json::Kind::object;
        expect('{');
        skip_space();
        if (peek() == '}') {
            ++at_;
            return;
        }
        while (true) {
            skip_space();
            std::string name = parse_string();
            skip_space();
            expect(':');
            value.members.emplace_back(std::move(name), parse_value(depth + 1));
            skip_space();
            if (peek() != ',') break;
            ++at_;
        }
        expect('}');
        std::vector<std::string_view> names;
        for (const auto& [name, member] : value.members) names.push_back(name);
        std::sort(names.begin(), names.end());
        auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice != names.end()) fail("the member '" + std::string(*twice) + "' occurs twice");
    }

    void parse_array(Json& value, int depth) {
        value.kind = Json::Kind::array;
        expect('[');
        skip_space();
        if (peek() == ']') {
            ++at_;
            return;
        }
        while (true) {
            value.items.push_back(parse_value(depth + 1));
            skip_space();
            if (peek() != ',') break;
            ++at_;
        }
        expect(']');
    }

    unsigned parse_hex() {
        unsigned code = 0;
        if (at_ + 4 > text_.size()) fail("a \\u escape needs four digits");
        auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
        if (error != std::errc{} || end != text_.data() + at_ + 4)
            fail("a \\u escape needs four hexadecimal digits");
        at_ += 4;
        return code;
    }

    void append_utf8(std::string& out, unsigned code) {
        auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
        } else {
            put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f));
            put(0x80 | (code & 0x3f));
        }
    }

    std::string parse_string() {
        expect('"');
        std::string out;
        while (true) {
            if (at_ >= text_.size()) fail("a string has no end");
            char c = text_[at_++];
            if (c == '"') return out;
            if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
            if (c != '\\') {
                out.push_back(c);
                continue;
            }
            c = peek();
            ++at_;
            switch (c) {
                case '"':
                case '\\':
                case '/':
                    out.push_back(c);
                    break;
                case 'b':
                    out.push_back('\b');
                    break;
                case 'f':
                    out.push_back('\f');
                    break;
                case 'n':
                    out.push_back('\n');
                    break;
                case 'r':
                    out.push_back('\r');
                    break;
                case 't':
                    out.push_back('\t');
                    break;
                case 'u': {
                    unsigned code = parse_hex();
                    if (code >= 0xd800 && code < 0xdc00) {
                        if (!accept("\\u")) fail("half of a surrogate pair");
                        unsigned low = parse_hex();
                        if (low < 0xdc00 || low > 0xdfff) fail("half of a surrogate pair");
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    } else if (code >= 0xdc00 && code < 0xe000) {
                        fail("half of a surrogate pair");
                    }
                    append_utf8(out, code);
                    break;
                }
                default:
                    fail("unknown escape in a string");
            }
        }
    }

    void parse_number(Json& value) {
        std::size_t start = at_;
        auto digits = [this] {
            std::size_t before = at_;
            while (peek() >= '0' && peek() <= '9') ++at_;
            if (at_ == before) fail("expected a JSON value");
        };
        if (peek() == '-') ++at_;
        if (peek() == '0')
            ++at_;  // JSON allows no digits after a leading zero
        else
            digits();
        bool whole = true;
        if (peek() == '.') whole = false, ++at_, digits();
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            digits();
        }
        const char* first = text_.data() + start;
        const char* last = text_.data() + at_;
        if (whole) {
            value.kind = Json::Kind::integer;
            if (std::from_chars(first, last, value.integer).ec == std::errc{}) return;
        }
        value.kind = Json::Kind::real;
        if (std::from_chars(first, last, value.real).ec != std::errc{} || !std::isfinite(value.real))
            fail("a number beyond what a double can hold");
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
    for (const auto& [key, value] : members)
        if (key == name) return &value;
    return nullptr;
}

Json parse_json(std::string_view text, const std::string& file) {
    return Parser(text, file).parse();
}

std::string Path::text() const {
    std::vector<const Node*> chain;
    for (const Node* node = node_.get(); node; node = node->parent.get()) chain.push_back(node);
    std::string text = chain.back()->name + ": $";
    for (std::size_t i = chain.size() - 1; i-- > 0;) {
        if (i > 20 && chain.size() - i > 40) {  // a chain of operators: its middle says nothing
            if (i == 21) text += ".…";
            continue;
        }
        text += chain[i]->named ? "." + chain[i]->name : "[" + std::to_string(chain[i]->index) + "]";
    }
    return text;
}

void Path::fail(const std::string& message) const {
    throw InputError(text() + ": " + message);
}

void Path::unsupported(const std::string& message) const {
    throw UnsupportedFeature(text() + ": " + message);
}

const Json& Path::need(const Json& object, std::string_view name) const {
    if (!object.is(Json::Kind::object)) fail("expected an object");
    const Json* value = object.find(name);
    if (!value) fail("the member '" + std::string(name) + "' is missing");
    return *value;
}

const Json& Path::array(const Json& object, std::string_view name) const {
    static const Json nothing;
    if (!object.is(Json::Kind::object)) fail("expected an object");
    const Json* value = object.find(name);
    if (!value) return nothing;
    if (!value->is(Json::Kind::array)) member(name).fail("expected an array");
    return *value;
}

std::string Path::string(const Json& object, std::string_view name) const {
    const Json& value = need(object, name);
    if (!value.is(Json::Kind::string)) member(name).fail("expected a string");
    return value.string;
}

}  // namespace misstep::jani
