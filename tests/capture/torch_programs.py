"""Training programs of PyTorch, step by step; PyTorch must be installed."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from capture.torch_models import Language

BATCH, LENGTH, WIDTH, WORDS = 4, 12, 16, 50


@dataclass
class Program:
    """One step of a program, and what it trains.

    `counted` does the same in one thread, where PyTorch's counter sees all of it.
    """

    step: Callable[[], None]
    models: list[nn.Module]
    optimizers: list[torch.optim.Optimizer]
    counted: Callable[[], None] = None
    around: Callable = nullcontext  # the context of the forward pass
    all_threads: bool = False

    def __post_init__(self):
        self.counted = self.counted or self.step


# Models


class Residual(nn.Module):
    """Two convolutions, and a third one beside them if the size changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, images):
        found = self.conv1(images)
        found = functional.relu(self.norm1(found))
        found = self.conv2(found)
        found = self.norm2(found)
        return functional.relu(found + self.shortcut(images))


class ConvNet(nn.Module):
    """Convolutions with batch normalisation and residuals."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.blocks = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, images):
        found = self.stem(images)
        found = self.blocks(found)
        found = functional.adaptive_avg_pool2d(found, 1).flatten(1)
        return self.head(found)


class Tagger(nn.Module):
    """An LSTM of two layers over words."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, 24, num_layers=2, batch_first=True)
        self.head = nn.Linear(24, WORDS)

    def forward(self, words):
        found = self.embed(words)
        found, _ = self.lstm(found)
        return self.head(found)


class Encoder(nn.Module):
    """The encoder of a transformer as PyTorch has it."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        found = self.embed(words)
        found = self.encoder(found)
        return self.head(found)


class Perceptron(nn.Module):
    """Two dense layers."""

    def __init__(self, inputs=WIDTH, hidden=32, outputs=WIDTH):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, outputs)

    def forward(self, rows):
        found = functional.gelu(self.first(rows))
        return self.second(found)


class Checkpointed(nn.Module):
    """Perceptrons that are computed again for the backward pass."""

    def __init__(self, use_reentrant):
        super().__init__()
        self.use_reentrant = use_reentrant
        self.first = nn.Linear(WIDTH, WIDTH)
        self.blocks = nn.ModuleList(Perceptron() for _ in range(3))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, rows):
        found = self.first(rows)
        for block in self.blocks:
            found = checkpoint(block, found, use_reentrant=self.use_reentrant)
        return self.head(found)


class Swish(torch.autograd.Function):
    """An activation with a gradient of its own, which has a matrix product."""

    @staticmethod
    def forward(context, rows, weight):
        product = rows @ weight
        gate = torch.sigmoid(product)
        context.save_for_backward(rows, weight, product, gate)
        return product * gate

    @staticmethod
    def backward(context, gradient):
        rows, weight, product, gate = context.saved_tensors
        inner = gradient * gate * (1 + product * (1 - gate))
        return inner @ weight.t(), rows.t() @ inner


class Custom(nn.Module):
    """A layer that calls an `autograd.Function`."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, rows):
        found = Swish.apply(rows, self.weight)
        return self.head(found)


# Programs


def images():
    return torch.randn(BATCH, 3, 16, 16), torch.arange(BATCH) % 10


def words():
    return torch.randint(WORDS, (BATCH, LENGTH)), torch.randint(WORDS, (BATCH, LENGTH))


def classified(scores, labels):
    return functional.cross_entropy(scores.flatten(0, -2), labels.flatten())


def supervised(model, inputs, labels, optimizer=torch.optim.Adam, around=nullcontext):
    """The usual step: a loss, its gradients, an update."""
    trained = optimizer([one for one in model.parameters() if one.requires_grad], lr=0.01)

    def step():
        trained.zero_grad()
        with around():
            loss = classified(model(inputs), labels)
        loss.backward()
        trained.step()

    return Program(step, [model], [trained], around=around)


def cnn():
    return supervised(ConvNet(), *images(), optimizer=torch.optim.SGD)


def lstm():
    return supervised(Tagger(), *words())


def plain_lstm():
    """The same without oneDNN, so that its products are ops."""
    return supervised(Tagger(), *words(), around=lambda: torch.backends.mkldnn.flags(enabled=False))


def encoder():
    return supervised(Encoder(), *words(), optimizer=torch.optim.AdamW)


def language():
    """Attention written by hand, and a weight that the first and the last layer share."""
    model = Language(WORDS, WIDTH)
    trained = torch.optim.AdamW(model.parameters())
    inputs, labels = words()

    def step():
        trained.zero_grad()
        model(inputs, labels)["loss"].backward()
        trained.step()

    return Program(step, [model], [trained])


