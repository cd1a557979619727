"""Whether the Gram matrix is kept whole or by column."""

import pytest
from sklearn import config_context

from skarce._memory import memory_budget
from skarce.designs.choice import ONE_BY_ONE, Access, Costs, choose_kind


def test_many_rows_and_few_candidates_are_kept_whole_and_the_other_way_by_column():
    assert choose_kind("auto", Costs(1e6, 500, 40.0)) == "whole"
    assert choose_kind("auto", Costs(20_000, 1000, 60.0)) == "whole"  # most landmarks of many rows enter
    assert choose_kind("auto", Costs(3000, 3000, 30.0)) == "columns"
    assert choose_kind("auto", Costs(200, 200, 30.0)) == "whole"
    assert choose_kind("columns", Costs(200, 200, 30.0)) == "columns"


def one_by_one(n_columns):
    return Access(one_by_one=True, n_columns=n_columns)


def test_columns_that_come_one_by_one_cost_a_pass_each():
    assert choose_kind("auto", Costs(3000, 3000, 30.0, access=one_by_one(1000))) == "whole"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, access=one_by_one(100))) == "columns"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, access=one_by_one(400))) == "whole"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, access=one_by_one(400), is_symmetric=True)) == "columns"
    # Where Phi is not stored every column evaluates all kernels again.
    assert choose_kind("auto", Costs(1e6, 5000, 30.0, access=one_by_one(200))) == "whole"
    assert choose_kind("auto", Costs(1e6, 5000, 30.0, access=one_by_one(50))) == "columns"
    assert choose_kind("auto", Costs(1e4, 500, 30.0, access=ONE_BY_ONE)) == "whole"


def test_the_budget_is_scikit_learns_working_memory():
    with config_context(working_memory=64):
        assert memory_budget() == 16 * 2**20
        with pytest.raises(ValueError, match=r"above the memory budget of 16 MiB.*set_config\(working_memory=763\)"):
            choose_kind("whole", Costs(1e5, 5000, 30.0))
        with config_context(working_memory=763):
            assert choose_kind("whole", Costs(1e5, 5000, 30.0)) == "whole"
        assert choose_kind("auto", Costs(1e5, 5000, 30.0)) == "columns"
    with pytest.raises(ValueError, match=r"moments must be one of .* got 'some'"):
        choose_kind("some", Costs(10, 10, 1.0))
