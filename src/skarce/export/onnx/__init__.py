"""Models as graphs of plain ONNX operators."""
