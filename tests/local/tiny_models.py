"""Models small enough to make in a test, some with weights that mean something; saved as makers save them."""

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tokenizer(texts):
    """A WordPiece tokenizer whose vocabulary is the words of ``texts``."""
    cut = pre_tokenizers.BertPreTokenizer()
    words = sorted({word for text in texts for word, _ in cut.pre_tokenize_str(text.lower())})
    vocabulary = {word: i for i, word in enumerate([*MARKS, *words])}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = cut
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, model_input_names=inputs, **names)


def save(folder, model, words):
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return str(folder)


def config(words, labels, *, length=512, **sizes):
    usual = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    return transformers.BertConfig(
        vocab_size=len(words),
        max_position_embeddings=length,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        pad_token_id=0,
        **usual | sizes,
    )


def random_model(kind, settings):
    torch.manual_seed(7)
    settings.initializer_range = 1.0
    return getattr(transformers, kind)(settings)


def looks_words_up(kind, words, labels, *, found, missing, length=512):
    """A BERT whose attention looks each token of the second text up in the first.

    For a token classifier the label number ``found`` wins where the token is there, ``missing`` where it is
    not. For a sequence classifier ``found`` wins where all tokens are there. With a single label, ``missing``
    is None and the logit is high where it is found.
    """
    size = len(words)
    first, seen, verdict = size, size + 1, size + 2  # dimensions beside one for each word
    settings = config(words, labels, length=length, hidden_size=size + 3, num_attention_heads=1)
    model = getattr(transformers, kind)(settings)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            weights.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        bert = model.bert
        bert.embeddings.word_embeddings.weight[:, :size] = torch.eye(size)
        bert.embeddings.token_type_embeddings.weight[0, first] = 1.0
        same, worst = (layer.attention for layer in bert.encoder.layer)
        one = torch.eye(size + 3)
        # Like looks at like, and rather in the first text than at itself.
        same.self.query.weight[:size, :size] = 10 * torch.eye(size)
        same.self.query.bias[first] = 45.0
        same.self.key.weight += one
        same.self.value.weight[seen, first] = 10.0
        same.output.dense.weight += one
        # Every token looks at those that were not seen, if there are any.
        worst.self.query.bias[seen] = 100.0
        worst.self.key.weight[seen, seen] = -1.0
        worst.self.value.weight[verdict, seen] = 10.0
        worst.output.dense.weight += one
        at = seen
        if kind.endswith("SequenceClassification"):
            bert.pooler.dense.weight += one
            at = verdict
        model.classifier.weight[found, at] = 8.0
        if missing is not None:
            model.classifier.weight[missing, at] = -8.0
            others = [i for i in range(len(labels)) if i not in (found, missing)]
            model.classifier.bias[others] = -30.0
    return model.eval()
