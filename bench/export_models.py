#!/usr/bin/env python3
"""export_models.py OUT_DIR [NAME...]: exports models of torchvision, timm, transformers and networks.py, with random weights,
for bench_peers.py.

Needs torch, torchvision, timm, transformers, onnx and onnxscript, which nothing else here needs: install them into an environment of their
own. Each model is exported in a process of its own, every second one by torch's older exporter, so that both forms of graph come up.
What cannot be exported is named at the end.
"""

import argparse
import pathlib
import subprocess
import sys

TORCHVISION = {
    224: "alexnet convnext_small densenet169 efficientnet_b3 efficientnet_v2_s googlenet maxvit_t mnasnet0_5 mnasnet1_0 mobilenet_v2 "
    "mobilenet_v3_small regnet_x_800mf regnet_y_1_6gf regnet_y_400mf resnet101 resnet18 resnet34 resnext50_32x4d shufflenet_v2_x0_5 "
    "shufflenet_v2_x1_0 squeezenet1_1 swin_t swin_v2_t vgg11_bn vit_b_32 wide_resnet50_2",
    299: "inception_v3",
}
# Small images: names have the size behind them.
TORCHVISION_SMALL = {
    64: "convnext_tiny densenet121 efficientnet_b0 mnasnet0_5 mobilenet_v2 mobilenet_v3_small regnet_y_400mf resnet18 resnet50 "
    "shufflenet_v2_x1_0 squeezenet1_1 vgg11_bn",
}
TORCHVISION_SEGMENTATION = {256: "fcn_resnet50", 320: "lraspp_mobilenet_v3_large"}
TORCHVISION_DETECTION = {320: "fasterrcnn_mobilenet_v3_large_320_fpn retinanet_resnet50_fpn"}
TIMM = (
    "beit_base_patch16_224 cait_xxs24_224 coat_lite_tiny convit_tiny convmixer_768_32 convnext_nano convnextv2_atto cspresnet50 "
    "darknet53 davit_tiny deit3_small_patch16_224 deit_tiny_patch16_224 dla34 dm_nfnet_f0 dpn68 ecaresnet26t edgenext_small "
    "efficientformer_l1 efficientformerv2_s0 efficientvit_b0 efficientvit_m2 eva02_tiny_patch14_224 fasternet_t0 fastvit_sa12 "
    "fastvit_t8 focalnet_tiny_srf gcvit_xxtiny ghostnet_100 ghostnetv3_100 gmlp_s16_224 haloregnetz_b hgnet_tiny hgnetv2_b0 "
    "hiera_tiny_224 hrnet_w18_small inception_next_tiny lcnet_100 levit_128 mambaout_femto mixer_s16_224 mobilenetv1_100 "
    "mobilenetv4_conv_medium mobilenetv4_conv_small mobilenetv4_hybrid_medium mobileone_s0 mobilevit_s mobilevitv2_100 nest_tiny "
    "nf_resnet50 pit_xs_224 poolformer_s12 pvt_v2_b0 rdnet_tiny regnetz_c16 repghostnet_100 repvgg_a0 repvit_m1 res2net50_26w_4s "
    "resmlp_12_224 resnest14d resnet10t resnetv2_50 rexnet_100 selecsls42 sequencer2d_s seresnext26d_32x4d shvit_s1 skresnet18 "
    "starnet_s1 swiftformer_xs tf_efficientnet_lite0 tf_efficientnetv2_b0 tiny_vit_5m_224 tresnet_m twins_pcpvt_small "
    "visformer_tiny vit_small_patch32_224 vit_tiny_patch16_224 volo_d1_224 vovnet39a xcit_nano_12_p16_224"
)
SMALL = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 6, "intermediate_size": 1536}
TEXT = ("input_ids", "attention_mask")
# By name: class, configuration, inputs.
TRANSFORMERS = {
    "albert": ("AlbertModel", {"hidden_size": 768, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 3072}, TEXT),
    "bert": ("BertModel", SMALL, TEXT),
    "bloom": ("BloomForCausalLM", {"hidden_size": 512, "n_layer": 4, "n_head": 8, "vocab_size": 8000}, TEXT),
    "clip_vision": ("CLIPVisionModel", {**SMALL, "patch_size": 16}, ("pixel_values",)),
    "convbert": ("ConvBertModel", {**SMALL, "vocab_size": 8000}, TEXT),
    "deberta_v2": (
        "DebertaV2Model",
        {**SMALL, "vocab_size": 8000, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 256},
        TEXT,
    ),
    "dinov2": ("Dinov2Model", {**SMALL, "image_size": 224, "patch_size": 14}, ("pixel_values",)),
    "fnet": ("FNetModel", SMALL, ("input_ids",)),
    "funnel": (
        "FunnelModel",
        {"vocab_size": 8000, "d_model": 256, "n_head": 4, "d_head": 64, "d_inner": 1024, "block_sizes": [2, 2, 2]},
        TEXT,
    ),
    "layoutlm": ("LayoutLMModel", {**SMALL, "vocab_size": 8000}, ("input_ids",)),
    "longformer": ("LongformerModel", {**SMALL, "num_hidden_layers": 2, "vocab_size": 8000, "attention_window": 64}, TEXT),
    "mamba": ("MambaModel", {"hidden_size": 256, "num_hidden_layers": 2, "vocab_size": 2000}, ("input_ids",)),
    "mobilebert": ("MobileBertModel", {"num_hidden_layers": 12, "vocab_size": 8000}, TEXT),
    "mpnet": ("MPNetModel", {**SMALL, "num_attention_heads": 12, "vocab_size": 8000}, TEXT),
    "opt": (
        "OPTForCausalLM",
        {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "ffn_dim": 2048, "word_embed_proj_dim": 512},
        TEXT,
    ),
    "segformer_b0": ("SegformerForSemanticSegmentation", {}, ("pixel_values",)),
    "squeezebert": ("SqueezeBertModel", {"num_hidden_layers": 6, "vocab_size": 8000}, TEXT),
    "swin2sr": (
        "Swin2SRForImageSuperResolution",
        {"embed_dim": 60, "depths": [2, 2], "num_heads": [6, 6], "upscale": 2},
        ("pixel_values",),
    ),
    "t5_encoder": ("T5EncoderModel", {"d_model": 512, "num_layers": 6, "num_heads": 8, "d_ff": 2048, "vocab_size": 8000}, TEXT),
    "wav2vec2": ("Wav2Vec2Model", SMALL, ("input_values",)),
}
# Of sound: the shape of each input.
SOUND = {
    "dac": ("DacModel", {}, {"input_values": (1, 1, 16384)}),
    "encodec": ("EncodecModel", {}, {"input_values": (1, 1, 16000)}),
    "speecht5_hifigan": ("SpeechT5HifiGan", {}, {"spectrogram": (1, 40, 80)}),
    "univnet": ("UnivNetModel", {}, {"input_features": (1, 50, 100), "noise_sequence": (1, 50, 64)}),
    "wav2vec2_bert": (
        "Wav2Vec2BertModel",
        {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 768},
        {"input_features": (1, 100, 160)},
    ),
}
SIZES = {"segformer_b0": 512, "swin2sr": 64}


