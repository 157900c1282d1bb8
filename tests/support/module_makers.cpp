// SPDX-License-Identifier: Apache-2.0
#include "tests/support/module_makers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

#include "taeda/nn/nn.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "tests/support/oracle.h"

namespace taeda::test {

namespace {

using Json = nlohmann::json;
using Load = std::function<Tensor(const Json&)>;

/// Constructor arguments, assigned to option fields by name. What nobody asked for is an error.
class Kwargs {
 public:
  Kwargs(const Json& values, const Load& load) : values_(values), load_(load) {}

  /// A required argument.
  template <class T>
  T get(const std::string& name) {
    T value = blank<T>();
    used_.insert(name);
    assign(value, values_.at(name));
    return value;
  }
  /// Assigns an argument to a field when it is given.
  template <class T>
  Kwargs& take(const std::string& name, T& field) {
    if (values_.contains(name)) {
      used_.insert(name);
      assign(field, values_[name]);
    }
    return *this;
  }
  bool given(const std::string& name) {
    used_.insert(name);
    return values_.contains(name) && !values_[name].is_null();
  }
  const Json& raw(const std::string& name) {
    used_.insert(name);
    return values_.at(name);
  }
  void check_all_used() const {
    for (const auto& [name, value] : values_.items()) {
      if (!used_.contains(name)) throw std::runtime_error("no option takes the argument " + name);
    }
  }
  const Load& load() const { return load_; }

 private:
  template <class T>
  static T blank() {
    if constexpr (std::is_default_constructible_v<T>) {
      return T{};
    } else {
      return T(0);
    }
  }
  void assign(int64_t& field, const Json& v) const { field = v.get<int64_t>(); }
  void assign(bool& field, const Json& v) const { field = v.get<bool>(); }
  void assign(double& field, const Json& v) const { field = oracle_number(v); }
  void assign(std::string& field, const Json& v) const { field = v.get<std::string>(); }
  void assign(Tensor& field, const Json& v) const { field = load_(v); }
  template <class T>
  void assign(std::optional<T>& field, const Json& v) const {
    if (v.is_null()) {
      field.reset();
      return;
    }
    T value = blank<T>();
    assign(value, v);
    field = value;
  }
  template <class T>
  void assign(std::vector<T>& field, const Json& v) const {
    field.clear();
    for (const Json& item : v.is_array() ? v : Json::array({v})) {
      T value{};
      assign(value, item);
      field.push_back(value);
    }
  }
  template <size_t D, class T>
  void assign(ExpandingArray<D, T>& field, const Json& v) const {
    for (size_t i = 0; i < D; ++i) assign((*field)[i], v.is_array() ? v.at(i) : v);
  }
  /// A word for a tag ("mean" for kMean), or the alternative that is not a tag.
  template <class... Choices>
  void assign(std::variant<Choices...>& field, const Json& v) const {
    if (!(try_assign<Choices>(field, v) || ...)) throw std::runtime_error("no such choice: " + v.dump());
  }
  template <class Choice, class Variant>
  bool try_assign(Variant& field, const Json& v) const {
    if constexpr (requires { Choice::text; }) {
      if (!v.is_string()) return false;
      std::string tag = Choice::text + 1;
      std::transform(tag.begin(), tag.end(), tag.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (tag != v.get<std::string>()) return false;
      field = Choice();
      return true;
    } else if constexpr (requires(Choice c) { assign_number(c, v); }) {
      if (v.is_string()) return false;
      Choice value = blank<Choice>();
      assign(value, v);
      field = value;
      return true;
    } else {
      return false;
    }
  }
  template <size_t D, class T>
  void assign_number(ExpandingArray<D, T>&, const Json&) const {}

  const Json& values_;
  const Load& load_;
  std::set<std::string> used_;
};

using Inputs = std::vector<Tensor>;
using Maker = std::function<MadeModule(Kwargs&)>;

template <class Holder>
typename Holder::ContainedType& contained(nn::Module& m) {
  return dynamic_cast<typename Holder::ContainedType&>(m);
}

/// Calls with the first n inputs.
template <class Holder>
MadeModule one(const Holder& holder) {
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) { return Inputs{contained<Holder>(m).forward(in.at(0))}; }};
}
template <class Holder>
MadeModule two(const Holder& holder) {
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
            return Inputs{contained<Holder>(m).forward(in.at(0), in.at(1))};
          }};
}
template <class Holder>
MadeModule three(const Holder& holder) {
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
            return Inputs{contained<Holder>(m).forward(in.at(0), in.at(1), in.at(2))};
          }};
}
template <class Holder>
MadeModule with_indices(const Holder& holder, bool return_indices) {
  if (!return_indices) return one(holder);
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
            auto [values, indices] = contained<Holder>(m).forward_with_indices(in.at(0));
            return Inputs{values, indices};
          }};
}
template <class Holder>
MadeModule recurrent(const Holder& holder) {
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
            auto [output, state] = contained<Holder>(m).forward(in.at(0), in.size() > 1 ? in[1] : Tensor());
            return Inputs{output, state};
          }};
}
template <class Holder>
MadeModule recurrent_cell(const Holder& holder) {
  return {holder.ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
            return Inputs{contained<Holder>(m).forward(in.at(0), in.size() > 1 ? in[1] : Tensor())};
          }};
}
std::optional<std::tuple<Tensor, Tensor>> state_pair(const Inputs& in) {
  if (in.size() < 3) return std::nullopt;
  return std::make_tuple(in[1], in[2]);
}
bool return_indices(Kwargs& k) { return k.given("return_indices") && k.get<bool>("return_indices"); }

