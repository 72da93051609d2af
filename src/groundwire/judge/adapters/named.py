"""Models by name: ``bedrock:MODEL_ID``, or any string that LangChain knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from groundwire.core.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

_BEDROCK = "bedrock:"
_ARN = "bedrock:arn:"
# What langchain-aws misses, or asks AWS for by a permission of its own, and how it is told.
_NOT_IN_ARN = {
    "provider": "{'provider': 'anthropic'}, or whose model it is",
    "GetInferenceProfile": "{'base_model_id': 'MODEL_ID'} beside the rest",
}
_NAMED = re.compile(r"[\w-]+:\s*\S")
# As they are called for a judge's own model, and for one beside it.
_CONNECTION = {
    **{name: name for name in ("region_name", "credentials_profile_name", "config", "endpoint_url")},
    **{name: name for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")},
    "base_url": "endpoint_url",
}


def from_string(name: str, **options: Any) -> BaseChatModel:
    """A LangChain chat model.

    ``bedrock:MODEL_ID`` is Amazon Bedrock's Converse API, everything else goes to LangChain's
    ``init_chat_model`` ("openai:gpt-4o-mini", "ollama:llama3.2"). ``options`` are the model's own, such as
    ``region_name``. Raises MissingExtraError without the packages, ConfigurationError for a name or
    options that don't work.
    """
    such = "'bedrock:amazon.nova-lite-v1:0' or 'openai:gpt-4o-mini'"
    model: BaseChatModel = _set_up(lambda: _chat(name, options), f"model {name!r}", name, such)
    return model


def connection(model: Any, other: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a Bedrock model's parameters by which another one that is named beside it is reached.

    Or texts would go to another region, or account, than the one that was named. Without a model, all
    are the embeddings' own.
    """
    if model is None:
        return {_CONNECTION.get(name, name): value for name, value in parameters.items()}
    if not all(isinstance(one, str) and one.startswith(_BEDROCK) for one in (model, other)):
        return {}
    return {_CONNECTION[name]: value for name, value in parameters.items() if name in _CONNECTION}


def embeddings_from_string(name: str, **options: Any) -> Embeddings:
    """LangChain Embeddings: ``bedrock:MODEL_ID``, or what LangChain's ``init_embeddings`` knows.

    Raises as ``from_string`` does.
    """
    such = "'bedrock:amazon.titan-embed-text-v2:0'"
    embeddings: Embeddings = _set_up(lambda: _embeddings(name, options), f"embeddings {name!r}", name, such)
    return embeddings


def _set_up(build: Callable[[], Any], what: str, name: str, such: str) -> Any:
    try:
        return build()
    except MissingExtraError:
        raise
    except ImportError as error:  # LangChain names the provider's package to install
        raise ConfigurationError(f"{what}: {error}") from error
    except Exception as error:  # each provider refuses its options with errors of its own
        raise ConfigurationError(f"{what} can't be set up: {_told(error, name, such)}") from error


def _chat(name: str, options: dict[str, Any]) -> Any:
    if name.startswith(_BEDROCK):
        return _bedrock("ChatBedrockConverse", name, options)
    if not name.strip():
        raise ValueError("it names no model")
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(
            "a model named by a string", package="langchain", extra="langchain"
        ) from error
    return init_chat_model(name, **options)


def _embeddings(name: str, options: dict[str, Any]) -> Any:
    if name.startswith(_BEDROCK):
        return _bedrock("BedrockEmbeddings", name, options)
    from langchain.embeddings import init_embeddings  # noqa: PLC0415 - an extra

    return init_embeddings(name, **options)


def _bedrock(kind: str, name: str, options: dict[str, Any]) -> Any:
    model_id = name.removeprefix(_BEDROCK).strip()
    if not model_id:
        raise ValueError("it names no model")
    try:
        import langchain_aws  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise MissingExtraError("a Bedrock model", package="langchain-aws", extra="aws") from error
    return getattr(langchain_aws, kind)(model_id=model_id, **options)


def _told(error: Exception, name: str, such: str) -> str:
    """What was wrong, and what a name looks like, where that may be what is wrong, not a region or a key."""
    told = str(error).partition("\n")[0] or repr(error)
    if isinstance(error, ValidationError):  # its text is a report of many lines, with the options' values
        told = "; ".join(
            ": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"])))
            for one in error.errors(include_input=False)
        )
    if name.startswith(_ARN):
        missing = next((set_ for said, set_ in _NOT_IN_ARN.items() if said in told), "")
        return f"{told.rstrip('.')}; an ARN doesn't tell it: set parameters={missing}" if missing else told
    if _NAMED.match(name) and "provider" not in told:
        return told
    return f"{told.rstrip('.')}; expected 'provider:model', such as {such}"
