// SPDX-License-Identifier: Apache-2.0
// Characters and windows of text.
#include "taeda/data/text.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "taeda/data/random.h"
#include "taeda/io/file.h"
#include "taeda/io/tensor_bytes.h"

namespace taeda::data {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 33;

/// Calls f(character) for each code point. Throws ValueError where the text is not UTF-8.
template <class F>
void for_each_character(std::string_view text, F&& f) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    bool valid = length > 0 && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) valid = (text[i + k] & 0xc0) == 0x80;
    TAEDA_CHECK_VALUE(valid, "[text] the text must be UTF-8: got a byte ", static_cast<int>(c), " at ", i, "; convert the file");
    f(text.substr(i, length));
    i += length;
  }
}

}  // namespace

CharVocabulary::CharVocabulary(std::vector<std::string> characters) : characters_(std::move(characters)) {
  for (size_t i = 0; i < characters_.size(); ++i) numbers_.emplace(characters_[i], static_cast<int64_t>(i));
}

CharVocabulary::CharVocabulary(std::string_view text) {
  TAEDA_CHECK_VALUE(!text.empty(), "[text] the text must not be empty: got nothing; check the file");
  std::set<std::string, std::less<>> seen;  // UTF-8 sorts as its code points do
  for_each_character(text, [&](std::string_view character) {
    if (seen.find(character) == seen.end()) seen.emplace(character);
  });
  *this = CharVocabulary(std::vector<std::string>(seen.begin(), seen.end()));
}

Tensor CharVocabulary::encode(std::string_view text) const {
  std::vector<int64_t> tokens;
  tokens.reserve(text.size());
  int64_t ascii[128];
  for (int c = 0; c < 128; ++c) {
    const auto found = numbers_.find(std::string(1, static_cast<char>(c)));
    ascii[c] = found == numbers_.end() ? -1 : found->second;
  }
  for_each_character(text, [&](std::string_view character) {
    int64_t token = -1;
    if (character.size() == 1) {
      token = ascii[static_cast<unsigned char>(character[0])];
    } else if (const auto found = numbers_.find(std::string(character)); found != numbers_.end()) {
      token = found->second;
    }
    TAEDA_CHECK_VALUE(token >= 0, "[text] every character must be in the vocabulary: got '", character, "'; the vocabulary has ", size(),
                      " characters, those of the training text");
    tokens.push_back(token);
  });
  Tensor out = make_tensor({static_cast<int64_t>(tokens.size())}, kLong);
  std::copy(tokens.begin(), tokens.end(), reinterpret_cast<int64_t*>(io::raw_data(out)));
  return out;
}

const std::string& CharVocabulary::character(int64_t token) const {
  TAEDA_CHECK_INDEX(token >= 0 && token < static_cast<int64_t>(size()), "[text] a token must be below the size of the vocabulary: got ", token, " of ",
                    size(), "; check the model's number of classes");
  return characters_[static_cast<size_t>(token)];
}

std::string CharVocabulary::decode(const Tensor& tokens) const {
  const Tensor row = tokens.is_contiguous() ? tokens : tokens.contiguous();
  const auto* data = row.const_data_ptr<int64_t>();
  std::string text;
  for (int64_t i = 0; i < row.numel(); ++i) text += character(data[i]);
  return text;
}

Value CharVocabulary::to_value() const { return Value::List(characters_.begin(), characters_.end()); }

CharVocabulary CharVocabulary::from_value(const Value& value) {
  std::vector<std::string> characters;
  for (const Value& v : value.list()) characters.push_back(v.string());
  return CharVocabulary(std::move(characters));
}

std::string read_text(const std::string& path) { return io::read_file(path, kMaxFile); }

namespace datasets {

TextDataset::TextDataset(Tensor tokens, int64_t block_size) : tokens_(std::move(tokens)), block_size_(block_size) {
  TAEDA_CHECK_VALUE(tokens_.defined() && tokens_.dim() == 1 && tokens_.scalar_type() == kLong && tokens_.is_contiguous(),
                    "[TextDataset] the tokens must be a row of int64: got ", tokens_.defined() ? str(tokens_.scalar_type(), tokens_.sizes()) : std::string("nothing"),
                    "; make them with CharVocabulary::encode");
  TAEDA_CHECK_VALUE(block_size > 0 && tokens_.size(0) > block_size, "[TextDataset] the text must be longer than a window: got ", tokens_.size(0),
                    " tokens for windows of ", block_size, "; use a longer text or a shorter window");
}
TextDataset::~TextDataset() = default;

Example<> TextDataset::get(size_t index) {
  const std::vector<size_t> one = {index};
  Example<> batch = get_stacked(one);
  return {batch.data.select(0, 0), batch.target.select(0, 0)};
}

Example<> TextDataset::get_stacked(ArrayRef<size_t> indices) {
  const auto count = static_cast<int64_t>(indices.size());
  Example<> batch(make_tensor({count, block_size_}, kLong), make_tensor({count, block_size_}, kLong));
  const auto* tokens = tokens_.const_data_ptr<int64_t>();
  auto* data = reinterpret_cast<int64_t*>(io::raw_data(batch.data));
  auto* target = reinterpret_cast<int64_t*>(io::raw_data(batch.target));
  for (const size_t index : indices) {
    TAEDA_CHECK_INDEX(index < *size(), "[TextDataset] the number of a sample must be below the size: got ", index, " of ", *size(),
                      "; check the sampler's size");
    std::memcpy(data, tokens + index, static_cast<size_t>(block_size_) * sizeof(int64_t));
    std::memcpy(target, tokens + index + 1, static_cast<size_t>(block_size_) * sizeof(int64_t));
    data += block_size_;
    target += block_size_;
  }
  return batch;
}

TextBlocks::~TextBlocks() = default;

std::optional<size_t> TextBlocks::size() const {
  return static_cast<size_t>((windows_.tokens().size(0) - 1) / windows_.block_size());
}

Example<> TextBlocks::get(size_t index) {
  const std::vector<size_t> one = {index};
  Example<> batch = get_stacked(one);
  return {batch.data.select(0, 0), batch.target.select(0, 0)};
}

Example<> TextBlocks::get_stacked(ArrayRef<size_t> indices) {
  Random& random = current_random();
  const auto block = static_cast<size_t>(windows_.block_size()), last = *windows_.size() - 1;
  std::vector<size_t> starts;
  starts.reserve(indices.size());
  for (const size_t index : indices) {
    TAEDA_CHECK_INDEX(index < *size(), "[TextBlocks] the number of a sample must be below the size: got ", index, " of ", *size(),
                      "; check the sampler's size");
    starts.push_back(std::min(last, index * block + static_cast<size_t>(random.below(static_cast<int64_t>(block)))));
  }
  return windows_.get_stacked(starts);
}

}  // namespace datasets
}  // namespace taeda::data
