// Built for its precompiled header.