def torchvision_model(name, size, part=None):
    import torch
    import torchvision

    given = {} if part is None else {"weights_backbone": None}
    model = torchvision.models.get_model(name, weights=None, **given).eval()
    if part == "detection":
        return model, ([torch.rand(3, size, size)],), ["input"]
    if part == "segmentation":
        return first_output(model, lambda outputs: outputs["out"]), (torch.randn(1, 3, size, size),), ["input"]
    return model, (torch.randn(1, 3, size, size),), ["input"]


def timm_model(name):
    import timm
    import torch

    return timm.create_model(name, pretrained=False, exportable=True).eval(), (torch.randn(1, 3, 224, 224),), ["input"]


def transformers_model(name):
    import torch
    import transformers

    class_name, settings, names = TRANSFORMERS.get(name) or SOUND[name]
    model_class = getattr(transformers, class_name)
    config = model_class.config_class(**settings)
    config.return_dict = config.use_cache = False
    size = SIZES.get(name, 224)
    made = {
        "input_ids": lambda: torch.randint(0, 1000, (1, 128)),
        "attention_mask": lambda: torch.ones(1, 128, dtype=torch.long),
        "pixel_values": lambda: torch.randn(1, 3, size, size),
        "input_values": lambda: torch.randn(1, 16000),
    }
    if name in SOUND:
        made = {i: lambda shape=shape: torch.randn(shape) for i, shape in names.items()}
    model = model_class(config).eval()

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            return self.model(**dict(zip(names, values, strict=True)))[0]

    return Named(), tuple(made[i]() for i in names), list(names)


def network(name):
    import networks

    model, x = getattr(networks, name)()
    return model.eval(), (x,), ["input"]


def first_output(model, pick):
    import torch

    class Picked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return pick(self.model(x))

    return Picked()


def makers():
    """What makes each model, by name."""
    made = {}
    for sizes, part in ((TORCHVISION, None), (TORCHVISION_SEGMENTATION, "segmentation"), (TORCHVISION_DETECTION, "detection")):
        for size, names in sizes.items():
            made |= {f"tv_{n}": lambda n=n, size=size, part=part: torchvision_model(n, size, part) for n in names.split()}
    for size, names in TORCHVISION_SMALL.items():
        made |= {f"tv_{n}_{size}": lambda n=n, size=size: torchvision_model(n, size) for n in names.split()}
    made |= {f"timm_{n}": lambda n=n: timm_model(n) for n in TIMM.split()}
    made |= {
        f"net_{n}": lambda n=n: network(n)
        for n in ("dilated_chain", "iresnet50", "mobilefacenet", "speakers", "superresolution", "vocoder")
    }
    return made | {f"hf_{n}": lambda n=n: transformers_model(n) for n in (*TRANSFORMERS, *SOUND)}


def export(name, path, dynamo):
    import torch

    torch.manual_seed(0)
    model, inputs, names = makers()[name]()
    with torch.no_grad():
        if dynamo:
            torch.onnx.export(model, inputs, path, dynamo=True, input_names=names, external_data=False)
        else:
            torch.onnx.export(model, inputs, path, dynamo=False, input_names=names, opset_version=17)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="all, where none is given")
    parser.add_argument("--one", choices=["dynamo", "script"], help="export the one name in this process, by this exporter")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.one:
        return export(args.names[0], args.folder / f"{args.names[0]}.onnx", args.one == "dynamo")
    failed = []
    for i, name in enumerate(makers()):
        if args.names and name not in args.names:
            continue
        exporters = ["dynamo", "script"] if i % 2 else ["script", "dynamo"]
        runs = ([sys.executable, __file__, args.folder, name, "--one", exporter] for exporter in exporters)
        if not any(subprocess.run(run, capture_output=True, check=False).returncode == 0 for run in runs):
            failed.append(name)
    if failed:
        sys.exit(f"not exported: {' '.join(failed)}")


if __name__ == "__main__":
    main()
