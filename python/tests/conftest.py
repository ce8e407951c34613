import models
import numpy as np
import pytest

import roundhouse

CPU = ["CPUExecutionProvider"]


@pytest.fixture
def add():
    return roundhouse.InferenceSession(models.add(), providers=CPU)


@pytest.fixture
def feed():
    return {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([10, 20, 30], np.float32)}
