"""Networks that export_models.py makes of torch's layers alone, each of a kind that users train themselves, and their inputs."""

import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """x + body(x), or shortcut(x) + body(x)."""

    def __init__(self, body, shortcut=None):
        super().__init__()
        self.body, self.shortcut = body, shortcut or nn.Identity()

    def forward(self, x):
        return self.shortcut(x) + self.body(x)


def convolution(inputs, outputs, taps=3, stride=1, groups=1, sloped=True):
    """With batch normalisation and, perhaps, a slope for each channel."""
    layers = [nn.Conv2d(inputs, outputs, taps, stride, taps // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.PReLU(outputs)] if sloped else []))


def iresnet50():
    """Of faces, 112x112: each convolution has a slope for each channel."""

    def block(inputs, outputs, stride):
        body = nn.Sequential(nn.BatchNorm2d(inputs), convolution(inputs, outputs), convolution(outputs, outputs, 3, stride, sloped=False))
        return Residual(body, convolution(inputs, outputs, 1, stride, sloped=False) if stride > 1 or inputs != outputs else None)

    layers, channels = [convolution(3, 64)], 64
    for outputs, blocks in zip((64, 128, 256, 512), (3, 4, 14, 3), strict=True):
        for i in range(blocks):
            layers.append(block(channels, outputs, 1 if i else 2))
            channels = outputs
    return nn.Sequential(*layers, nn.BatchNorm2d(512), nn.Flatten(), nn.Linear(512 * 49, 512)), torch.randn(1, 3, 112, 112)


def mobilefacenet():
    """The same of pointwise and depthwise convolutions."""

    def block(inputs, outputs, stride, wider):
        hidden = inputs * wider
        body = (
            convolution(inputs, hidden, 1),
            convolution(hidden, hidden, 3, stride, hidden),
            convolution(hidden, outputs, 1, sloped=False),
        )
        return nn.Sequential(*body) if stride > 1 else Residual(nn.Sequential(*body))

    layers = [convolution(3, 64, 3, 2), convolution(64, 64, groups=64)]
    for inputs, outputs, blocks in ((64, 64, 4), (64, 128, 6), (128, 128, 2)):
        layers += [block(inputs, outputs, 2, 2 if inputs == outputs == 64 else 4), *[block(outputs, outputs, 1, 2) for _ in range(blocks)]]
    layers += [convolution(128, 512, 1), nn.Conv2d(512, 512, 7, groups=512, bias=False), nn.Flatten(), nn.Linear(512, 128)]
    return nn.Sequential(*layers), torch.randn(1, 3, 112, 112)


def superresolution():
    """Ten convolutions of 64 channels, then pixels four times as many in both directions."""
    layers = [layer for i in range(9) for layer in (nn.Conv2d(64 if i else 3, 64, 3, padding=1), nn.PReLU(64))]
    return nn.Sequential(*layers, nn.Conv2d(64, 48, 3, padding=1), nn.PixelShuffle(4)), torch.randn(1, 3, 128, 128)


def dilated_chain():
    """Of one row: each output sees the past, 510 steps of it."""

    def block(dilation):
        return Residual(
            nn.Sequential(
                nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(64, 64, 3, dilation=dilation), nn.ReLU(), nn.Conv1d(64, 64, 1)
            )
        )

    return nn.Sequential(nn.Conv1d(16, 64, 1), *[block(2**i) for i in range(8)], nn.Conv1d(64, 4, 1)), torch.randn(1, 16, 1000)


def row(channels, taps, dilation):
    return nn.Sequential(nn.LeakyReLU(0.1), nn.Conv1d(channels, channels, taps, dilation=dilation, padding=(taps - 1) * dilation // 2))


class Vocoder(nn.Module):
    """Spectra to sound as HiFi-GAN does: rows get longer, and pass through dilated convolutions side by side."""

    def __init__(self, channels=256):
        super().__init__()
        self.first = nn.Conv1d(80, channels, 7, padding=3)
        self.ups, self.bodies = nn.ModuleList(), nn.ModuleList()
        for stride, taps in ((8, 16), (8, 16), (2, 4), (2, 4)):
            channels //= 2
            self.ups.append(nn.ConvTranspose1d(2 * channels, channels, taps, stride, (taps - stride) // 2))
            self.bodies.append(
                nn.ModuleList([nn.Sequential(*[Residual(row(channels, taps, d)) for d in (1, 3, 5)]) for taps in (3, 7, 11)])
            )
        self.last = nn.Conv1d(channels, 1, 7, padding=3)

    def forward(self, x):
        x = self.first(x)
        for up, bodies in zip(self.ups, self.bodies, strict=True):
            x = up(functional.leaky_relu(x, 0.1))
            x = sum(body(x) for body in bodies) / 3
        return torch.tanh(self.last(functional.leaky_relu(x)))


def vocoder():
    return Vocoder(), torch.randn(1, 80, 40)


def speakers():
    """A network of time delays: three dilated rows, then the mean and the deviation of each channel."""

    class Statistics(nn.Module):
        def forward(self, x):
            return torch.cat([x.mean(2), x.std(2)], 1)

    layers, channels = [], 80
    for outputs, taps, dilation in ((512, 5, 1), (512, 3, 2), (512, 3, 3), (512, 1, 1), (1500, 1, 1)):
        layers += [nn.Conv1d(channels, outputs, taps, dilation=dilation), nn.ReLU(), nn.BatchNorm1d(outputs)]
        channels = outputs
    return nn.Sequential(*layers, Statistics(), nn.Linear(3000, 192)), torch.randn(1, 80, 200)
