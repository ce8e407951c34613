#!/usr/bin/env python3
"""speech.py [FILE.wav]: finds speech with the voice-activity model of the `silero-vad` package, on Roundhouse.

Without an argument espeak-ng speaks three sentences between silences, and what is found is checked against where they are.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np

import roundhouse

RATE = 16000  # samples a second
WINDOW = 512  # new samples a step; the model sees CONTEXT samples of the step before as well
CONTEXT = 64
THRESHOLD = 0.5
END_THRESHOLD = 0.35  # speech ends below this
MIN_SILENCE_S = 0.3  # shorter pauses belong to the speech
SLACK_S = 0.25  # how far a found edge may be from the true one
SENTENCES = [
    "The harbour lights were bright that evening, and nobody spoke.",
    "Bring the ladder to the old pier before the tide comes in.",
    "Twelve stations reported waves of more than three metres.",
]
SILENCES_S = [1.5, 2.0, 1.2, 1.8]  # before, between and after


def read_wav(path):
    """Mono samples in [-1, 1] at RATE."""
    with wave.open(str(path)) as file:
        assert file.getsampwidth() == 2, f"{path}: expected 16-bit samples"
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels()).mean(axis=1) / 32768
        rate = file.getframerate()
    return resample(samples, rate).astype(np.float32)


def resample(samples, rate):
    """To RATE, by way of the spectrum: what lies above the new Nyquist frequency is cut off."""
    if rate == RATE:
        return samples
    count = int(len(samples) * RATE / rate)
    spectrum = np.fft.rfft(samples)
    kept = np.zeros(count // 2 + 1, complex)
    bins = min(len(kept), len(spectrum))
    kept[:bins] = spectrum[:bins]
    return np.fft.irfft(kept, count) * (count / len(samples))


def spoken_sentences():
    """Sound, and the true (start, end) of each sentence in seconds."""
    noise = np.random.default_rng(0)
    parts, truth, position = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for index, silence in enumerate(SILENCES_S):
            parts.append(noise.standard_normal(int(silence * RATE)).astype(np.float32) * np.float32(3e-4))
            position += len(parts[-1])
            if index == len(SENTENCES):
                break
            path = pathlib.Path(folder) / "sentence.wav"
            subprocess.run(["espeak-ng", "-v", "en", "-w", path, SENTENCES[index]], check=True)
            sound = read_wav(path)
            loud = np.flatnonzero(np.abs(sound) > 0.02)
            parts.append(sound[loud[0] : loud[-1]])
            truth.append((position / RATE, (position + len(parts[-1])) / RATE))
            position += len(parts[-1])
    return np.concatenate(parts), truth


def speech_probabilities(session, sound):
    """One number for each window of WINDOW samples."""
    sound = np.concatenate([np.zeros(CONTEXT, np.float32), sound, np.zeros(-len(sound) % WINDOW, np.float32)])
    state = np.zeros((2, 1, 128), np.float32)
    rate = np.array(RATE, np.int64)
    probabilities = []
    for start in range(0, len(sound) - CONTEXT, WINDOW):
        window = sound[None, start : start + CONTEXT + WINDOW]
        probability, state = session.run(["output", "stateN"], {"input": window, "state": state, "sr": rate})
        probabilities.append(float(probability[0, 0]))
    return probabilities


def segments(probabilities):
    """(start, end) in seconds of the stretches of speech."""
    found, start, quiet_from = [], None, None
    for index, probability in enumerate([*probabilities, *[0.0] * RATE]):
        now = index * WINDOW / RATE
        if start is None and probability >= THRESHOLD:
            start = now
        elif start is not None and probability >= END_THRESHOLD:
            quiet_from = None
        elif start is not None:
            quiet_from = now if quiet_from is None else quiet_from
            if now - quiet_from >= MIN_SILENCE_S:
                found.append((start, quiet_from))
                start, quiet_from = None, None
    return found


def as_expected(found, truth):
    return len(found) == len(truth) and all(abs(f - t) <= SLACK_S for pair in zip(found, truth) for f, t in zip(*pair))


def main():
    given = sys.argv[1:]
    sound, truth = (read_wav(given[0]), None) if given else spoken_sentences()
    folder = pathlib.Path(importlib.util.find_spec("silero_vad").submodule_search_locations[0])
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = 1
    started = time.perf_counter()
    session = roundhouse.InferenceSession(str(folder / "data" / "silero_vad.onnx"), options, providers=["CPUExecutionProvider"])
    loaded = time.perf_counter()
    probabilities = speech_probabilities(session, sound)
    ran = time.perf_counter() - loaded
    placement = ", ".join(f"{provider} runs {count} nodes" for provider, count in session.placement_summary().items())
    print(f"silero-vad's model loaded in {(loaded - started) * 1e3:.0f} ms; {placement}")
    seconds = len(sound) / RATE
    print(
        f"  {seconds:.1f} s of sound in {ran * 1e3:.0f} ms, {ran * 1e3 / len(probabilities):.2f} ms a window of {WINDOW * 1000 // RATE} ms"
    )
    found = segments(probabilities)
    for index, (start, end) in enumerate(found):
        spoken = (
            f'   spoken {truth[index][0]:5.2f} to {truth[index][1]:5.2f} s: "{SENTENCES[index]}"' if truth and index < len(truth) else ""
        )
        print(f"  speech from {start:5.2f} to {end:5.2f} s{spoken}")
    if truth and not as_expected(found, truth):
        sys.exit(f"found {len(found)} stretches of speech, expected {[(round(a, 2), round(b, 2)) for a, b in truth]}")


if __name__ == "__main__":
    main()