template <class Holder>
Maker plain() {
  return [](Kwargs&) { return one(Holder()); };
}

template <size_t D, class Holder>
Maker conv() {
  return [](Kwargs& k) {
    nn::ConvOptions<D> o(k.get<int64_t>("in_channels"), k.get<int64_t>("out_channels"), k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("padding", o.padding()).take("dilation", o.dilation()).take("groups", o.groups());
    k.take("bias", o.bias()).take("padding_mode", o.padding_mode());
    return one(Holder(o));
  };
}
template <size_t D, class Holder>
Maker conv_transpose() {
  return [](Kwargs& k) {
    nn::ConvTransposeOptions<D> o(k.get<int64_t>("in_channels"), k.get<int64_t>("out_channels"),
                                  k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("padding", o.padding()).take("output_padding", o.output_padding());
    k.take("dilation", o.dilation()).take("groups", o.groups()).take("bias", o.bias());
    return one(Holder(o));
  };
}
template <class Options, class Holder>
Maker norm() {
  return [](Kwargs& k) {
    Options o(k.get<int64_t>("num_features"));
    k.take("eps", o.eps()).take("momentum", o.momentum()).take("affine", o.affine());
    k.take("track_running_stats", o.track_running_stats());
    return one(Holder(o));
  };
}
template <class Holder>
Maker dropout() {
  return [](Kwargs& k) {
    nn::DropoutOptions o;
    k.take("p", o.p());
    return one(Holder(o));
  };
}
template <class Holder, class Options>
Maker pad() {
  return [](Kwargs& k) {
    Options o(k.get<std::decay_t<decltype(std::declval<Options>().padding())>>("padding"));
    return one(Holder(o));
  };
}
template <class Holder, size_t D>
Maker constant_pad() {
  return [](Kwargs& k) {
    return one(Holder(nn::ConstantPadOptions<D>(k.get<ExpandingArray<D * 2>>("padding"), k.get<double>("value"))));
  };
}
template <size_t D, class Holder>
Maker max_pool() {
  return [](Kwargs& k) {
    nn::MaxPoolOptions<D> o(k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("padding", o.padding()).take("dilation", o.dilation()).take("ceil_mode", o.ceil_mode());
    return with_indices(Holder(o), return_indices(k));
  };
}
template <size_t D, class Holder>
Maker avg_pool() {
  return [](Kwargs& k) {
    nn::AvgPoolOptions<D> o(k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("padding", o.padding()).take("ceil_mode", o.ceil_mode());
    k.take("count_include_pad", o.count_include_pad()).take("divisor_override", o.divisor_override());
    return one(Holder(o));
  };
}
template <class Holder, class Options>
Maker adaptive_pool() {
  return [](Kwargs& k) {
    Options o(1);
    k.take("output_size", o.output_size());
    if constexpr (requires(typename Holder::ContainedType m, Tensor t) { m.forward_with_indices(t); }) {
      return with_indices(Holder(o), return_indices(k));
    } else {
      return one(Holder(o));
    }
  };
}
template <size_t D, class Holder>
Maker max_unpool() {
  return [](Kwargs& k) {
    nn::MaxUnpoolOptions<D> o(k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("padding", o.padding());
    return two(Holder(o));
  };
}
template <size_t D, class Holder>
Maker lp_pool() {
  return [](Kwargs& k) {
    nn::LPPoolOptions<D> o(k.get<double>("norm_type"), k.get<ExpandingArray<D>>("kernel_size"));
    k.take("stride", o.stride()).take("ceil_mode", o.ceil_mode());
    return one(Holder(o));
  };
}
template <size_t D, class Holder>
Maker fractional_pool() {
  return [](Kwargs& k) {
    nn::FractionalMaxPoolOptions<D> o(k.get<ExpandingArray<D>>("kernel_size"));
    k.take("output_size", o.output_size()).take("output_ratio", o.output_ratio()).take("_random_samples", o._random_samples());
    return with_indices(Holder(o), return_indices(k));
  };
}
template <class Holder, class Options>
Maker recurrent_layers() {
  return [](Kwargs& k) {
    Options o(k.get<int64_t>("input_size"), k.get<int64_t>("hidden_size"));
    k.take("num_layers", o.num_layers()).take("bias", o.bias()).take("batch_first", o.batch_first());
    k.take("dropout", o.dropout()).take("bidirectional", o.bidirectional());
    if constexpr (requires { o.nonlinearity(); }) k.take("nonlinearity", o.nonlinearity());
    if constexpr (requires { o.proj_size(); }) {
      k.take("proj_size", o.proj_size());
      return MadeModule{Holder(o).ptr(), [](nn::Module& m, const Inputs& in, const NamedArguments&) {
                          auto [output, state] = contained<Holder>(m).forward(in.at(0), state_pair(in));
                          return Inputs{output, std::get<0>(state), std::get<1>(state)};
                        }};
    } else {
      return recurrent(Holder(o));
    }
  };
}
template <class Options>
Options cell_options(Kwargs& k) {
  Options o(k.get<int64_t>("input_size"), k.get<int64_t>("hidden_size"));
  k.take("bias", o.bias());
  if constexpr (requires { o.nonlinearity(); }) k.take("nonlinearity", o.nonlinearity());
  return o;
}
template <class Options>
Options transformer_layer(Kwargs& k) {
  Options o(k.get<int64_t>("d_model"), k.get<int64_t>("nhead"));
  k.take("dim_feedforward", o.dim_feedforward()).take("dropout", o.dropout()).take("activation", o.activation());
  return o;
}
template <class Options>
Options transformer_layer(const Json& kwargs, const Load& load) {
  Kwargs k(kwargs, load);
  const auto o = transformer_layer<Options>(k);
  k.check_all_used();
  return o;
}
/// The final norm of a stack, given by its shape.
template <class Options>
void take_norm(Kwargs& k, Options& o) {
  if (k.given("norm")) o.norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions(k.get<std::vector<int64_t>>("norm")))));
}

/// A loss with a reduction and the fields that `more` takes.
template <class Holder, class Options, class More>
Maker loss(const More& more) {
  return [more](Kwargs& k) {
    Options o;
    k.take("reduction", o.reduction());
    more(k, o);
    if constexpr (requires(typename Holder::ContainedType m, Tensor t) { m.forward(t, t); }) {
      return two(Holder(o));
    } else {
      return three(Holder(o));
    }
  };
}
template <class Holder, class Options>
Maker loss() {
  return loss<Holder, Options>([](Kwargs&, Options&) {});
}

void add_activations(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["Identity"] = plain<Identity>();
  all["SELU"] = plain<SELU>();
  all["ReLU"] = plain<ReLU>();
  all["ReLU6"] = plain<ReLU6>();
  all["Sigmoid"] = plain<Sigmoid>();
  all["Tanh"] = plain<Tanh>();
  all["LogSigmoid"] = plain<LogSigmoid>();
  all["Tanhshrink"] = plain<Tanhshrink>();
  all["Softsign"] = plain<Softsign>();
  all["SiLU"] = plain<SiLU>();
  all["Mish"] = plain<Mish>();
  all["Softmax2d"] = plain<Softmax2d>();
  all["ELU"] = [](Kwargs& k) { ELUOptions o; k.take("alpha", o.alpha()); return one(ELU(o)); };
  all["CELU"] = [](Kwargs& k) { CELUOptions o; k.take("alpha", o.alpha()); return one(CELU(o)); };
  all["GELU"] = [](Kwargs& k) { GELUOptions o; k.take("approximate", o.approximate()); return one(GELU(o)); };
  all["GLU"] = [](Kwargs& k) { GLUOptions o; k.take("dim", o.dim()); return one(GLU(o)); };
  all["Hardshrink"] = [](Kwargs& k) { HardshrinkOptions o; k.take("lambd", o.lambda()); return one(Hardshrink(o)); };
  all["Softshrink"] = [](Kwargs& k) { SoftshrinkOptions o; k.take("lambd", o.lambda()); return one(Softshrink(o)); };
  all["LeakyReLU"] = [](Kwargs& k) { LeakyReLUOptions o; k.take("negative_slope", o.negative_slope()); return one(LeakyReLU(o)); };
  all["Hardtanh"] = [](Kwargs& k) {
    HardtanhOptions o;
    k.take("min_val", o.min_val()).take("max_val", o.max_val());
    return one(Hardtanh(o));
  };
  all["Softplus"] = [](Kwargs& k) {
    SoftplusOptions o;
    k.take("beta", o.beta()).take("threshold", o.threshold());
    return one(Softplus(o));
  };
  all["RReLU"] = [](Kwargs& k) {
    RReLUOptions o;
    k.take("lower", o.lower()).take("upper", o.upper());
    return one(RReLU(o));
  };
  all["PReLU"] = [](Kwargs& k) {
    PReLUOptions o;
    k.take("num_parameters", o.num_parameters()).take("init", o.init());
    return one(PReLU(o));
  };
  all["Threshold"] = [](Kwargs& k) { return one(Threshold(k.get<double>("threshold"), k.get<double>("value"))); };
  all["Softmax"] = [](Kwargs& k) { return one(Softmax(k.get<int64_t>("dim"))); };
  all["Softmin"] = [](Kwargs& k) { return one(Softmin(k.get<int64_t>("dim"))); };
  all["LogSoftmax"] = [](Kwargs& k) { return one(LogSoftmax(k.get<int64_t>("dim"))); };
  all["Dropout"] = dropout<Dropout>();
  all["Dropout2d"] = dropout<Dropout2d>();
  all["Dropout3d"] = dropout<Dropout3d>();
  all["AlphaDropout"] = dropout<AlphaDropout>();
  all["FeatureAlphaDropout"] = dropout<FeatureAlphaDropout>();
}

void add_linear_and_conv(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["Linear"] = [](Kwargs& k) {
    LinearOptions o(k.get<int64_t>("in_features"), k.get<int64_t>("out_features"));
    k.take("bias", o.bias());
    return one(Linear(o));
  };
  all["Bilinear"] = [](Kwargs& k) {
    BilinearOptions o(k.get<int64_t>("in1_features"), k.get<int64_t>("in2_features"), k.get<int64_t>("out_features"));
    k.take("bias", o.bias());
    return two(Bilinear(o));
  };
  all["Flatten"] = [](Kwargs& k) {
    FlattenOptions o;
    k.take("start_dim", o.start_dim()).take("end_dim", o.end_dim());
    return one(Flatten(o));
  };
  all["Unflatten"] = [](Kwargs& k) {
    return one(Unflatten(UnflattenOptions(k.get<int64_t>("dim"), k.get<std::vector<int64_t>>("unflattened_size"))));
  };
  all["Sequential"] = [](Kwargs& k) {
    Sequential model;
    for (const Json& layer : k.raw("layers")) {
      const std::string name = layer.at(0);
      const auto made = make_module(name, layer.at(1), k.load());
      if (auto linear = std::dynamic_pointer_cast<LinearImpl>(made.module)) {
        model->push_back(linear);
      } else if (auto tanh = std::dynamic_pointer_cast<TanhImpl>(made.module)) {
        model->push_back(tanh);
      } else {
        throw std::runtime_error("no way to put into a Sequential: " + name);
      }
    }
    return MadeModule{model.ptr(), [](Module& m, const Inputs& in, const NamedArguments&) {
                        return Inputs{contained<Sequential>(m).forward(in.at(0))};
                      }};
  };
  all["Conv1d"] = conv<1, Conv1d>();
  all["Conv2d"] = conv<2, Conv2d>();
  all["Conv3d"] = conv<3, Conv3d>();
  all["ConvTranspose1d"] = conv_transpose<1, ConvTranspose1d>();
  all["ConvTranspose2d"] = conv_transpose<2, ConvTranspose2d>();
  all["ConvTranspose3d"] = conv_transpose<3, ConvTranspose3d>();
  all["CosineSimilarity"] = [](Kwargs& k) {
    CosineSimilarityOptions o;
    k.take("dim", o.dim()).take("eps", o.eps());
    return two(CosineSimilarity(o));
  };
  all["PairwiseDistance"] = [](Kwargs& k) {
    PairwiseDistanceOptions o;
    k.take("p", o.p()).take("eps", o.eps()).take("keepdim", o.keepdim());
    return two(PairwiseDistance(o));
  };
}

void add_norms_and_shapes(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["BatchNorm1d"] = norm<BatchNormOptions, BatchNorm1d>();
  all["BatchNorm2d"] = norm<BatchNormOptions, BatchNorm2d>();
  all["BatchNorm3d"] = norm<BatchNormOptions, BatchNorm3d>();
  all["InstanceNorm1d"] = norm<InstanceNormOptions, InstanceNorm1d>();
  all["InstanceNorm2d"] = norm<InstanceNormOptions, InstanceNorm2d>();
  all["InstanceNorm3d"] = norm<InstanceNormOptions, InstanceNorm3d>();
  all["LayerNorm"] = [](Kwargs& k) {
    LayerNormOptions o(k.get<std::vector<int64_t>>("normalized_shape"));
    k.take("eps", o.eps()).take("elementwise_affine", o.elementwise_affine());
    return one(LayerNorm(o));
  };
  all["GroupNorm"] = [](Kwargs& k) {
    GroupNormOptions o(k.get<int64_t>("num_groups"), k.get<int64_t>("num_channels"));
    k.take("eps", o.eps()).take("affine", o.affine());
    return one(GroupNorm(o));
  };
  all["LocalResponseNorm"] = [](Kwargs& k) {
    LocalResponseNormOptions o(k.get<int64_t>("size"));
    k.take("alpha", o.alpha()).take("beta", o.beta()).take("k", o.k());
    return one(LocalResponseNorm(o));
  };
  all["CrossMapLRN2d"] = [](Kwargs& k) {
    CrossMapLRN2dOptions o(k.get<int64_t>("size"));
    k.take("alpha", o.alpha()).take("beta", o.beta()).take("k", o.k());
    return one(CrossMapLRN2d(o));
  };
  all["ReflectionPad1d"] = pad<ReflectionPad1d, ReflectionPad1dOptions>();
  all["ReflectionPad2d"] = pad<ReflectionPad2d, ReflectionPad2dOptions>();
  all["ReflectionPad3d"] = pad<ReflectionPad3d, ReflectionPad3dOptions>();
  all["ReplicationPad1d"] = pad<ReplicationPad1d, ReplicationPad1dOptions>();
  all["ReplicationPad2d"] = pad<ReplicationPad2d, ReplicationPad2dOptions>();
  all["ReplicationPad3d"] = pad<ReplicationPad3d, ReplicationPad3dOptions>();
  all["ZeroPad1d"] = pad<ZeroPad1d, ZeroPad1dOptions>();
  all["ZeroPad2d"] = pad<ZeroPad2d, ZeroPad2dOptions>();
  all["ZeroPad3d"] = pad<ZeroPad3d, ZeroPad3dOptions>();
  all["ConstantPad1d"] = constant_pad<ConstantPad1d, 1>();
  all["ConstantPad2d"] = constant_pad<ConstantPad2d, 2>();
  all["ConstantPad3d"] = constant_pad<ConstantPad3d, 3>();
  all["PixelShuffle"] = [](Kwargs& k) { return one(PixelShuffle(k.get<int64_t>("upscale_factor"))); };
  all["PixelUnshuffle"] = [](Kwargs& k) { return one(PixelUnshuffle(k.get<int64_t>("downscale_factor"))); };
  all["Fold"] = [](Kwargs& k) {
    FoldOptions o(k.get<ExpandingArray<2>>("output_size"), k.get<ExpandingArray<2>>("kernel_size"));
    k.take("dilation", o.dilation()).take("padding", o.padding()).take("stride", o.stride());
    return one(Fold(o));
  };
  all["Unfold"] = [](Kwargs& k) {
    UnfoldOptions o(k.get<ExpandingArray<2>>("kernel_size"));
    k.take("dilation", o.dilation()).take("padding", o.padding()).take("stride", o.stride());
    return one(Unfold(o));
  };
  all["Upsample"] = [](Kwargs& k) {
    UpsampleOptions o;
    k.take("size", o.size()).take("scale_factor", o.scale_factor()).take("mode", o.mode()).take("align_corners", o.align_corners());
    return one(Upsample(o));
  };
}

void add_pools(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["MaxPool1d"] = max_pool<1, MaxPool1d>();
  all["MaxPool2d"] = max_pool<2, MaxPool2d>();
  all["MaxPool3d"] = max_pool<3, MaxPool3d>();
  all["AvgPool1d"] = avg_pool<1, AvgPool1d>();
  all["AvgPool2d"] = avg_pool<2, AvgPool2d>();
  all["AvgPool3d"] = avg_pool<3, AvgPool3d>();
  all["AdaptiveAvgPool1d"] = adaptive_pool<AdaptiveAvgPool1d, AdaptiveAvgPool1dOptions>();
  all["AdaptiveAvgPool2d"] = adaptive_pool<AdaptiveAvgPool2d, AdaptiveAvgPool2dOptions>();
  all["AdaptiveAvgPool3d"] = adaptive_pool<AdaptiveAvgPool3d, AdaptiveAvgPool3dOptions>();
  all["AdaptiveMaxPool1d"] = adaptive_pool<AdaptiveMaxPool1d, AdaptiveMaxPool1dOptions>();
  all["AdaptiveMaxPool2d"] = adaptive_pool<AdaptiveMaxPool2d, AdaptiveMaxPool2dOptions>();
  all["AdaptiveMaxPool3d"] = adaptive_pool<AdaptiveMaxPool3d, AdaptiveMaxPool3dOptions>();
  all["MaxUnpool1d"] = max_unpool<1, MaxUnpool1d>();
  all["MaxUnpool2d"] = max_unpool<2, MaxUnpool2d>();
  all["MaxUnpool3d"] = max_unpool<3, MaxUnpool3d>();
  all["LPPool1d"] = lp_pool<1, LPPool1d>();
  all["LPPool2d"] = lp_pool<2, LPPool2d>();
  all["LPPool3d"] = lp_pool<3, LPPool3d>();
  all["FractionalMaxPool2d"] = fractional_pool<2, FractionalMaxPool2d>();
  all["FractionalMaxPool3d"] = fractional_pool<3, FractionalMaxPool3d>();
}

void add_losses(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["L1Loss"] = loss<L1Loss, L1LossOptions>();
  all["MSELoss"] = loss<MSELoss, MSELossOptions>();
  all["MultiLabelMarginLoss"] = loss<MultiLabelMarginLoss, MultiLabelMarginLossOptions>();
  all["SoftMarginLoss"] = loss<SoftMarginLoss, SoftMarginLossOptions>();
  all["TripletMarginWithDistanceLoss"] = loss<TripletMarginWithDistanceLoss, TripletMarginWithDistanceLossOptions>(
      [](Kwargs& k, auto& o) { k.take("margin", o.margin()).take("swap", o.swap()); });
  all["SmoothL1Loss"] = loss<SmoothL1Loss, SmoothL1LossOptions>([](Kwargs& k, auto& o) { k.take("beta", o.beta()); });
  all["HuberLoss"] = loss<HuberLoss, HuberLossOptions>([](Kwargs& k, auto& o) { k.take("delta", o.delta()); });
  all["KLDivLoss"] = loss<KLDivLoss, KLDivLossOptions>([](Kwargs& k, auto& o) { k.take("log_target", o.log_target()); });
  all["BCELoss"] = loss<BCELoss, BCELossOptions>([](Kwargs& k, auto& o) { k.take("weight", o.weight()); });
  all["BCEWithLogitsLoss"] = loss<BCEWithLogitsLoss, BCEWithLogitsLossOptions>(
      [](Kwargs& k, auto& o) { k.take("weight", o.weight()).take("pos_weight", o.pos_weight()); });
  all["HingeEmbeddingLoss"] = loss<HingeEmbeddingLoss, HingeEmbeddingLossOptions>([](Kwargs& k, auto& o) { k.take("margin", o.margin()); });
  all["MultiMarginLoss"] = loss<MultiMarginLoss, MultiMarginLossOptions>(
      [](Kwargs& k, auto& o) { k.take("p", o.p()).take("margin", o.margin()).take("weight", o.weight()); });
  all["MultiLabelSoftMarginLoss"] =
      loss<MultiLabelSoftMarginLoss, MultiLabelSoftMarginLossOptions>([](Kwargs& k, auto& o) { k.take("weight", o.weight()); });
  all["CosineEmbeddingLoss"] = loss<CosineEmbeddingLoss, CosineEmbeddingLossOptions>([](Kwargs& k, auto& o) { k.take("margin", o.margin()); });
  all["MarginRankingLoss"] = loss<MarginRankingLoss, MarginRankingLossOptions>([](Kwargs& k, auto& o) { k.take("margin", o.margin()); });
  all["TripletMarginLoss"] = loss<TripletMarginLoss, TripletMarginLossOptions>(
      [](Kwargs& k, auto& o) { k.take("margin", o.margin()).take("p", o.p()).take("eps", o.eps()).take("swap", o.swap()); });
  all["PoissonNLLLoss"] = loss<PoissonNLLLoss, PoissonNLLLossOptions>(
      [](Kwargs& k, auto& o) { k.take("log_input", o.log_input()).take("full", o.full()).take("eps", o.eps()); });
  all["NLLLoss"] = loss<NLLLoss, NLLLossOptions>(
      [](Kwargs& k, auto& o) { k.take("weight", o.weight()).take("ignore_index", o.ignore_index()); });
  all["CrossEntropyLoss"] = loss<CrossEntropyLoss, CrossEntropyLossOptions>([](Kwargs& k, auto& o) {
    k.take("weight", o.weight()).take("ignore_index", o.ignore_index()).take("label_smoothing", o.label_smoothing());
  });
  all["CTCLoss"] = [](Kwargs& k) {
    CTCLossOptions o;
    k.take("blank", o.blank()).take("reduction", o.reduction()).take("zero_infinity", o.zero_infinity());
    return MadeModule{CTCLoss(o).ptr(), [](Module& m, const Inputs& in, const NamedArguments&) {
                        return Inputs{contained<CTCLoss>(m).forward(in.at(0), in.at(1), in.at(2), in.at(3))};
                      }};
  };
  all["AdaptiveLogSoftmaxWithLoss"] = [](Kwargs& k) {
    AdaptiveLogSoftmaxWithLossOptions o(k.get<int64_t>("in_features"), k.get<int64_t>("n_classes"),
                                        k.get<std::vector<int64_t>>("cutoffs"));
    k.take("div_value", o.div_value()).take("head_bias", o.head_bias());
    return MadeModule{AdaptiveLogSoftmaxWithLoss(o).ptr(), [](Module& m, const Inputs& in, const NamedArguments&) {
                        const ASMoutput out = contained<AdaptiveLogSoftmaxWithLoss>(m).forward(in.at(0), in.at(1));
                        // The loss is a number here: as a tensor with a gradient it is this.
                        const Tensor loss = (-out.output).mean();
                        if (loss.item<double>() != out.loss) throw std::runtime_error("the loss is not the mean of the output");
                        return Inputs{out.output, loss};
                      }};
  };
}

void add_sequences(std::map<std::string, Maker>& all) {
  using namespace nn;
  all["Embedding"] = [](Kwargs& k) {
    EmbeddingOptions o(k.get<int64_t>("num_embeddings"), k.get<int64_t>("embedding_dim"));
    k.take("padding_idx", o.padding_idx()).take("max_norm", o.max_norm()).take("norm_type", o.norm_type());
    return one(Embedding(o));
  };
  all["EmbeddingBag"] = [](Kwargs& k) {
    EmbeddingBagOptions o(k.get<int64_t>("num_embeddings"), k.get<int64_t>("embedding_dim"));
    k.take("mode", o.mode()).take("max_norm", o.max_norm()).take("norm_type", o.norm_type()).take("padding_idx", o.padding_idx());
    k.take("include_last_offset", o.include_last_offset());
    return MadeModule{EmbeddingBag(o).ptr(), [](Module& m, const Inputs& in, const NamedArguments& named) {
                        return Inputs{contained<EmbeddingBag>(m).forward(in.at(0), in.size() > 1 ? in[1] : Tensor(),
                                                                         named.tensor("per_sample_weights"))};
                      }};
  };
  all["RNN"] = recurrent_layers<RNN, RNNOptions>();
  all["GRU"] = recurrent_layers<GRU, GRUOptions>();
  all["LSTM"] = recurrent_layers<LSTM, LSTMOptions>();
  all["RNNCell"] = [](Kwargs& k) { return recurrent_cell(RNNCell(cell_options<RNNCellOptions>(k))); };
  all["GRUCell"] = [](Kwargs& k) { return recurrent_cell(GRUCell(cell_options<GRUCellOptions>(k))); };
  all["LSTMCell"] = [](Kwargs& k) {
    return MadeModule{LSTMCell(cell_options<LSTMCellOptions>(k)).ptr(), [](Module& m, const Inputs& in, const NamedArguments&) {
                        auto [h, c] = contained<LSTMCell>(m).forward(in.at(0), state_pair(in));
                        return Inputs{h, c};
                      }};
  };
  all["MultiheadAttention"] = [](Kwargs& k) {
    MultiheadAttentionOptions o(k.get<int64_t>("embed_dim"), k.get<int64_t>("num_heads"));
    k.take("dropout", o.dropout()).take("bias", o.bias()).take("add_bias_kv", o.add_bias_kv());
    k.take("add_zero_attn", o.add_zero_attn()).take("kdim", o.kdim()).take("vdim", o.vdim());
    return MadeModule{MultiheadAttention(o).ptr(), [](Module& m, const Inputs& in, const NamedArguments& named) {
                        auto [output, weights] = contained<MultiheadAttention>(m).forward(
                            in.at(0), in.at(1), in.at(2), named.tensor("key_padding_mask"), named.flag("need_weights", true),
                            named.tensor("attn_mask"), named.flag("average_attn_weights", true));
                        return Inputs{output, weights};
                      }};
  };
}

void add_transformers(std::map<std::string, Maker>& all) {
  using namespace nn;
  const auto encode = []<class Holder>(const Holder& holder) {
    return MadeModule{holder.ptr(), [](Module& m, const Inputs& in, const NamedArguments& named) {
                        return Inputs{contained<Holder>(m).forward(in.at(0), named.tensor("src_mask"),
                                                                   named.tensor("src_key_padding_mask"))};
                      }};
  };
  const auto decode = []<class Holder>(const Holder& holder) {
    return MadeModule{holder.ptr(), [](Module& m, const Inputs& in, const NamedArguments& named) {
                        return Inputs{contained<Holder>(m).forward(in.at(0), in.at(1), named.tensor("tgt_mask"),
                                                                   named.tensor("memory_mask"))};
                      }};
  };
  all["TransformerEncoderLayer"] = [encode](Kwargs& k) {
    return encode(TransformerEncoderLayer(transformer_layer<TransformerEncoderLayerOptions>(k)));
  };
  all["TransformerDecoderLayer"] = [decode](Kwargs& k) {
    return decode(TransformerDecoderLayer(transformer_layer<TransformerDecoderLayerOptions>(k)));
  };
  all["TransformerEncoder"] = [encode](Kwargs& k) {
    TransformerEncoderOptions o(transformer_layer<TransformerEncoderLayerOptions>(k.raw("encoder_layer"), k.load()),
                                k.get<int64_t>("num_layers"));
    take_norm(k, o);
    return encode(TransformerEncoder(o));
  };
  all["TransformerDecoder"] = [decode](Kwargs& k) {
    TransformerDecoderOptions o(transformer_layer<TransformerDecoderLayerOptions>(k.raw("decoder_layer"), k.load()),
                                k.get<int64_t>("num_layers"));
    take_norm(k, o);
    return decode(TransformerDecoder(o));
  };
  all["Transformer"] = [](Kwargs& k) {
    TransformerOptions o;
    k.take("d_model", o.d_model()).take("nhead", o.nhead()).take("num_encoder_layers", o.num_encoder_layers());
    k.take("num_decoder_layers", o.num_decoder_layers()).take("dim_feedforward", o.dim_feedforward());
    k.take("dropout", o.dropout()).take("activation", o.activation());
    return MadeModule{Transformer(o).ptr(), [](Module& m, const Inputs& in, const NamedArguments& named) {
                        return Inputs{contained<Transformer>(m).forward(in.at(0), in.at(1), named.tensor("src_mask"),
                                                                        named.tensor("tgt_mask"))};
                      }};
  };
}

const std::map<std::string, Maker>& makers() {
  static const auto* all = [] {
    auto* table = new std::map<std::string, Maker>;
    add_activations(*table);
    add_linear_and_conv(*table);
    add_norms_and_shapes(*table);
    add_pools(*table);
    add_losses(*table);
    add_sequences(*table);
    add_transformers(*table);
    return table;
  }();
  return *all;
}

}  // namespace

Tensor NamedArguments::tensor(const std::string& name) const {
  const auto it = tensors.find(name);
  return it == tensors.end() ? Tensor() : it->second;
}
bool NamedArguments::flag(const std::string& name, bool usual) const {
  const auto it = flags.find(name);
  return it == flags.end() ? usual : it->second;
}

MadeModule make_module(const std::string& class_name, const Json& kwargs, const Load& load) {
  const auto it = makers().find(class_name);
  if (it == makers().end()) return {};
  Kwargs k(kwargs, load);
  MadeModule made = it->second(k);
  k.check_all_used();
  return made;
}

}  // namespace taeda::test
