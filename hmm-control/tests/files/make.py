"""Writes the model files that tests/file_published.rs reads.

    python -m venv venv && venv/bin/pip install numpy safetensors
    venv/bin/python make.py FOLDER_OF_VECTORS

The published forms are written as TRACE (commit 222ab6f) and Ctrl-G (db7c6ad) save them; `ours_*` are written
after spec/hmm-file.md alone, so that they also test whether that page says enough.
"""

import json
import sys
from pathlib import Path

import numpy
from safetensors.numpy import save_file

HERE = Path(__file__).parent
LAYOUT = {"format": "portcullis-hmm", "version": "1", "transition": "by target", "emission": "by token"}


def vectors(name):
    with open(Path(sys.argv[1]) / name) as file:
        case = json.load(file)
    return [numpy.array(case[key], dtype=numpy.float64) for key in ("pi", "A", "B")]


def normalised(array):
    return array / array.sum(axis=-1, keepdims=True)


def log(array):
    with numpy.errstate(divide="ignore"):
        return numpy.log(array)


def scaled(array):
    scale = array.max(axis=1).astype(numpy.float32)
    return (array / scale[:, None].astype(numpy.float64)).astype(numpy.float16), scale


def save(name, tensors, metadata=None):
    contiguous = {key: numpy.ascontiguousarray(value) for key, value in tensors.items()}
    save_file(contiguous, HERE / name, metadata)


pi, a, b = vectors("trace_h8_v50_t16.json")
f32 = numpy.float32

# TRACE saves its classifier's buffers with the model.
weights = -numpy.arange(b.shape[1]) / 10
save(
    "trace_f32.safetensors",
    {
        "alpha_exp": a.astype(f32),
        "beta": log(b).astype(f32),
        "gamma_exp": pi.astype(f32)[None, :],
        "weights_tensor": weights.astype(f32),
        "exp_weights": numpy.exp(weights).astype(f32),
        "weighted_beta": (b * numpy.exp(weights)).astype(f32),
    },
    {"format": "pt"},
)
save("ctrlg_f64.safetensors", {"alpha_exp": a, "beta": log(b), "gamma": log(pi)}, {"format": "pt"})
pi, a, b = normalised(pi), normalised(a), normalised(b)
storages = {"transition.storage": "f64", "emission.storage": "f64"}
save(
    "ours_f64.safetensors",
    {"initial": pi, "transition": a.T, "emission": b.T},
    {**LAYOUT, **storages, "end_token": "7", "note.made by": "make.py"},
)
emission, scale = scaled(b.T)
storages = {"transition.storage": "f64", "emission.storage": "f16"}
save(
    "ours_f16.safetensors",
    {"initial": pi, "transition": a.T, "emission": emission, "emission.scale": scale},
    {**LAYOUT, **storages},
)

# A last state that ends the text, with the leak of TRACE's initialisation.
pi, a, b = vectors("trace_h8_v50_t16.json")
a[-1, :] = 1e-10
a[-1, -1] = 1.0
b[-1, :] = 0.0
b[:, 49] = 0.0
b = normalised(b + 1e-300)
b[-1, :] = 0.0
b[-1, 49] = 1.0
tensors = {"alpha_exp": a.astype(f32), "beta": log(b).astype(f32), "gamma_exp": pi.astype(f32)[None, :]}
save("trace_end_f32.safetensors", tensors, {"format": "pt"})
