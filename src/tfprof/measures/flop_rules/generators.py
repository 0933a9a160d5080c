"""Random numbers: drawing them counts as nothing.

A generator works in whole numbers, and what shapes its bits into a distribution is no part of the
model that anybody states float operations of.
"""

from __future__ import annotations

from tfprof.measures.flop_rules.registry import OpFacts, flops

_STATEFUL = """
    RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal RandomGamma RandomPoisson
    RandomPoissonV2 ParameterizedTruncatedNormal Multinomial StatefulUniform StatefulUniformInt
    StatefulUniformFullInt StatefulStandardNormal StatefulStandardNormalV2 StatefulTruncatedNormal
    StatefulRandomBinomial RngSkip RngReadAndSkip
"""
_STATELESS = """
    StatelessRandomUniform StatelessRandomUniformV2 StatelessRandomUniformInt
    StatelessRandomUniformIntV2 StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
    StatelessRandomNormal StatelessRandomNormalV2 StatelessTruncatedNormal
    StatelessTruncatedNormalV2 StatelessMultinomial StatelessRandomBinomial StatelessRandomPoisson
    StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessParameterizedTruncatedNormal
    StatelessRandomGetKeyCounter StatelessRandomGetAlg StatelessRandomGetKeyCounterAlg
"""


@flops(*_STATEFUL.split(), *_STATELESS.split())
def drawn(_op: OpFacts) -> int:
    """0: random numbers are drawn, by arithmetic on whole numbers."""
    return 0
