// SPDX-License-Identifier: Apache-2.0
// Losses as modules. `reduction` is kMean unless said otherwise.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

namespace taeda::nn {

/// See functional::l1_loss.
class TAEDA_API L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(L1LossOptions options_ = {}) : options(std::move(options_)) { L1LossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  L1LossOptions options;
};
TAEDA_MODULE(L1Loss);

/// See functional::mse_loss.
class TAEDA_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(MSELossOptions options_ = {}) : options(std::move(options_)) { MSELossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  MSELossOptions options;
};
TAEDA_MODULE(MSELoss);

/// See functional::kl_div.
class TAEDA_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(KLDivLossOptions options_ = {}) : options(std::move(options_)) { KLDivLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  KLDivLossOptions options;
};
TAEDA_MODULE(KLDivLoss);

/// See functional::binary_cross_entropy.
class TAEDA_API BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(BCELossOptions options_ = {}) : options(std::move(options_)) { BCELossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  BCELossOptions options;
  Tensor weight;
};
TAEDA_MODULE(BCELoss);

/// See functional::binary_cross_entropy_with_logits.
class TAEDA_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {}) : options(std::move(options_)) { BCEWithLogitsLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;
};
TAEDA_MODULE(BCEWithLogitsLoss);

/// See functional::hinge_embedding_loss.
class TAEDA_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(HingeEmbeddingLossOptions options_ = {}) : options(std::move(options_)) { HingeEmbeddingLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  HingeEmbeddingLossOptions options;
};
TAEDA_MODULE(HingeEmbeddingLoss);

/// See functional::margin_ranking_loss.
class TAEDA_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(MarginRankingLossOptions options_ = {}) : options(std::move(options_)) { MarginRankingLossImpl::reset(); }
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  MarginRankingLossOptions options;
};
TAEDA_MODULE(MarginRankingLoss);

/// See functional::soft_margin_loss.
class TAEDA_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(SoftMarginLossOptions options_ = {}) : options(std::move(options_)) { SoftMarginLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  SoftMarginLossOptions options;
};
TAEDA_MODULE(SoftMarginLoss);

/// See functional::smooth_l1_loss.
class TAEDA_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(SmoothL1LossOptions options_ = {}) : options(std::move(options_)) { SmoothL1LossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  SmoothL1LossOptions options;
};
TAEDA_MODULE(SmoothL1Loss);

/// See functional::huber_loss.
class TAEDA_API HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(HuberLossOptions options_ = {}) : options(std::move(options_)) { HuberLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  HuberLossOptions options;
};
TAEDA_MODULE(HuberLoss);

/// See functional::poisson_nll_loss.
class TAEDA_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(PoissonNLLLossOptions options_ = {}) : options(std::move(options_)) { PoissonNLLLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  PoissonNLLLossOptions options;
};
TAEDA_MODULE(PoissonNLLLoss);

/// See functional::nll_loss.
class TAEDA_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(NLLLossOptions options_ = {}) : options(std::move(options_)) { NLLLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  NLLLossOptions options;
  Tensor weight;
};
TAEDA_MODULE(NLLLoss);

/// See functional::cross_entropy.
class TAEDA_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {}) : options(std::move(options_)) { CrossEntropyLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  CrossEntropyLossOptions options;
  Tensor weight;
};
TAEDA_MODULE(CrossEntropyLoss);

/// See functional::multi_margin_loss.
class TAEDA_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {}) : options(std::move(options_)) { MultiMarginLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  MultiMarginLossOptions options;
  Tensor weight;
};
TAEDA_MODULE(MultiMarginLoss);

/// See functional::multilabel_margin_loss.
class TAEDA_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(MultiLabelMarginLossOptions options_ = {}) : options(std::move(options_)) { MultiLabelMarginLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  MultiLabelMarginLossOptions options;
};
TAEDA_MODULE(MultiLabelMarginLoss);

/// See functional::multilabel_soft_margin_loss.
class TAEDA_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_ = {}) : options(std::move(options_)) { MultiLabelSoftMarginLossImpl::reset(); }
  Tensor forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  MultiLabelSoftMarginLossOptions options;
  Tensor weight;
};
TAEDA_MODULE(MultiLabelSoftMarginLoss);

/// See functional::cosine_embedding_loss.
class TAEDA_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(CosineEmbeddingLossOptions options_ = {}) : options(std::move(options_)) { CosineEmbeddingLossImpl::reset(); }
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  CosineEmbeddingLossOptions options;
};
TAEDA_MODULE(CosineEmbeddingLoss);

/// See functional::triplet_margin_loss.
class TAEDA_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(TripletMarginLossOptions options_ = {}) : options(std::move(options_)) { TripletMarginLossImpl::reset(); }
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  TripletMarginLossOptions options;
};
TAEDA_MODULE(TripletMarginLoss);

/// See functional::triplet_margin_with_distance_loss.
class TAEDA_API TripletMarginWithDistanceLossImpl : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options_ = {}) : options(std::move(options_)) { TripletMarginWithDistanceLossImpl::reset(); }
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  TripletMarginWithDistanceLossOptions options;
};
TAEDA_MODULE(TripletMarginWithDistanceLoss);

/// See functional::ctc_loss.
class TAEDA_API CTCLossImpl : public Cloneable<CTCLossImpl> {
 public:
  explicit CTCLossImpl(CTCLossOptions options_ = {}) : options(std::move(options_)) { CTCLossImpl::reset(); }
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  CTCLossOptions options;
};
TAEDA_MODULE(CTCLoss);

}  // namespace taeda::nn
