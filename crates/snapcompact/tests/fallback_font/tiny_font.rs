//! Makes TrueType files of a few rectangles, so that tests know every pixel that is to come out.

/// A rectangle of ink: left, bottom, right, top, in font units from the origin on the baseline.
pub(crate) type Ink = [i16; 4];

/// A TrueType file in the making.
pub(crate) struct TinyFont {
    units_per_em: u16,
    glyphs: Vec<(char, u16, Vec<Ink>)>,
    name: Vec<u8>,
}

impl TinyFont {
    /// A font of 16 units to the em, so that a unit is a pixel.
    pub(crate) fn new() -> Self {
        Self::with_units_per_em(16)
    }

    pub(crate) fn with_units_per_em(units_per_em: u16) -> Self {
        Self { units_per_em, glyphs: Vec::new(), name: Vec::new() }
    }

    /// Adds a glyph. Characters come in rising order.
    pub(crate) fn glyph(mut self, c: char, advance: u16, ink: &[Ink]) -> Self {
        self.glyphs.push((c, advance, ink.to_vec()));
        self
    }

    /// Gives the font a name, in UTF-16.
    pub(crate) fn named(mut self, utf16: &[u8]) -> Self {
        self.name = utf16.to_vec();
        self
    }

    /// The file: an offset table, the seven tables without which there is no glyph, and the name.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (glyf, loca) = self.outlines();
        let tables: [(&[u8; 4], Vec<u8>); 8] = [
            (b"cmap", self.cmap()),
            (b"glyf", glyf),
            (b"head", self.head()),
            (b"hhea", self.hhea()),
            (b"hmtx", self.hmtx()),
            (b"loca", loca),
            (b"maxp", self.maxp()),
            (b"name", self.name()),
        ];
        let mut file = words(&[0x0001, 0x0000, tables.len() as u16, 0, 0, 0]);
        let mut place = file.len() + 16 * tables.len();
        for (name, table) in &tables {
            file.extend(*name);
            file.extend(0_u32.to_be_bytes());
            file.extend((place as u32).to_be_bytes());
            file.extend((table.len() as u32).to_be_bytes());
            place += table.len();
        }
        file.extend(tables.into_iter().flat_map(|(_, table)| table));
        file
    }

    /// Number of glyphs: the one for missing characters comes first.
    fn count(&self) -> u16 {
        self.glyphs.len() as u16 + 1
    }

    /// One subtable of format 12: a group for each character.
    fn cmap(&self) -> Vec<u8> {
        let mut table = words(&[0, 1, 3, 10, 0, 12, 12, 0]);
        let groups = self.glyphs.len() as u32;
        for number in [16 + 12 * groups, 0, groups] {
            table.extend(number.to_be_bytes());
        }
        for (number, (c, ..)) in (1_u32..).zip(&self.glyphs) {
            for number in [u32::from(*c), u32::from(*c), number] {
                table.extend(number.to_be_bytes());
            }
        }
        table
    }

    /// Outlines, and where each begins.
    fn outlines(&self) -> (Vec<u8>, Vec<u8>) {
        let mut glyf = Vec::new();
        let mut starts = vec![0_u32, 0];
        for (_, _, ink) in &self.glyphs {
            glyf.extend(outline(ink));
            starts.push(glyf.len() as u32);
        }
        (glyf, starts.into_iter().flat_map(u32::to_be_bytes).collect())
    }

    fn head(&self) -> Vec<u8> {
        let mut table = words(&[1, 0, 1, 0, 0, 0, 0x5F0F, 0x3CF5, 0, self.units_per_em]);
        table.extend([0; 16]);
        // Bounds, style, smallest size, direction, then: places of outlines are of 32 bits.
        table.extend(words(&[0, 0, 16, 16, 0, 8, 2, 1, 0]));
        table
    }

    fn hhea(&self) -> Vec<u8> {
        let mut table = words(&[1, 0, 14, 2_u16.wrapping_neg()]);
        table.extend([0; 26]);
        table.extend(words(&[self.count()]));
        table
    }

    fn hmtx(&self) -> Vec<u8> {
        let advances = self.glyphs.iter().flat_map(|(_, advance, _)| [*advance, 0]);
        words(&[8, 0].into_iter().chain(advances).collect::<Vec<_>>())
    }

    fn maxp(&self) -> Vec<u8> {
        let mut table = words(&[1, 0, self.count()]);
        table.extend([0; 26]);
        table
    }

    /// One full name for Windows.
    fn name(&self) -> Vec<u8> {
        let length = self.name.len() as u16;
        let mut table = words(&[0, 1, 18, 3, 1, 0x0409, 4, length, 0]);
        table.extend(&self.name);
        table
    }
}

/// An outline of one contour for each rectangle; empty where there is no ink.
fn outline(ink: &[Ink]) -> Vec<u8> {
    const ON_CURVE: u8 = 1;
    if ink.is_empty() {
        return Vec::new();
    }
    let edge = |at: usize| ink.iter().map(move |rectangle| rectangle[at]);
    let bounds = [edge(0).min(), edge(1).min(), edge(2).max(), edge(3).max()];
    let mut table = words(&[ink.len() as u16]);
    table.extend(bounds.into_iter().flatten().flat_map(i16::to_be_bytes));
    table.extend(words(&(1..=ink.len() as u16).map(|contour| 4 * contour - 1).collect::<Vec<_>>()));
    table.extend(words(&[0]));
    table.extend(vec![ON_CURVE; 4 * ink.len()]);
    let corners = ink.iter().flat_map(|[left, bottom, right, top]| {
        [(*left, *bottom), (*left, *top), (*right, *top), (*right, *bottom)]
    });
    let (across, up): (Vec<i16>, Vec<i16>) = corners.unzip();
    for coordinates in [across, up] {
        let mut before = 0;
        for coordinate in coordinates {
            table.extend(coordinate.wrapping_sub(before).to_be_bytes());
            before = coordinate;
        }
    }
    table.resize(table.len().next_multiple_of(2), 0);
    table
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}
