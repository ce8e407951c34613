import numpy as np
import roundhouse as ort

session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
image = np.random.rand(1, 3, 224, 224).astype(np.float32)
scores = session.run(None, {session.get_inputs()[0].name: image})[0]
print(scores.shape, scores.argmax())
