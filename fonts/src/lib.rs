//! Bitmap fonts as data, for printing history into frames. Holds no font yet: fonts come with the snapcompact method.
