#!/usr/bin/env python3
"""Makes the three networks of this folder from the publisher's two.

    pip download --no-deps moonshine-voice==0.0.73 && unzip moonshine_voice-0.0.73-*.whl -d wheel
    pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    python make.py wheel/moonshine_voice/assets/tiny-en out-folder

The publisher's weights, in graphs of few operations instead of some two thousand. What changes, and why:
- Rotary positions and attention are one operation each (com.microsoft.RotaryEmbedding, MultiHeadAttention)
  instead of a hundred that slice, pad and join; layers of the same input are one multiplication.
- The decoder has one branch, which begins a text and goes on with it: the caller gives the past, at first of
  no tokens. Keys and values of the sound leave the encoder, so the decoder needs no mask of the sound.
- The convolutions up to the first one whose result depends on the whole of the sound are a network of their
  own, so that a stream's further sound alone goes through them. The normalisation between them (one group,
  over all of the sound) is linear but for the sound's mean and deviation: it is applied behind the second
  convolution, by the encoder.
- Weights of 8 bits are signed, the same numbers less 128, as processors with VNNI multiply only these fast.
  Others would saturate: they need onnxruntime's session option `session.x64quantprecision`.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import InferenceSession

LAYERS, HEADS, HEAD, WIDTH, HIDDEN, TOKENS = 6, 8, 36, 288, 1152, 32768
# Of the 36 numbers of a head so many are turned by their position; there are tables for so many positions.
ROTARY, POSITIONS = 32, 2048
TYPES = {TensorProto.FLOAT: np.float32, TensorProto.UINT8: np.uint8, TensorProto.INT64: np.int64}


class Source:
    """The weights of a file in onnxruntime's own format, and which of them its layers have."""

    def __init__(self, path: Path):
        self.tensors, self.inputs = {}, {}
        session = InferenceSession.GetRootAsInferenceSession(path.read_bytes(), 0)
        self._read(session.Model().Graph())

    def _read(self, graph):
        for tensor in map(graph.Initializers, range(graph.InitializersLength())):
            if tensor.RawDataLength() == 0:
                continue
            shape = [tensor.Dims(n) for n in range(tensor.DimsLength())]
            values = np.frombuffer(tensor.RawDataAsNumpy().tobytes(), TYPES[tensor.DataType()])
            name = tensor.Name().decode().replace("_merged_0", "").replace("model.decoder.", "")
            self.tensors[name] = values.reshape(shape)
        for node in map(graph.Nodes, range(graph.NodesLength())):
            names = [node.Inputs(n).decode().replace("_merged_0", "") for n in range(node.InputsLength())]
            name = node.Name().decode().replace("/model/decoder", "")
            self.inputs.setdefault(name, (node.OpType().decode(), names))
            for attribute in map(node.Attributes, range(node.AttributesLength())):
                if attribute.G() is not None:
                    self._read(attribute.G())

    def linear(self, name):
        """Weights [in, out], scale, zero point and bias (or None) of a layer."""
        kind, names = self.inputs[f"{name}/MatMul_quant"]
        places = {"DynamicQuantizeMatMul": (1, 2, 3, 4), "MatMulIntegerToFloat": (1, 3, 5, 6)}[kind]
        names = [names[n].replace("model.decoder.", "") if n < len(names) else "" for n in places]
        return [self.tensors[each] if each else None for each in names]


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, values):
        self.constants[name] = np.ascontiguousarray(values)
        return name

    def add(self, kind, inputs, outputs=1, **attributes):
        if isinstance(outputs, int):
            outputs = [f"{kind}.{len(self.nodes)}.{n}" for n in range(outputs)]
        domain = attributes.pop("domain", "")
        self.nodes.append(helper.make_node(kind, inputs, outputs, f"{kind}.{len(self.nodes)}", domain=domain, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def own(self, kind, inputs, outputs=1, **attributes):
        """An operation of onnxruntime's own."""
        return self.add(kind, inputs, outputs, domain="com.microsoft", **attributes)

    def linear(self, name, x, *layers, outputs=1):
        """Layers of the same input as one: what each adds is columns."""
        weights = np.concatenate([layer[0] for layer in layers], 1).astype(np.int16) - 128
        scale, zero = layers[0][1:3]
        if len(layers) > 1:
            scale, zero = (np.concatenate([np.full(layer[0].shape[1], layer[n]) for layer in layers]) for n in (1, 2))
        inputs = [
            x,
            self.constant(f"{name}.weight", weights.astype(np.int8)),
            self.constant(f"{name}.scale", np.asarray(scale, np.float32)),
            self.constant(f"{name}.zero", (np.asarray(zero, np.int16) - 128).astype(np.int8)),
        ]
        if layers[0][3] is not None:
            inputs.append(self.constant(f"{name}.bias", np.concatenate([layer[3] for layer in layers])))
        return self.own("DynamicQuantizeMatMul", inputs, outputs)

    def norm(self, x, name, weight):
        return self.add("LayerNormalization", [x, self.constant(f"{name}.weight", weight)], axis=-1, epsilon=1e-5)

    def rotations(self, frequencies):
        angles = np.arange(POSITIONS, dtype=np.float32)[:, None] * frequencies.reshape(1, -1)
        self.constant("cos", np.cos(angles))
        self.constant("sin", np.sin(angles))

    def query_key_value(self, source, at, x, position):
        """Queries and keys, turned by their positions, and values."""
        layers = [source.linear(f"/{at}/self_attn/{part}_proj") for part in "qkv"]
        sizes = self.constant("three", np.full(3, WIDTH))
        q, k, v = self.add("Split", [self.linear(f"{at}.qkv", x, *layers), sizes], 3, axis=-1)
        turned = [
            self.own("RotaryEmbedding", [each, position, "cos", "sin"], interleaved=1, num_heads=HEADS, rotary_embedding_dim=ROTARY)
            for each in (q, k)
        ]
        return [*turned, v]

    def attention(self, inputs, outputs=1, causal=0):
        scale = float(1 / np.sqrt(HEAD))
        return self.own("MultiHeadAttention", inputs, outputs, num_heads=HEADS, scale=scale, unidirectional=causal)

    def save(self, path, inputs, outputs):
        constants = [numpy_helper.from_array(values, name) for name, values in self.constants.items()]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def tensor(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def cached(kind, length):
    names = [f"{kind}.{layer}.{part}" for layer in range(LAYERS) for part in ("key", "value")]
    return [tensor(name, 1, HEADS, length, HEAD) for name in names]


def frontend(source, path):
    """Samples to frames of 12 ms, of 511 samples each: linear in what the encoder normalises."""
    graph, weights = Graph(), source.tensors
    axis = graph.constant("axis", np.array([1]))
    x = graph.add("Unsqueeze", ["sound", axis])
    x = graph.add("Conv", [x, graph.constant("conv1.weight", weights["conv1.weight_add_tensor"])], strides=[64])
    x = graph.add("Tanh", [x])
    graph.add("ReduceSum", [x, axis], ["sums"], keepdims=0)
    graph.add("ReduceSumSquare", [x], ["squares"], axes=[1], keepdims=0)
    scaled = weights["conv2.weight_add_tensor"] * weights["onnx::Mul_2080"].reshape(1, WIDTH, 1)
    x = graph.add("Conv", [x, graph.constant("conv2.weight", scaled)], strides=[3])
    graph.add("Transpose", [x], ["features"], perm=[0, 2, 1])
    outputs = [tensor("features", 1, "frames", 2 * WIDTH), tensor("sums", 1, "steps"), tensor("squares", 1, "steps")]
    graph.save(path, [tensor("sound", 1, "samples")], outputs)


def encoder(source, decoder, path):
    """Frames of 24 ms from the frontend's, and from them the keys and values of the decoder's layers."""
    graph, weights = Graph(), source.tensors
    graph.rotations(weights["onnx::Expand_202"])
    kernel = weights["conv2.weight_add_tensor"]
    ones = (kernel * weights["onnx::Mul_2080"].reshape(1, WIDTH, 1)).sum((1, 2))
    bias = weights["conv2.bias"] + (kernel * weights["onnx::Add_2081"].reshape(1, WIDTH, 1)).sum((1, 2))
    mean = graph.add("Mul", ["mean", graph.constant("conv2.ones", ones)])
    x = graph.add("Mul", [graph.add("Sub", ["features", mean]), "scale"])
    x = graph.own("Gelu", [graph.add("Add", [x, graph.constant("conv2.bias", bias)])])
    x = graph.add("Transpose", [x], perm=[0, 2, 1])
    third = [graph.constant(f"conv3.{part}", weights[f"conv3.{part}"]) for part in ("weight_add_tensor", "bias")]
    x = graph.own("Gelu", [graph.add("Conv", [x, *third], strides=[2])])
    x = graph.add("Transpose", [x], perm=[0, 2, 1])
    first = graph.constant("first", np.zeros(1, np.int64))
    for at in (f"layers.{layer}" for layer in range(LAYERS)):
        y = graph.norm(x, f"{at}.norm1", weights[f"{at}.input_layernorm.weight"])
        y = graph.attention(graph.query_key_value(source, at, y, first))
        x = graph.add("Add", [x, graph.linear(f"{at}.o", y, source.linear(f"/{at}/self_attn/o_proj"))])
        y = graph.norm(x, f"{at}.norm2", weights[f"{at}.post_attention_layernorm.weight"])
        y = graph.own("Gelu", [graph.linear(f"{at}.fc1", y, source.linear(f"/{at}/mlp/fc1"))])
        x = graph.add("Add", [x, graph.linear(f"{at}.fc2", y, source.linear(f"/{at}/mlp/fc2"))])
    x = graph.norm(x, "norm", weights["layer_norm.weight"])
    layers = [decoder.linear(f"/layers.{layer}/encoder_attn/{part}_proj") for layer in range(LAYERS) for part in "kv"]
    shape = graph.constant("heads", np.array([0, -1, 2 * LAYERS, HEADS, HEAD]))
    x = graph.add("Reshape", [graph.linear("cross", x, *layers), shape])
    graph.add("Transpose", [x], ["cross"], perm=[2, 0, 3, 1, 4])
    inputs = [tensor("features", 1, "frames", 2 * WIDTH), tensor("mean", 1), tensor("scale", 1)]
    graph.save(path, inputs, [tensor("cross", 2 * LAYERS, 1, HEADS, "sound", HEAD)])


def decoder(source, path):
    """Tokens, of which some were read before, to what may come after each."""
    graph, weights = Graph(), source.tensors
    graph.rotations(next(each for each in weights.values() if each.shape == (1, ROTARY // 2, 1)))
    embedding = [graph.constant(f"embedding{part}", weights[f"embed_tokens.weight_{part}"]) for part in ("quantized", "scale", "zero_point")]
    x = graph.add("DequantizeLinear", [graph.add("Gather", [embedding[0], "tokens"]), *embedding[1:]])
    for layer in range(LAYERS):
        at = f"layers.{layer}"
        y = graph.norm(x, f"{at}.norm1", weights[f"{at}.input_layernorm.weight"])
        inputs = [*graph.query_key_value(source, at, y, "position"), "", "", "", f"past.{layer}.key", f"past.{layer}.value"]
        outputs = [f"{at}.heads", f"present.{layer}.key", f"present.{layer}.value"]
        y = graph.attention(inputs, outputs, causal=1)[0]
        x = graph.add("Add", [x, graph.linear(f"{at}.o", y, source.linear(f"/{at}/self_attn/o_proj"))])
        y = graph.norm(x, f"{at}.norm2", weights[f"{at}.post_attention_layernorm.weight"])
        y = graph.linear(f"{at}.cross.q", y, source.linear(f"/{at}/encoder_attn/q_proj"))
        y = graph.attention([y, f"cross.{layer}.key", f"cross.{layer}.value"])
        x = graph.add("Add", [x, graph.linear(f"{at}.cross.o", y, source.linear(f"/{at}/encoder_attn/o_proj"))])
        y = graph.norm(x, f"{at}.norm3", weights[f"{at}.final_layernorm.weight"])
        halves = graph.constant("halves", np.full(2, HIDDEN))
        y, gate = graph.add("Split", [graph.linear(f"{at}.fc1", y, source.linear(f"/{at}/mlp/fc1")), halves], 2, axis=-1)
        y = graph.add("Mul", [graph.own("QuickGelu", [gate], alpha=1.0), y])
        x = graph.add("Add", [x, graph.linear(f"{at}.fc2", y, source.linear(f"/{at}/mlp/fc2"))])
    x = graph.norm(x, "norm", weights["norm.weight"])
    graph.linear("logits", x, source.linear("/proj_out"), outputs=["logits"])
    inputs = [
        tensor("tokens", 1, "tokens", kind=TensorProto.INT64),
        tensor("position", 1, kind=TensorProto.INT64),
        *cached("past", "before"),
        *cached("cross", "sound"),
    ]
    graph.save(path, inputs, [tensor("logits", 1, "tokens", TOKENS), *cached("present", "all")])


if __name__ == "__main__":
    wheel, out = map(Path, sys.argv[1:])
    parts = [Source(wheel / name) for name in ("encoder_model.ort", "decoder_model_merged.ort")]
    frontend(parts[0], out / "frontend.onnx")
    encoder(*parts, out / "encoder.onnx")
    decoder(parts[1], out / "decoder.onnx")
