"""FARGAN (see fargan.py) as one ONNX graph, from the layers that tools/extract_fargan.py took out of Opus' source.

Inputs: features [parts, frames, 20], period [parts, frames] in samples, echo [steps, parts, 44], which says where in the
last 256 samples one period ago lies. Output: samples [steps, parts, 40]. The recurrence over steps is a Scan. Weights stay
in eight bits in the file; the runtime unpacks them once and keeps them in the order that its products like best.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FRAME_FEATURES, CONDITION, STEPS, STEP, ECHO, MEMORY = 20, 80, 4, 40, 44, 256
RECURRENT = (160, 128, 128)
SHORTEST_PERIOD, LONGEST_PERIOD = 32, 255
SILENT_STEPS = STEPS  # of the last frame of priming: it only warms the recurrent layers up
OPSET, IR_VERSION = 17, 8
END = 2**31  # of a slice that goes on to the last
Layers = Mapping[str, np.ndarray]


class Net:
    """Nodes and constants of a graph that is being written; methods return the name of what they compute."""

    def __init__(self, layers: Layers, prefix: str):
        self.layers, self.prefix = layers, prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.add_many(kind, 1, *inputs, **attributes)[0]

    def add_many(self, kind: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node of `count` outputs, whose names it returns; `kind` is the ONNX operator."""
        outputs = [f"{self.prefix}{len(self.nodes)}_{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """A fixed array in the graph; each call stores one anew."""
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, layer: str, rows: slice = slice(None)) -> str:
        stored = self.layers[f"{layer}.weight"][rows]
        if stored.dtype != np.int8:
            return self.constant(stored)
        # Not DequantizeLinear: the runtime would then round what it multiplies to eight bits as well, and be slower.
        unpacked = self.add("Cast", self.constant(stored, np.int8), to=TensorProto.FLOAT)
        return self.add("Mul", unpacked, self.constant(self.layers[f"{layer}.scale"]))

    def linear(self, layer: str, x: str) -> str:
        """`x` times the weights of the layer, plus its bias."""
        product = self.add("MatMul", x, self.weight(layer))
        return self.add("Add", product, self.constant(self.layers[f"{layer}.bias"]))

    def dense(self, layer: str, x: str) -> str:
        """The linear layer, then tanh."""
        return self.add("Tanh", self.linear(layer, x))

    def gated(self, layer: str, x: str) -> str:
        """Gated linear unit: the layer decides how much of each of its own inputs passes."""
        return self.add("Mul", x, self.add("Sigmoid", self.linear(layer, x)))

    def recurrent(self, layer: str, x: str, state: str, size: int) -> str:
        """One step of a gated recurrent unit: the next state."""
        sizes = self.constant([2 * size, size], np.int64)
        given, given_fresh = self.add_many("Split", 2, self.linear(f"{layer}_input", x), sizes, axis=1)
        kept, kept_fresh = self.add_many("Split", 2, self.linear(f"{layer}_recurrent", state), sizes, axis=1)
        gates = self.add("Sigmoid", self.add("Add", given, kept))
        update, reset = self.add_many("Split", 2, gates, axis=1)
        fresh = self.add("Tanh", self.add("Add", given_fresh, self.add("Mul", kept_fresh, reset)))
        return self.add("Add", fresh, self.add("Mul", update, self.add("Sub", state, fresh)))

    def part(self, x: str, axis: int, begin: int, end: int) -> str:
        """`x` from `begin` up to `end`, not included, along one axis; numbers below 0 count from its end."""
        bounds = [self.constant([value], np.int64) for value in (begin, end, axis)]
        return self.add("Slice", x, *bounds)


def vocoder_graph(layers: Layers, priming: int) -> bytes:
    """The model file; the first `priming` frames fill the memory of the conditioning network and are not spoken."""
    net = Net(layers, "n")
    condition = _condition(net, (priming - 1) * STEPS)
    gain = net.add("Exp", net.linear("sig_net_cond_gain_dense", condition))
    audible = net.add("Concat", _silent(net, gain), net.part(gain, 1, SILENT_STEPS, END), axis=1)
    heard = _heard_of_condition(net, condition)
    by_step = [net.add("Transpose", x, perm=[1, 0, 2]) for x in (heard, audible)]
    parts = net.add("Shape", "period", start=0, end=1)
    sizes = (MEMORY, ECHO + STEP, *RECURRENT)
    states = [_zeros(net, parts, size) for size in sizes]
    body = _step(layers)
    *_, sound = net.add_many("Scan", len(states) + 1, *states, *by_step, "echo", body=body, num_scan_inputs=3)
    net.add("Identity", sound)
    net.nodes[-1].output[0] = "sound"
    inputs = [
        helper.make_tensor_value_info("features", TensorProto.FLOAT, ["parts", "frames", FRAME_FEATURES]),
        helper.make_tensor_value_info("period", TensorProto.INT64, ["parts", "frames"]),
        helper.make_tensor_value_info("echo", TensorProto.INT64, ["steps", "parts", ECHO]),
    ]
    outputs = [helper.make_tensor_value_info("sound", TensorProto.FLOAT, ["steps", "parts", STEP])]
    graph = helper.make_graph(net.nodes, "fargan", inputs, outputs, net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    return model.SerializeToString()


def _condition(net: Net, skipped: int) -> str:
    """[parts, steps, 80]: what the features say to each step that is computed."""
    at = net.add("Sub", "period", net.constant(SHORTEST_PERIOD, np.int64))
    limits = [net.constant(value, np.int64) for value in (0, LONGEST_PERIOD - SHORTEST_PERIOD)]
    embedded = net.add("Gather", net.constant(net.layers["cond_net_pembed.weight"]), net.add("Clip", at, *limits))
    x = net.dense("cond_net_fdense1", net.add("Concat", "features", embedded, axis=2))
    past = net.add("Pad", x, net.constant([0, 2, 0, 0, 0, 0], np.int64))
    window = [net.part(past, 1, begin, begin - 2 if begin < 2 else END) for begin in range(3)]
    x = net.dense("cond_net_fconv1", net.add("Concat", *window, axis=2))
    x = net.add("Reshape", net.dense("cond_net_fdense2", x), net.constant([0, -1, CONDITION], np.int64))
    return net.part(x, 1, skipped, END)


def _heard_of_condition(net: Net, condition: str) -> str:
    """The part of the first layer that depends on no sound: all steps of all frames in one product."""
    half = len(net.layers["sig_net_fwc0_conv.weight"]) // 2
    before = net.add("Pad", net.part(condition, 1, 0, -1), net.constant([0, 1, 0, 0, 0, 0], np.int64))
    products = [
        net.add("MatMul", x, net.weight("sig_net_fwc0_conv", slice(begin, begin + CONDITION)))
        for x, begin in ((condition, half), (before, 0))
    ]
    return net.add("Add", net.add("Add", *products), net.constant(net.layers["sig_net_fwc0_conv.bias"]))


def _silent(net: Net, gain: str) -> str:
    return net.add("Mul", net.part(gain, 1, 0, SILENT_STEPS), net.constant(0.0))


def _zeros(net: Net, parts: str, size: int) -> str:
    shape = net.add("Concat", parts, net.constant([size], np.int64), axis=0)
    return net.add("ConstantOfShape", shape)


def _step(layers: Layers) -> Any:
    """The graph of the next 40 samples, given the last 256, what the first layer heard last, and three recurrent layers."""
    net = Net(layers, "s")
    names = ["past", "heard_before", "state0", "state1", "state2", "heard", "gain", "at"]
    half = len(layers["sig_net_fwc0_conv.weight"]) // 2
    loudness = net.add("Add", "gain", net.constant(1e-5))
    scaled = net.add("Clip", net.add("Div", "past", loudness), net.constant(-1.0), net.constant(1.0))
    predicted = net.add("GatherElements", scaled, "at", axis=1)
    last = net.part(scaled, 1, -STEP, END)
    sound = net.add("Concat", predicted, last, axis=1)
    now = net.add("MatMul", sound, net.weight("sig_net_fwc0_conv", slice(half + CONDITION, None)))
    before = net.add("MatMul", "heard_before", net.weight("sig_net_fwc0_conv", slice(CONDITION, half)))
    x = net.add("Tanh", net.add("Add", "heard", net.add("Add", now, before)))
    x = net.gated("sig_net_fwc0_glu_gate", x)
    gates = net.add_many("Split", 4, net.add("Sigmoid", net.linear("sig_net_gain_dense_out", x)), axis=1)
    middle = net.part(predicted, 1, 2, -2)
    echoes = [net.add("Concat", net.add("Mul", gate, middle), last, axis=1) for gate in gates]
    layer, states, outputs = x, [], []
    for number, size in enumerate(RECURRENT):
        name = f"sig_net_gru{number + 1}"
        given = net.add("Concat", layer, echoes[number], axis=1)
        states.append(net.recurrent(name, given, f"state{number}", size))
        layer = net.gated(f"{name}_glu_gate", states[-1])
        outputs.append(layer)
    x = net.dense("sig_net_skip_dense", net.add("Concat", *outputs, x, echoes[3], axis=1))
    x = net.dense("sig_net_sig_dense_out", net.gated("sig_net_skip_glu_gate", x))
    spoken = net.add("Mul", x, "gain")
    past = net.add("Concat", net.part("past", 1, STEP, END), spoken, axis=1)
    results = [net.add("Identity", name) for name in (past, sound, *states, spoken)]
    widths = (MEMORY, ECHO + STEP, *RECURRENT, len(layers["sig_net_fwc0_conv.bias"]), 1, ECHO)
    kinds = [TensorProto.FLOAT] * 7 + [TensorProto.INT64]
    inputs = [
        helper.make_tensor_value_info(name, kind, ["parts", width])
        for name, kind, width in zip(names, kinds, widths, strict=True)
    ]
    outs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["parts", width])
        for name, width in zip(results, (*widths[:5], STEP), strict=True)
    ]
    return helper.make_graph(net.nodes, "step", inputs, outs, net.constants)
