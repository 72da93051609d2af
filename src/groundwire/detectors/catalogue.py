"""What each registered method is, for people who choose one. No method is imported to tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from groundwire.core.claim import Kind


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method, as a catalogue describes it.

    ``asks`` says what answers it; ``calls`` and ``embeds`` how many completions and batches of texts to embed
    one short answer takes as the method stands, and ``more`` what can come on top. ``locates`` is the finest
    thing that it finds at fault. ``kinds`` are the kinds of hallucination that it can see; ``prompts`` are
    named as in ``groundwire.prompts``.
    """

    name: str
    summary: str
    asks: str = "nothing"
    calls: int = 0
    embeds: int = 0
    more: str = ""
    locates: str = "nothing"
    kinds: tuple[Kind, ...] = (Kind.CONTEXT_CONFLICTING, Kind.PARTIALLY_CORRECT)
    prompts: tuple[str, ...] = ()
    source: str = ""

    @property
    def cost(self) -> str:
        """The calls for one answer, in words."""
        calls = f"{self.calls} calls" if self.calls != 1 else "1 call"
        embeds = f" and {self.embeds} of embeddings" if self.embeds else ""
        return calls + embeds + (f" (more: {self.more})" if self.more else "")


_MODEL = "a language model"

_METHODS = (
    Method(
        name="embedded",
        summary="A small encoder reads each claim beside the passages, weighed with what `lexical` finds. "
        "Offline.",
        locates="words",
        source="this project; Wang et al., 2020 (MiniLM, arXiv:2002.10957)",
    ),
    Method(
        name="lexical",
        summary="Words, names and exact facts of the answer that the passages lack, weighed by a small "
        "fitted model. Offline.",
        locates="words",
        source="this project",
    ),
    Method(
        name="encoder",
        summary="A Hugging Face token classifier or sentence-pair model of your choice reads each claim. "
        "Offline once it is there.",
        asks="a model that you name, on this machine",
        locates="words",
        source="Kovács and Recski, 2025 (LettuceDetect, arXiv:2502.17125); Honovich et al., 2022",
    ),
    Method(
        name="token",
        summary="Share of the answer's words that the passages lack; BLEU, ROUGE-n and ROUGE-L. Offline.",
        locates="words",
        source="Papineni et al., 2002; Lin, 2004",
    ),
    Method(
        name="semantic",
        summary="1 - cosine between the embeddings of the answer's sentences and the passages'.",
        asks="an embedding model",
        embeds=1,
        locates="sentences",
        source="Reimers and Gurevych, 2019 (arXiv:1908.10084)",
    ),
    Method(
        name="stochastic",
        summary="A model answers again several times; how far the new answers speak against each sentence, "
        "by embeddings, words or contradiction.",
        asks="a language model, and an embedding model",
        calls=5,
        embeds=1,
        more="5 instead of the embeddings by contradiction; nothing by words; samples (5) in general",
        locates="sentences",
        prompts=("stochastic", "stochastic_agreement"),
        source="Manakul et al., 2023 (SelfCheckGPT, arXiv:2303.08896)",
    ),
    Method(
        name="judge",
        summary="A model says of each claim what the passages support, with a quotation that is checked.",
        asks=_MODEL,
        calls=1,
        more="1 to repair; 1 for every 40 claims",
        locates="words",
        prompts=("judge",),
        source="Zheng et al., 2023 (arXiv:2306.05685); Min et al., 2023 (arXiv:2305.14251)",
    ),
    Method(
        name="level",
        summary="A model grades low, medium or high with a reason of two sentences; without passages, "
        "whether the answer answers.",
        asks=_MODEL,
        calls=1,
        more="1 to repair",
        kinds=tuple(Kind),
        prompts=("level", "level_alone"),
        source="Zheng et al., 2023 (arXiv:2306.05685)",
    ),
    Method(
        name="self_eval",
        summary="A model thinks the answer through, then says from 1 to 5 how confident it is of it.",
        asks=_MODEL,
        calls=1,
        more="1 to repair",
        prompts=("self_eval",),
        source="Kadavath et al., 2022 (arXiv:2207.05221); Wei et al., 2022 (arXiv:2201.11903)",
    ),
    Method(
        name="g_eval",
        summary="A model scores by a criterion and its steps, weighted by the probability of each score.",
        asks=_MODEL,
        calls=5,
        more="1 in all where the model tells token probabilities; 1 to write steps, 1 to repair",
        prompts=("g_eval", "g_eval_steps", "g_eval_criterion", "g_eval_kept_steps"),
        source="Liu et al., 2023 (arXiv:2303.16634)",
    ),
    Method(
        name="contradiction",
        summary="A model says of each passage whether it contradicts the answer; the share of those that do.",
        asks=_MODEL,
        calls=1,
        more="1 to repair; 1 for every 20 passages",
        locates="words, and passages",
        kinds=(Kind.CONTEXT_CONFLICTING,),
        prompts=("contradiction",),
        source="DeepEval's hallucination metric; Honovich et al., 2022 (arXiv:2204.04991)",
    ),
    Method(
        name="faithfulness",
        summary="A model takes the answer apart into statements and verifies each; the share unsupported.",
        asks=_MODEL,
        calls=2,
        more="2 to repair; 1 for every 40 statements",
        locates="sentences",
        prompts=("faithfulness_statements", "faithfulness_verdicts"),
        source="Es et al., 2023 (RAGAS, arXiv:2309.15217); Min et al., 2023 (FActScore, arXiv:2305.14251)",
    ),
    Method(
        name="answer_relevancy",
        summary="A model writes the questions that the answer answers; how far they are from what was asked.",
        asks="a language model, and an embedding model",
        calls=1,
        embeds=1,
        more="1 to repair",
        kinds=(Kind.IRRELEVANT,),
        prompts=("answer_relevancy",),
        source="Es et al., 2023 (RAGAS, arXiv:2309.15217)",
    ),
    Method(
        name="context_utilization",
        summary="A model says what each passage was of use for; how far the answer draws on the passages, "
        "those in front first.",
        asks=_MODEL,
        calls=1,
        more="1 to repair; 1 for every 20 passages",
        locates="sentences",
        prompts=("context_utilization",),
        source="Es et al., 2023 (RAGAS, arXiv:2309.15217)",
    ),
    Method(
        name="trustworthiness",
        summary="A model reflects on the answer, answers again several times and compares; a weighted mean.",
        asks=_MODEL,
        calls=7,
        more="3 to repair; samples (5) + 2 in general",
        kinds=tuple(Kind),
        prompts=("trustworthiness_reflection", "trustworthiness_answer", "trustworthiness_agreement"),
        source="Chen and Mueller, 2023 (arXiv:2308.16175)",
    ),
    Method(
        name="claim_ensemble",
        summary="Several readings of the answer, by one prompt, several models or other methods, are merged "
        "claim by claim and put to the vote.",
        asks=_MODEL,
        calls=1,
        more="1 to repair; 1 for sentences left out; 1 for each further oracle that asks a model",
        locates="statements",
        prompts=("claim_reader",),
        source="Wang et al., 2022 (arXiv:2203.11171); Dawid and Skene, 1979; Verga et al., 2024 "
        "(arXiv:2404.18796)",
    ),
    Method(
        name="cascade",
        summary="Exact facts, `lexical`, `embedded`, and a judge only for what none of them is sure of; or "
        "stages of yours.",
        asks="nothing, and a judge where one is given",
        more="1 with a judge, for an answer that no earlier stage is sure of",
        locates="words",
        source="Viola and Jones, 2001; Chen et al., 2023 (FrugalGPT, arXiv:2305.05176)",
    ),
    Method(
        name="stacked",
        summary="Other detectors' scores, weighed together as your labels have shown them to be worth.",
        asks="what its members ask",
        more="those of its members",
        locates="words",
        source="Wolpert, 1992; Breiman, 1996",
    ),
    Method(
        name="bedrock_grounding",
        summary="Amazon Bedrock Guardrails' contextual grounding check.",
        asks="Amazon Bedrock Guardrails",
        calls=1,
        more="one for every 5,000 characters of the answer",
        kinds=(Kind.CONTEXT_CONFLICTING, Kind.IRRELEVANT),
        source="Amazon Bedrock's documentation of ApplyGuardrail",
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _METHODS})


def methods(names: Iterable[str]) -> list[Method]:
    """The methods of these names, in the order in which they are described."""
    wanted = set(names)
    return [method for method in _METHODS if method.name in wanted]
