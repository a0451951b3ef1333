"""The checks: small functions, each a claim about the candidate's module.

A check takes the bench, the case and the case's `args`, and returns a Finding.
"""

from collections.abc import Callable

from grader.bank.checks import (
    by_name,
    construction,
    copies,
    dead_rows,
    decoding,
    dropout,
    dropout_at_large,
    extremes,
    further_gradients,
    gradients,
    heads,
    lengths,
    masks,
    omission,
    shapes,
    state,
    switches,
    symmetry,
    values,
)
from grader.bank.findings import Finding

CHECKS: dict[str, Callable[..., Finding]] = {
    check.__name__: check
    for check in (
        construction.constructs,
        construction.raises_for_indivisible,
        construction.raises_for_drawn_pairs,
        shapes.has_output_shape,
        shapes.returns_weights,
        values.matches_reference,
        lengths.matches_in_some_rows,
        lengths.keeps_its_default_length,
        values.takes_mask_forms,
        values.reads_what_it_tells_apart,
        switches.switches_causality,
        switches.returns_weights_when_told,
        values.takes_one_tensor_for_all,
        omission.takes_itself_for_what_is_left_out,
        heads.takes_its_own_head_size,
        heads.shares_key_heads,
        shapes.projects_output,
        shapes.keeps_dtype,
        values.accepts_none_mask,
        masks.ignores_future,
        masks.ignores_hidden,
        masks.first_query_sees_itself,
        dead_rows.handles_dead_rows,
        dead_rows.dead_row_gradients_are_finite,
        symmetry.keeps_samples_apart,
        symmetry.follows_permutations,
        symmetry.takes_empty_inputs,
        extremes.averages_large_values,
        extremes.adds_up_small_shares,
        extremes.tells_faint_scores_apart,
        gradients.matches_gradients,
        further_gradients.matches_second_gradients,
        further_gradients.keeps_gradients_under_autocast,
        dropout.is_off_in_eval,
        dropout_at_large.averages_to_eval,
        dropout_at_large.agrees_in_training,
        dropout_at_large.drops_where_it_may,
        dropout.repeats_in_eval,
        dropout.is_on_in_training,
        dropout.drops_weights,
        dropout.drops_each_by_itself,
        dropout.scales_inversely,
        dropout.returns_weights_in_training,
        dropout.has_gradients_under_dropout,
        copies.survives_training,
        copies.survives_deepcopy,
        copies.survives_pickling,
        copies.loads_its_state_dict,
        by_name.takes_weights_by_name,
        state.keeps_no_state,
        decoding.continues_from_its_cache,
        state.survives_a_cast,
        state.leaves_inputs_unchanged,
        state.registers_parameters,
        state.uses_every_parameter,
        state.leaves_switches_alone,
        state.moves_with_dtype,
        state.moves_with_device,
        state.uses_no_ready_made_attention,
    )
}

# Checks on what a module is made with and what it keeps: they see no module used before.
FRESH = frozenset(
    name
    for name, check in CHECKS.items()
    if check.__module__ in (construction.__name__, state.__name__)
)

# Checks that mean something whatever the weights: they run even when no layout was found.
WEIGHTLESS = frozenset(
    check.__name__
    for check in (
        construction.constructs,
        construction.raises_for_indivisible,
        construction.raises_for_drawn_pairs,
        shapes.has_output_shape,
        shapes.returns_weights,
        shapes.projects_output,
        shapes.keeps_dtype,
        masks.ignores_future,
        masks.ignores_hidden,
        symmetry.keeps_samples_apart,
        symmetry.follows_permutations,
        copies.survives_training,
        dead_rows.dead_row_gradients_are_finite,
        state.leaves_inputs_unchanged,
        state.registers_parameters,
        state.uses_every_parameter,
        state.leaves_switches_alone,
        state.moves_with_dtype,
        state.moves_with_device,
        state.uses_no_ready_made_attention,
    )
)
