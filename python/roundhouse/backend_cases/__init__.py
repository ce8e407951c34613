"""The official ONNX backend cases, and running them on any module that has the API of onnxruntime. Needs the package onnx.

Nothing here imports roundhouse, so that other runtimes run the cases alone.
"""
