// Built for its precompiled header, which all unit tests use.
#include "catch.h"
