//! What is done to a TrueType file before it is read as a font.
//!
//! The reader of fonts trusts two things that a damaged file gets wrong: it walks over every code point of the character maps, which
//! takes minutes where a map claims four thousand million; and it decodes the font's name without a look at its length. So the
//! code points are counted, and the name, which nobody asks for, is taken out. Nothing else is looked at: where a table cannot
//! be followed here, the reader cannot follow it either and says why.

/// Most code points that the character maps of a file may have together. A font has up to four maps with its characters in each.
const MOST_CODE_POINTS: u64 = 4 * 0x0011_0000;

/// Bytes of an entry of the table directory: tag, checksum, place, length.
const ENTRY_BYTES: usize = 16;

/// A copy of the file that can be read safely. Costs at most the length of the file for each of its character maps.
///
/// # Errors
/// Why it cannot.
pub(super) fn prepared(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    if code_points(file) > MOST_CODE_POINTS {
        return Err("it maps more characters than there are");
    }
    let mut file = file.to_vec();
    let names = entries(&file).filter(|at| file[*at..].starts_with(b"name")).collect::<Vec<_>>();
    for name in names {
        file[name + 12..name + ENTRY_BYTES].fill(0);
    }
    Ok(file)
}

/// Places of the whole entries of the table directory.
fn entries(file: &[u8]) -> impl Iterator<Item = usize> + use<> {
    // A collection begins with the places of its fonts, of which the first is read.
    let is_collection = file.starts_with(b"ttcf");
    let font = if is_collection { u32_at(file, 12) } else { Some(0) };
    let font = font.map_or(file.len(), |place| place as usize).min(file.len());
    let count = usize::from(u16_at(file, font + 4).unwrap_or(0));
    let whole = file.len().saturating_sub(font + 12) / ENTRY_BYTES;
    (0..count.min(whole)).map(move |number| font + 12 + number * ENTRY_BYTES)
}

/// Sum of the code points of all character maps.
fn code_points(file: &[u8]) -> u64 {
    let tables = entries(file).filter(|at| file[*at..].starts_with(b"cmap"));
    tables.filter_map(|at| code_points_of_table(file.get(u32_at(file, at + 8)? as usize..)?)).sum()
}

fn code_points_of_table(table: &[u8]) -> Option<u64> {
    let maps = usize::from(u16_at(table, 2)?);
    let records = table.get(4..)?.chunks_exact(8).take(maps);
    let places = records.filter_map(|record| Some(u32_at(record, 4)? as usize));
    Some(places.filter_map(|place| code_points_of_map(table.get(place..)?)).sum())
}

/// Maps of other formats than these have at most one plane.
fn code_points_of_map(map: &[u8]) -> Option<u64> {
    match u16_at(map, 0)? {
        4 => {
            let bytes = usize::from(u16_at(map, 6)?);
            let (ends, starts) = (map.get(14..)?, map.get(16 + bytes..)?);
            let pairs = starts.chunks_exact(2).zip(ends.chunks_exact(2)).take(bytes / 2);
            Some(pairs.filter_map(|(start, end)| length(u16_at(start, 0)?, u16_at(end, 0)?)).sum())
        }
        10 => u32_at(map, 16).map(u64::from),
        12 | 13 => {
            let groups = map.get(16..)?.chunks_exact(12).take(u32_at(map, 12)? as usize);
            Some(groups.filter_map(|group| length(u32_at(group, 0)?, u32_at(group, 4)?)).sum())
        }
        _ => None,
    }
}

/// Length of a range with both of its ends; none where they are the wrong way round.
fn length(start: impl Into<u64>, end: impl Into<u64>) -> Option<u64> {
    end.into().checked_sub(start.into()).map(|distance| distance + 1)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
