"""What a foreign model's labels mean is read or told, and never guessed."""

import itertools

import pytest

from groundwire import ConfigurationError
from groundwire.local.labels import Meaning, read

NLI = {
    "entailment": Meaning.SUPPORTED,
    "NEUTRAL": Meaning.UNSUPPORTED,
    "Contradiction": Meaning.CONTRADICTED,
}


@pytest.mark.parametrize("order", list(itertools.permutations(NLI)))
def test_labels_of_entailment_are_read_in_any_order_and_case(order):
    assert read(order, {}, model="m") == tuple(NLI[label] for label in order)


@pytest.mark.parametrize(
    "labels", [("LABEL_0", "LABEL_1"), ("0", "1"), ("LABEL_0",), ("negative", "positive")]
)
def test_labels_that_say_nothing_are_an_error_that_names_them_and_what_to_write(labels):
    with pytest.raises(ConfigurationError) as refused:
        read(labels, {}, model="owner/model")
    for part in (*map(repr, labels), "'owner/model'", "labels={", "'supported'", "'unsupported'"):
        assert part in str(refused.value)


def test_a_label_that_is_not_known_is_asked_for_though_the_others_are():
    with pytest.raises(ConfigurationError, match=r"does not say what 'LABEL_1' means"):
        read(["supported", "LABEL_1"], {}, model="m")


def test_what_is_told_comes_before_what_a_name_says():
    told = {"neutral": "contradicted", "x": "unsupported"}
    assert read(["entailment", "neutral", "x"], told, model="m") == (
        Meaning.SUPPORTED,
        Meaning.CONTRADICTED,
        Meaning.UNSUPPORTED,
    )


def test_a_single_label_may_speak_for_support_or_against_it():
    assert read(["LABEL_0"], {"LABEL_0": "supported"}, model="m") == (Meaning.SUPPORTED,)
    assert read(["hallucinated"], {}, model="m") == (Meaning.UNSUPPORTED,)


def test_a_label_that_the_model_lacks_is_refused():
    with pytest.raises(ConfigurationError, match=r"no label 'LABEL_2'.*'LABEL_0', 'LABEL_1'"):
        read(["LABEL_0", "LABEL_1"], {"LABEL_2": "supported"}, model="m")


@pytest.mark.parametrize("meaning", ["supported", "unsupported"])
def test_labels_that_all_mean_the_same_are_refused(meaning):
    with pytest.raises(ConfigurationError, match="one at least must mean 'supported'"):
        read(["a", "b"], {"a": meaning, "b": meaning}, model="m")
