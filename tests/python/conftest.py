import pathlib

import pytest

import mscclc

SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "samples"


@pytest.fixture(scope="session")
def allreduce():
    """A kernel of two ranks, in place."""
    return mscclc.Kernel.compile(
        SAMPLES / "allreduce_allpairs.cpp", params={"ranks": 2, "threadBlocks": 1}, platform="host"
    )


@pytest.fixture(scope="session")
def alltoall():
    """A kernel of two ranks, with an input and an output."""
    return mscclc.Kernel.compile(SAMPLES / "alltoall.cpp", params={"ranks": 2}, platform="host")


@pytest.fixture
def selector():
    """The registry that `register` adds to; empty before and after the test."""
    import mscclc.selector

    before, mscclc.selector.default = mscclc.selector.default, mscclc.selector.Selector()
    yield mscclc.selector.default
    mscclc.selector.default = before
