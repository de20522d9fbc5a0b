//! History printed as dense bitmap frames that vision models read. Holds nothing yet: the method is not built.
