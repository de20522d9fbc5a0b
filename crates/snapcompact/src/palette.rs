//! The colours of frames.

/// A colour, as its place in [`PALETTE`].
pub(crate) type Colour = u8;

/// Red, green, blue of every colour: background, six hues of sentences, black, the band behind a repeated line, pale ink.
pub(crate) const PALETTE: [[u8; 3]; 10] = [
    [255, 255, 255],
    [109, 2, 2],
    [109, 53, 2],
    [24, 109, 2],
    [2, 109, 109],
    [2, 32, 109],
    [75, 2, 109],
    [0, 0, 0],
    [255, 247, 194],
    [128, 128, 128],
];

/// Paper.
pub(crate) const BACKGROUND: Colour = 0;
/// Ink of the first sentence; the next five follow.
pub(crate) const FIRST_HUE: Colour = 1;
/// How many hues sentences take in turn.
pub(crate) const HUES: u8 = 6;
/// Ink of text that has one colour, and of line ends.
pub(crate) const BLACK: Colour = 7;
/// Behind the second and further copies of a line.
pub(crate) const BAND: Colour = 8;
/// Ink of what matters less.
pub(crate) const PALE: Colour = 9;

/// The hue of a sentence.
pub(crate) fn hue(sentence: usize) -> Colour {
    FIRST_HUE + (sentence % usize::from(HUES)) as u8
}
