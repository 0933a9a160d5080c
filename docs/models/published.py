"""Published figures of the models of `keras.applications`, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

KERAS = "https://keras.io/api/applications/"

SOURCES = {
    "VGG": (
        "torchvision, `vgg16` and `vgg19`",
        "https://pytorch.org/vision/stable/models/vgg.html",
    ),
    "ResNet": ("He et al. 2015, table 1", "https://arxiv.org/abs/1512.03385"),
    "DenseNet": (
        "torchvision, `densenet121` to `densenet201`",
        "https://pytorch.org/vision/stable/models/densenet.html",
    ),
    "InceptionV3": (
        "torchvision, `inception_v3`",
        "https://pytorch.org/vision/stable/models/inception.html",
    ),
    "NASNet": ("Zoph et al. 2018, tables 2 and 3", "https://arxiv.org/abs/1707.07012"),
    "MobileNet": ("Howard et al. 2017, table 8", "https://arxiv.org/abs/1704.04861"),
    "MobileNetV2": ("Sandler et al. 2018, table 4", "https://arxiv.org/abs/1801.04381"),
    "MobileNetV3": ("Howard et al. 2019, table 3", "https://arxiv.org/abs/1905.02244"),
    "EfficientNet": ("Tan and Le 2019, table 2", "https://arxiv.org/abs/1905.11946"),
    "EfficientNetV2": (
        "torchvision, `efficientnet_v2_s` to `efficientnet_v2_l`",
        "https://pytorch.org/vision/stable/models/efficientnetv2.html",
    ),
    "ConvNeXt": ("Liu et al. 2022, tables 1 and 9", "https://arxiv.org/abs/2201.03545"),
}


@dataclass(frozen=True, slots=True)
class Published:
    """Figures of a model, as printed: parameters in millions, MACs in billions.

    `source` is that of the MACs. Parameters are those of Keras, or of torchvision for MobileNetV3.
    """

    params: str
    macs: str = ""
    source: str = ""
    remark: str = ""


PUBLISHED = {
    "Xception": Published("22.9", "8.38", "NASNet"),
    "VGG16": Published("138.4", "15.47", "VGG"),
    "VGG19": Published("143.7", "19.63", "VGG"),
    "ResNet50": Published("25.6", "3.8", "ResNet"),
    "ResNet50V2": Published("25.6"),
    "ResNet101": Published("44.7", "7.6", "ResNet"),
    "ResNet101V2": Published("44.7"),
    "ResNet152": Published("60.4", "11.3", "ResNet"),
    "ResNet152V2": Published("60.4"),
    "InceptionV3": Published("23.9", "5.71", "InceptionV3"),
    "InceptionResNetV2": Published("55.9", "13.2", "NASNet"),
    "MobileNet": Published("4.3", "0.569", "MobileNet"),
    "MobileNetV2": Published("3.5", "0.300", "MobileNetV2"),
    "MobileNetV3Small": Published("2.5", "0.056", "MobileNetV3"),
    "MobileNetV3Large": Published("5.5", "0.219", "MobileNetV3"),
    "DenseNet121": Published("8.1", "2.83", "DenseNet"),
    "DenseNet169": Published("14.3", "3.36", "DenseNet"),
    "DenseNet201": Published("20.2", "4.29", "DenseNet"),
    "NASNetMobile": Published("5.3", "0.564", "NASNet"),
    "NASNetLarge": Published("88.9", "23.8", "NASNet"),
    "EfficientNetB0": Published("5.3", "0.39", "EfficientNet"),
    "EfficientNetB1": Published("7.9", "0.70", "EfficientNet"),
    "EfficientNetB2": Published("9.2", "1.0", "EfficientNet"),
    "EfficientNetB3": Published("12.3", "1.8", "EfficientNet"),
    "EfficientNetB4": Published("19.5", "4.2", "EfficientNet", "torchvision has 4.39"),
    "EfficientNetB5": Published("30.6", "9.9", "EfficientNet", "torchvision has 10.27"),
    "EfficientNetB6": Published("43.3", "19", "EfficientNet"),
    "EfficientNetB7": Published("66.7", "37", "EfficientNet", "torchvision has 37.75"),
    "EfficientNetV2B0": Published("7.2"),
    "EfficientNetV2B1": Published("8.2"),
    "EfficientNetV2B2": Published("10.2"),
    "EfficientNetV2B3": Published("14.5"),
    "EfficientNetV2S": Published("21.6", "8.37", "EfficientNetV2", "its paper has 8.8"),
    "EfficientNetV2M": Published("54.4", "24.58", "EfficientNetV2", "its paper has 24"),
    "EfficientNetV2L": Published("119.0", "56.08", "EfficientNetV2", "its paper has 53"),
    "ConvNeXtTiny": Published("28.6", "4.5", "ConvNeXt"),
    "ConvNeXtSmall": Published("50.2", "8.7", "ConvNeXt"),
    "ConvNeXtBase": Published("88.5", "15.4", "ConvNeXt"),
    "ConvNeXtLarge": Published("197.7", "34.4", "ConvNeXt"),
    "ConvNeXtXLarge": Published("350.1", "60.9", "ConvNeXt"),
}
