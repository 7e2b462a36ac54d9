"""Which modules an adapter changes and by which factor is what peft does with the same settings."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.models.adapter_settings import CONFIG, TRAINED_WITH, LoraSettings
from valuesassets.records.errors import ModelError
from valuesassets.records.faults import validated

LEAVES = ("self_attn.q_proj", "self_attn.v_proj", "mlp.up_proj", "mlp.experts.0.up_proj", "mlp.experts.1.up_proj")
MODULES = [f"model.layers.{layer}.{leaf}" for layer in (0, 1, 10) for leaf in LEAVES] + [
    "model.embed_tokens",
    "lm_head",
]
NAMES = st.sampled_from(["q_proj", "v_proj", "up_proj", "proj", "embed_tokens", "lm_head", *MODULES[:3]])
LISTS = st.lists(NAMES, max_size=3)
PATTERNS = st.sampled_from(
    [r".*_proj", r".*\.layers\.1\..*", r"model\.(embed_tokens|layers\.0\..*q_proj)", "all-linear"]
)
BY_PATTERN = st.dictionaries(
    st.sampled_from(
        ["q_proj", "proj", r".*up_proj", r"layers\.1\..*", r"^model\.layers\.0\.self_attn\.q_proj", *MODULES[:2]]
    ),
    st.integers(1, 32),
    max_size=3,
)
TRANSFORMED = st.none() | st.integers(0, 10) | st.lists(st.sampled_from([0, 1, 10]), max_size=2)


@given(
    LISTS | PATTERNS,
    st.none() | LISTS | PATTERNS,
    st.none() | LISTS,
    TRANSFORMED,
    st.sampled_from([None, "layers", ["h", "layers"], []]),
)
def test_the_modules_are_those_that_peft_targets(target, exclude, saved, layers, pattern):
    from peft import LoraConfig
    from peft.tuners.tuners_utils import check_target_module_exists

    if isinstance(target, str):
        layers = pattern = None
    settings = {"target_modules": target, "exclude_modules": exclude, "modules_to_save": saved}
    settings |= {"layers_to_transform": layers, "layers_pattern": pattern if layers is not None else None}
    ours, theirs = LoraSettings(r=8, lora_alpha=8, **settings), LoraConfig(**settings)
    assert [ours.targets(name) for name in MODULES] == [
        bool(check_target_module_exists(theirs, name)) for name in MODULES
    ]


@given(BY_PATTERN, BY_PATTERN, st.booleans())
def test_ranks_and_factors_are_those_of_peft(ranks, alphas, use_rslora):
    from peft.utils.other import get_pattern_key

    ours = LoraSettings(r=8, lora_alpha=4, rank_pattern=ranks, alpha_pattern=alphas, use_rslora=use_rslora)
    for name in MODULES:
        rank = ranks.get(get_pattern_key(ranks.keys(), name), 8)
        alpha = alphas.get(get_pattern_key(alphas.keys(), name), 4)
        assert ours.rank(name) == rank
        assert ours.scale(name) == pytest.approx(alpha / (rank**0.5 if use_rslora else rank))


def test_a_factor_by_hand():
    settings = LoraSettings(r=4, lora_alpha=8, rank_pattern={"q_proj": 16}, alpha_pattern={"layers.1.q_proj": 3})
    assert [settings.scale(name) for name in ("v_proj", "layers.0.q_proj", "layers.1.q_proj")] == [2, 0.5, 3 / 16]
    stabilised = settings.model_copy(update={"use_rslora": True})
    assert [stabilised.scale(name) for name in ("v_proj", "layers.0.q_proj")] == [4, 2]


def refused(**settings):
    with pytest.raises(ModelError) as caught:
        validated(LoraSettings, {"r": 4, "lora_alpha": 8, "peft_type": "LORA"} | settings, ModelError, CONFIG)
    return str(caught.value)


def test_every_setting_of_peft_is_followed_or_harmless_or_refused_where_it_is_set():
    from peft import LoraConfig

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = LoraConfig(r=4, lora_alpha=8).to_dict()
    validated(LoraSettings, every, ModelError, CONFIG)
    others = every.keys() - LoraSettings.model_fields.keys() - {*TRAINED_WITH}
    assert others == {
        *("alora_invocation_tokens", "arrow_config", "kasa_config", "layer_replication", "megatron_config"),
        *("monteclora_config", "target_parameters", "trainable_token_indices", "use_bdlora", "use_qalora"),
    }
    for name in others:
        assert f"{name} is set, which would be ignored here; merge the adapter into its base" in refused(**{name: [1]})


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        ({"a_setting_of_later_versions": {"a": 1}}, "a_setting_of_later_versions is set, which would be ignored here"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights is 'pissa', which changes the base too; save the adapter"),
        ({"init_lora_weights": "pissa_niter_16"}, "which changes the base too"),
        ({"target_modules": "(q_proj"}, "'(q_proj' cannot be matched (missing ), unterminated subpattern"),
        ({"rank_pattern": {"[": 2}}, "'[' cannot be matched"),
        ({"r": 0}, "key 'r': at least 1 was expected (found 0)"),
        ({"lora_alpha": "eight"}, "key 'lora_alpha': a number was expected (found \"eight\")"),
        ({"target_modules": [1]}, "text in quotes was expected"),
    ],
)
def test_settings_that_cannot_be_followed_are_one_line(settings, finding):
    assert finding in refused(**settings)