def checkpointing(use_reentrant):
    model = Checkpointed(use_reentrant=use_reentrant)
    trained = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    rows = torch.randn(BATCH, WIDTH)

    def step():
        trained.zero_grad()
        model(rows).sum().backward()
        trained.step()

    return Program(step, [model], [trained])


def reentrant_checkpoints():
    return checkpointing(use_reentrant=True)


def checkpoints():
    return checkpointing(use_reentrant=False)


def mixed_precision():
    return supervised(
        Encoder(), *words(), around=lambda: torch.autocast("cpu", dtype=torch.bfloat16)
    )


def accumulated():
    """Two batches for each update."""
    model = Perceptron()
    trained = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = [torch.randn(BATCH, WIDTH) for _ in range(2)]

    def step():
        trained.zero_grad()
        for batch in batches:
            model(batch).square().mean().backward()
        trained.step()

    return Program(step, [model], [trained])


def frozen():
    """Only the last layer is trained."""
    model = ConvNet()
    for part in (model.stem, model.blocks):
        part.requires_grad_(False)
    return supervised(model, *images())


def siamese():
    """A model that is called twice in a step."""
    model = Perceptron()
    trained = torch.optim.Adam(model.parameters())
    left, right = torch.randn(2, BATCH, WIDTH)

    def step():
        trained.zero_grad()
        one = model(left)
        other = model(right)
        functional.cosine_similarity(one, other).mean().backward()
        trained.step()

    return Program(step, [model], [trained])


class Generator(Perceptron):
    pass


class Discriminator(Perceptron):
    pass


def adversarial():
    """Two models, each with an optimizer of its own."""
    generator, discriminator = Generator(8, 32, WIDTH), Discriminator(WIDTH, 32, 1)
    makes = torch.optim.Adam(generator.parameters())
    judges = torch.optim.SGD(discriminator.parameters(), lr=0.01, momentum=0.9)
    real, noise = torch.randn(BATCH, WIDTH), torch.randn(BATCH, 8)

    def step():
        judges.zero_grad()
        fake = generator(noise)
        (discriminator(fake.detach()) - discriminator(real)).mean().backward()
        judges.step()
        makes.zero_grad()
        discriminator(fake).mean().neg().backward()
        makes.step()

    return Program(step, [generator, discriminator], [makes, judges])


def validated():
    """Each step is followed by a validation, without gradients."""
    model = ConvNet()
    trained = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, labels = images()

    def step():
        model.train()
        trained.zero_grad()
        classified(model(inputs), labels).backward()
        trained.step()
        model.eval()
        with torch.no_grad():
            model(inputs).argmax(-1)

    return Program(step, [model], [trained])


def custom_function():
    model = Custom()
    trained = torch.optim.SGD(model.parameters(), lr=0.01)
    rows = torch.randn(BATCH, WIDTH)

    def step():
        trained.zero_grad()
        model(rows).sum().backward()
        trained.step()

    return Program(step, [model], [trained])


def loaded():
    """Batches from two processes."""
    model = Perceptron(WIDTH, 32, 10)
    trained = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(2 * BATCH, WIDTH), torch.arange(2 * BATCH) % 10)
    loader = DataLoader(data, BATCH, num_workers=2)

    def step():
        for inputs, labels in loader:
            trained.zero_grad()
            classified(model(inputs), labels).backward()
            trained.step()

    return Program(step, [model], [trained])


def threads():
    """Two models, each trained in a thread of its own."""
    convolutional = supervised(ConvNet(), *images())
    dense = accumulated()
    parts = (convolutional, dense)
    pool = ThreadPoolExecutor(2)
    together = threading.Barrier(2)
    list(pool.map(lambda _: together.wait(), parts))  # starts the threads

    def step():
        list(pool.map(lambda part: part.step(), parts))

    def counted():
        for part in parts:
            part.step()

    return Program(
        step,
        [model for part in parts for model in part.models],
        [optimizer for part in parts for optimizer in part.optimizers],
        counted=counted,
        all_threads=True,
    )


def distributed():
    """Gradients are exchanged with other processes, of which there are none."""
    processes = torch.distributed
    if not processes.is_initialized():
        store = processes.HashStore()
        processes.init_process_group("gloo", store=store, rank=0, world_size=1)
    model = Perceptron()
    parallel = nn.parallel.DistributedDataParallel(model)
    trained = torch.optim.Adam(model.parameters())
    rows = torch.randn(BATCH, WIDTH)

    def step():
        trained.zero_grad()
        parallel(rows).square().mean().backward()
        trained.step()

    return Program(step, [model], [trained])


PROGRAMS = {
    one.__name__: one
    for one in (
        cnn,
        lstm,
        plain_lstm,
        encoder,
        language,
        checkpoints,
        reentrant_checkpoints,
        mixed_precision,
        accumulated,
        frozen,
        siamese,
        adversarial,
        validated,
        custom_function,
        loaded,
        threads,
        distributed,
    )
}
