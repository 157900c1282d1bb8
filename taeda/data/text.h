// SPDX-License-Identifier: Apache-2.0
// Text for character models: a vocabulary, and windows of a text with the next characters as targets.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "taeda/core/dict.h"
#include "taeda/data/datasets.h"

namespace taeda::data {

/// The characters (code points) of a text in ascending order, and their numbers.
class TAEDA_API CharVocabulary {
 public:
  CharVocabulary() = default;
  /// Throws ValueError when the text is not UTF-8 or empty.
  explicit CharVocabulary(std::string_view text);

  size_t size() const { return characters_.size(); }
  const std::vector<std::string>& characters() const { return characters_; }
  /// int64 (characters). Throws ValueError for a character that is not in the vocabulary.
  Tensor encode(std::string_view text) const;
  /// Throws IndexError for a number without a character.
  std::string decode(const Tensor& tokens) const;
  const std::string& character(int64_t token) const;

  Value to_value() const;
  static CharVocabulary from_value(const Value& value);

 private:
  explicit CharVocabulary(std::vector<std::string> characters);
  std::vector<std::string> characters_;
  std::unordered_map<std::string, int64_t> numbers_;
};

/// The whole text of a file.
TAEDA_API std::string read_text(const std::string& path);

namespace datasets {

/// All windows of `block_size` tokens: sample i is tokens[i … i + block), its target tokens[i + 1 … i + block + 1).
class TAEDA_API TextDataset : public Dataset<TextDataset> {
 public:
  /// `tokens`: int64 (n). Throws ValueError when there is not one window.
  TextDataset(Tensor tokens, int64_t block_size);
  ~TextDataset() override;

  Example<> get(size_t index) override;
  /// int64 (N, block), twice.
  Example<> get_stacked(ArrayRef<size_t> indices);
  std::optional<size_t> size() const override { return static_cast<size_t>(tokens_.size(0) - block_size_); }
  const Tensor& tokens() const { return tokens_; }
  int64_t block_size() const { return block_size_; }

 private:
  Tensor tokens_;
  int64_t block_size_;
};

/// One pass over a text: as many windows of `block_size` tokens as lie side by side in it, each moved on by a random number of tokens below
/// `block_size`, so that every epoch sees the text once, cut elsewhere.
class TAEDA_API TextBlocks : public Dataset<TextBlocks> {
 public:
  /// `tokens`: int64 (n). Throws ValueError when there is not one window.
  TextBlocks(Tensor tokens, int64_t block_size) : windows_(std::move(tokens), block_size) {}
  ~TextBlocks() override;

  Example<> get(size_t index) override;
  /// int64 (N, block), twice.
  Example<> get_stacked(ArrayRef<size_t> indices);
  std::optional<size_t> size() const override;

 private:
  TextDataset windows_;
};

}  // namespace datasets
}  // namespace taeda::data
