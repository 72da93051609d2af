"""The forms that models may be held to: what prompts ask for, in their order and in words all take."""

import json

import pytest

from groundwire.prompts import catalogue, forms
from groundwire.prompts.replies import ClaimReply
from groundwire.prompts.schemas import entries_schema, object_schema, readings_schema

FORMS = {
    "answer_relevancy": object_schema(forms.QuestionsForm),
    "claim_reader": readings_schema(),
    "context_utilization": entries_schema(forms.UseEntry, key="passages"),
    "contradiction": entries_schema(forms.PassageEntry, key="passages"),
    "faithfulness_statements": entries_schema(forms.SentenceEntry, key="sentences"),
    "faithfulness_verdicts": entries_schema(forms.StatementEntry, key="statements"),
    "g_eval_steps": object_schema(forms.StepsForm),
    "judge": entries_schema(ClaimReply, key="claims"),
    "level": object_schema(forms.LevelForm),
    "level_alone": object_schema(forms.LevelForm),
    "self_eval": object_schema(forms.ConfidenceForm),
    "stochastic_agreement": entries_schema(forms.AgreedEntry, key="statements"),
    "trustworthiness_agreement": entries_schema(forms.AgreementEntry, key="answers"),
    "trustworthiness_reflection": object_schema(forms.ReflectionForm),
}


def names(schema):
    """The names of a schema's properties, in their order and within one another."""
    if "items" in schema:
        return names(schema["items"])
    return {name: names(one) for name, one in schema.get("properties", {}).items()}


def shown(value):
    """The names in a sample of a reply, likewise."""
    if isinstance(value, list):
        return shown(value[0]) if value else {}
    return {name: shown(one) for name, one in value.items()} if isinstance(value, dict) else {}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_what_its_prompt_asks_for_in_the_same_order(name):
    """A model that is to say its reasons before its score does so in a form, too."""
    prompt = catalogue.get(name)
    told = f"{prompt.system}\n{prompt.user}\n{prompt.form}"
    sample = next(json.loads(line) for line in told.splitlines() if line.startswith('{"'))
    assert json.dumps(names(FORMS[name])) == json.dumps(shown(sample))


@pytest.mark.parametrize("name", FORMS)
def test_nothing_in_a_form_may_be_left_out_and_nothing_is_said_that_a_provider_refuses(name):
    def required(schema):
        properties = schema.get("properties", {})
        assert schema.get("required", []) == list(properties)
        for one in (*properties.values(), *filter(None, [schema.get("items")])):
            required(one)

    required(FORMS[name])
    found = json.dumps(FORMS[name])
    for word in ("minLength", "maxItems", "$ref", "$defs", "default", "additionalProperties", "unverified"):
        assert word not in found
