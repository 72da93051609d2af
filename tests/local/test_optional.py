"""Optional encoders: tiny models, really loaded, whose readings mean what their weights were made to mean."""

import itertools
import json
import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from groundwire import ConfigurationError, MissingExtraError, Span  # noqa: E402
from groundwire.core.plan import Encode, EncoderSetup  # noqa: E402
from groundwire.local import optional  # noqa: E402
from groundwire.text.claims import cut  # noqa: E402
from tests.local import tiny_models  # noqa: E402

BAGS = "You may bring one bag of up to 8 kg. A second bag costs 25 EUR."
LOUNGE = "The lounge is open from 6 to 22. Children pay half of the fare."
WRONG = "A second bag costs 75 EUR. The lounge is open."
FARES = "Every fare is valid for one year from the day of purchase and can be changed for free."
TEXTS = [BAGS, LOUNGE, WRONG, FARES, "How much is a dog?", "A dog is free."]
WORDS = tiny_models.tokenizer(TEXTS)
TWO = EncoderSetup(labels=(("LABEL_0", "supported"), ("LABEL_1", "unsupported")))
PLAIN = EncoderSetup()


@pytest.fixture(autouse=True)
def _one_thread():
    """Models this small are read faster by one thread than by several that wait for each other."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


def asked(answer, *passages, question=None):
    return Encode(answer=answer, claims=tuple(cut(answer)), passages=passages, question=question, model="m")


def token_reader(folder, *, length=512, setup=TWO):
    model = tiny_models.looks_words_up(
        "BertForTokenClassification", WORDS, ["LABEL_0", "LABEL_1"], found=0, missing=1, length=length
    )
    return optional.load(tiny_models.save(folder, model, WORDS), setup)


def pair_reader(folder, labels, *, found, missing, length=512, setup=PLAIN):
    model = tiny_models.looks_words_up(
        "BertForSequenceClassification", WORDS, labels, found=found, missing=missing, length=length
    )
    return optional.load(tiny_models.save(folder, model, WORDS), setup)


def unsupported(encoded, answer):
    return [
        word.span.of(answer)
        for claim in encoded.claims
        for word in claim.words
        if word.reading.supported < 0.5
    ]


def read_one(reader, request):
    (encoded,) = reader.read([request])
    return encoded


# Token classifiers


def test_a_token_classifier_names_the_words_that_the_passages_lack(tmp_path):
    encoded = read_one(token_reader(tmp_path), asked(WRONG, BAGS, LOUNGE))
    assert unsupported(encoded, WRONG) == ["75"]


def test_a_claim_reads_as_its_worst_word(tmp_path):
    first, second = read_one(token_reader(tmp_path), asked(WRONG, BAGS, LOUNGE)).claims
    assert first.reading == min((word.reading for word in first.words), key=lambda r: r.supported)
    assert first.reading.unsupported > 0.95
    assert second.reading.supported > 0.95


def test_the_evidence_of_a_claim_is_the_sentence_that_is_nearest_to_it(tmp_path):
    first, second = read_one(token_reader(tmp_path), asked(WRONG, LOUNGE, BAGS)).claims
    assert [span.of((LOUNGE, BAGS)[i]) for i, span in first.evidence] == ["A second bag costs 25 EUR."]
    assert [span.of((LOUNGE, BAGS)[i]) for i, span in second.evidence] == ["The lounge is open from 6 to 22."]


def test_a_token_is_supported_if_any_window_supports_it(tmp_path):
    passages = (BAGS, FARES, FARES, FARES, LOUNGE)
    answer = "A second bag is half of the fare. A dog is free."
    encoded = read_one(token_reader(tmp_path, length=48), asked(answer, *passages))
    assert unsupported(encoded, answer) == ["dog"]


def test_every_window_is_read_with_the_question_before_it(tmp_path):
    request = asked("A dog is valid.", BAGS, FARES, FARES, FARES, question="How much is a dog?")
    answer, reader = request.answer, token_reader(tmp_path, length=48)
    assert unsupported(read_one(reader, request), answer) == []
    bare = replace(TWO, prompt="{passages}")
    assert unsupported(read_one(optional.load(str(tmp_path), bare), request), answer) == ["dog"]


def test_a_prompt_puts_question_and_passages_as_the_model_was_trained_with(tmp_path):
    setup = replace(TWO, prompt="75 EUR {passages} {question}")
    encoded = read_one(token_reader(tmp_path, setup=setup), asked(WRONG, BAGS, LOUNGE))
    assert unsupported(encoded, WRONG) == []


def test_a_prompt_keeps_its_line_breaks(tmp_path):
    setup = replace(TWO, prompt="{question}\n{passages}\ndog")
    request = asked("A second dog is free.", "a second", question="is free")
    encoded = read_one(token_reader(tmp_path, setup=setup), request)
    assert unsupported(encoded, request.answer) == []


def test_an_answer_that_is_longer_than_the_model_is_read_to_its_end(tmp_path):
    answer = " ".join([WRONG] * 12)
    encoded = read_one(token_reader(tmp_path, length=48), asked(answer, BAGS, LOUNGE))
    assert len(encoded.claims) == 24
    assert unsupported(encoded, answer) == ["75"] * 12


def test_a_question_that_is_longer_than_the_model_leaves_room_for_the_rest(tmp_path):
    question = "How much is a dog? " * 40
    encoded = read_one(token_reader(tmp_path, length=48), asked(WRONG, BAGS, LOUNGE, question=question))
    assert unsupported(encoded, WRONG) == ["75"]


def test_words_lie_inside_their_claims_in_order(tmp_path):
    request = asked(f"¿“{WRONG}” — 東京 \ud800 {BAGS}", BAGS)
    encoded = read_one(token_reader(tmp_path), request)
    for claim, read in zip(request.claims, encoded.claims, strict=True):
        spans = [word.span for word in read.words]
        assert spans == sorted(spans)
        assert all(claim.start <= span.start < span.end <= claim.end for span in spans)


# Sentence-pair classifiers


@pytest.mark.parametrize("order", list(itertools.permutations(["Entailment", "neutral", "CONTRADICTION"])))
@pytest.mark.parametrize("otherwise", ["neutral", "CONTRADICTION"])
def test_labels_of_entailment_mean_what_they_say_in_any_order(tmp_path, order, otherwise):
    reader = pair_reader(tmp_path, order, found=order.index("Entailment"), missing=order.index(otherwise))
    wrong, right = (claim.reading for claim in read_one(reader, asked(WRONG, BAGS, LOUNGE)).claims)
    assert right.supported > 0.95
    assert (wrong.contradicted if otherwise == "CONTRADICTION" else wrong.unsupported) > 0.95


def test_two_labels_mean_what_the_user_says(tmp_path):
    told = (("0", "unsupported"), ("1", "supported"))
    reader = pair_reader(tmp_path, ["0", "1"], found=1, missing=0, setup=EncoderSetup(labels=told))
    wrong, right = (claim.reading for claim in read_one(reader, asked(WRONG, BAGS, LOUNGE)).claims)
    assert right.supported > 0.95
    assert wrong.unsupported > 0.95
    assert wrong.contradicted == 0


@pytest.mark.parametrize("meaning", ["supported", "unsupported"])
def test_one_logit_is_the_chance_of_its_label(tmp_path, meaning):
    setup = EncoderSetup(labels=(("LABEL_0", meaning),))
    reader = pair_reader(tmp_path, ["LABEL_0"], found=0, missing=None, setup=setup)
    request = asked(WRONG, f"{BAGS} {LOUNGE}")
    missing, found = (claim.reading for claim in read_one(reader, request).claims)
    assert getattr(found, meaning) > 0.95
    assert getattr(missing, meaning) < 0.05
    assert found.supported + found.unsupported == pytest.approx(1)


def test_a_claim_is_supported_by_the_best_of_many_windows_and_that_one_is_its_evidence(tmp_path):
    passages = (FARES, FARES + " " + LOUNGE + " " + FARES + " " + BAGS, LOUNGE)
    reader = pair_reader(tmp_path, ["entailment", "neutral"], found=0, missing=1, length=48)
    (read,) = read_one(reader, asked("A second bag costs 25 EUR.", *passages)).claims
    assert read.reading.supported > 0.95
    ((passage, span),) = read.evidence
    assert span.of(passages[passage]) == "A second bag costs 25 EUR."


def test_a_claim_that_is_longer_than_the_model_is_as_supported_as_its_worst_part(tmp_path):
    claim = "the lounge is open from 6 to 22 and children pay half of the fare " * 3
    reader = pair_reader(tmp_path, ["entailment", "neutral"], found=0, missing=1, length=48)
    lacking, told = (
        reader.read([Encode(answer=text, claims=(Span(0, len(text)),), passages=(passage,), model="m")])[0]
        for text, passage in ((claim + "75", LOUNGE + " and"), (claim, LOUNGE + " and"))
    )
    assert told.claims[0].reading.supported > 0.95
    assert lacking.claims[0].reading.unsupported > 0.95


def test_the_order_of_passages_changes_no_reading(tmp_path):
    reader = pair_reader(tmp_path, ["entailment", "neutral"], found=0, missing=1)
    orders = [(BAGS, LOUNGE, FARES), (LOUNGE, FARES, BAGS), (FARES, LOUNGE, BAGS)]
    readings = [[claim.reading for claim in read_one(reader, asked(WRONG, *one)).claims] for one in orders]
    for other in readings[1:]:
        for one, same in zip(readings[0], other, strict=True):
            assert one.supported == pytest.approx(same.supported, abs=1e-5)


# Any model


def random_modern_bert(kind):
    settings = transformers.ModernBertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=96,
        local_attention=16,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        cls_token_id=2,
        sep_token_id=3,
        initializer_cutoff_factor=3.0,
        id2label={0: "supported", 1: "hallucinated"},
        label2id={"supported": 0, "hallucinated": 1},
    )
    return tiny_models.random_model(f"ModernBert{kind}", settings)


def random_bert(kind):
    return tiny_models.random_model(
        f"Bert{kind}", tiny_models.config(WORDS, ["supported", "hallucinated"], length=96)
    )


@pytest.mark.parametrize("make", [random_bert, random_modern_bert])
@pytest.mark.parametrize("kind", ["ForTokenClassification", "ForSequenceClassification"])
def test_what_is_read_depends_neither_on_the_batch_nor_on_chance(tmp_path, make, kind):
    words = tiny_models.tokenizer(TEXTS)
    if make is random_modern_bert:  # it has no second segment
        words.model_input_names = ["input_ids", "attention_mask"]
    reader = optional.load(tiny_models.save(tmp_path, make(kind), words), EncoderSetup())
    requests = [
        asked(WRONG, BAGS, LOUNGE, question="How much is a dog?"),
        asked("A dog is free.", *[FARES] * 9),
        asked(FARES + " " + WRONG, BAGS),
    ]
    together = reader.read(requests)
    figures = [
        (one, alone)
        for whole, request in zip(together, requests, strict=True)
        for read, again in zip(whole.claims, read_one(reader, request).claims, strict=True)
        for one, alone in [
            (read.reading, again.reading),
            *((w.reading, v.reading) for w, v in zip(read.words, again.words, strict=True)),
        ]
    ]
    assert len({round(one.supported, 3) for one, _ in figures}) > 2, "figures that are all alike test nothing"
    for one, alone in figures:
        assert one.supported == pytest.approx(alone.supported, abs=1e-5)
        assert one.supported + one.unsupported + one.contradicted == pytest.approx(1)


def test_a_model_whose_places_begin_behind_the_padding_is_read_to_its_last_place(tmp_path):
    settings = transformers.RobertaConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=66,
        type_vocab_size=1,
        pad_token_id=1,
        id2label={0: "neutral", 1: "entailment"},
    )
    words = tiny_models.tokenizer(TEXTS)
    words.model_input_names = ["input_ids", "attention_mask"]
    words.pad_token = "[UNK]"  # has the id 1, as RoBERTa's padding has
    model = tiny_models.random_model("RobertaForSequenceClassification", settings)
    folder = tiny_models.save(tmp_path, model, words)
    reader = optional.load(folder, EncoderSetup())
    assert reader._network.length == 64
    (read,) = read_one(reader, asked("A dog is free.", *[FARES, BAGS, LOUNGE] * 5)).claims
    assert 0 < read.reading.supported < 1
    with pytest.raises(ConfigurationError, match="places for 64 tokens"):
        optional.load(folder, EncoderSetup(max_length=65))


def test_a_model_is_loaded_once_by_all_threads(tmp_path):
    folder = str(tmp_path)
    token_reader(tmp_path)
    setup = replace(TWO, max_length=100)
    with ThreadPoolExecutor(8) as threads:
        readers = list(threads.map(lambda _: optional.load(folder, setup), range(8)))
    assert len(set(map(id, readers))) == 1


def test_many_threads_read_what_one_reads(tmp_path):
    reader = token_reader(tmp_path)
    requests = [asked(WRONG, BAGS, LOUNGE), asked("A dog is free.", FARES), asked(BAGS, BAGS)] * 2
    alone = [read_one(reader, request) for request in requests]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda request: read_one(reader, request), requests)) == alone


def test_loading_and_reading_leave_pytorch_as_it_was(tmp_path):
    before = torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()
    read_one(token_reader(tmp_path), asked(WRONG, BAGS))
    assert (torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()) == before


# What is refused


def refusal(name, setup=TWO):
    with pytest.raises(ConfigurationError) as refused:
        optional.load(str(name), setup)
    return str(refused.value)


@pytest.mark.parametrize("package", ["transformers", "torch"])
def test_without_the_packages_the_error_says_what_to_install(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*pip install 'groundwire\[encoder\]'"):
        optional.load(str(tmp_path), EncoderSetup())


def test_a_folder_without_a_config_is_refused(tmp_path):
    assert "has no config.json" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "just-a-name", "a/b/c", "../x"])
def test_what_is_neither_a_folder_nor_an_id_is_refused_without_asking_the_network(name):
    assert "is no folder, and no id of the Hugging Face hub" in refusal(name)


def test_a_hub_that_is_out_of_reach_is_said_to_be(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = refusal("nobody/has-this-model")
    assert "'nobody/has-this-model'" in message
    assert "download the model and give its folder" in message


def test_labels_that_say_nothing_are_named(tmp_path):
    model = tiny_models.random_model(
        "BertForSequenceClassification", tiny_models.config(WORDS, ["LABEL_0", "LABEL_1"])
    )
    message = refusal(tiny_models.save(tmp_path, model, WORDS), EncoderSetup())
    assert "does not say what 'LABEL_0', 'LABEL_1' means" in message


def test_a_model_of_another_kind_is_refused(tmp_path):
    model = tiny_models.random_model("BertForMaskedLM", tiny_models.config(WORDS, ["a", "b"]))
    assert "'BertForMaskedLM'" in refusal(tiny_models.save(tmp_path, model, WORDS))


def test_a_classifier_without_the_weights_of_its_head_is_refused(tmp_path):
    model = tiny_models.random_model("BertModel", tiny_models.config(WORDS, ["LABEL_0", "LABEL_1"]))
    folder = tiny_models.save(tmp_path, model, WORDS)
    edited(folder, architectures=["BertForTokenClassification"])
    message = refusal(folder)
    assert "lacks weights" in message
    assert "classifier" in message


def test_a_model_without_its_tokenizer_is_refused(tmp_path):
    token_reader(tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "bare", ignore=shutil.ignore_patterns("*tok*"))
    assert "tokenizer" in refusal(tmp_path / "bare")


def test_a_model_that_brings_code_of_its_own_is_refused_and_the_code_not_run(tmp_path):
    (tmp_path / "theirs.py").write_text("raise SystemExit('this was run')")
    (tmp_path / "config.json").write_text("{}")
    edited(
        tmp_path,
        model_type="TheirsConfig",
        architectures=["TheirsForSequenceClassification"],
        auto_map={
            "AutoConfig": "theirs.TheirsConfig",
            "AutoModelForSequenceClassification": "theirs.TheirsForSequenceClassification",
        },
    )
    assert "code of its own, which groundwire never runs" in refusal(tmp_path)


def test_a_broken_file_is_refused_by_name(tmp_path):
    token_reader(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    assert f"{str(tmp_path)!r}: its weights can't be loaded" in refusal(tmp_path, replace(TWO, max_length=99))


def test_a_device_that_is_not_there_is_refused(tmp_path):
    token_reader(tmp_path)
    assert "can't run on device 'tpu9'" in refusal(tmp_path, replace(TWO, device="tpu9"))


def test_a_prompt_is_refused_where_it_leaves_no_room_or_has_no_place(tmp_path):
    token_reader(tmp_path / "tokens", length=48)
    long = replace(TWO, prompt="one bag " * 30 + "{passages}")
    assert "the prompt takes" in refusal(tmp_path / "tokens", long)
    pair_reader(tmp_path / "pairs", ["entailment", "neutral"], found=0, missing=1)
    assert "take no prompt" in refusal(tmp_path / "pairs", EncoderSetup(prompt="{passages}"))


def edited(folder, **entries):
    path = Path(folder) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_reads_what_its_parent_has_loaded(tmp_path):
    """Threads that PyTorch began in the parent are not in the child, which would wait for them for ever."""
    torch.set_num_threads(2)
    sizes = {"hidden_size": 256, "intermediate_size": 1024}
    model = tiny_models.random_model(
        "BertForTokenClassification", tiny_models.config(WORDS, ["LABEL_0", "LABEL_1"], **sizes)
    )
    reader = optional.load(tiny_models.save(tmp_path, model, WORDS), TWO)
    request = asked(WRONG, *[FARES] * 20)
    read_one(reader, request)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        os._exit(0 if len(read_one(reader, request).claims) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
