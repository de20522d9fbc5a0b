//! How a text file marks its lines: byte order mark and line endings.

/// The UTF-8 byte order mark.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    pub(crate) fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }

    /// How a line ends that is given with its ending; `None` where it has none.
    pub(crate) fn of_line(line: &[u8]) -> Option<Self> {
        if line.ends_with(b"\r\n") {
            Some(Self::CrLf)
        } else if line.ends_with(b"\n") {
            Some(Self::Lf)
        } else {
            None
        }
    }

    /// How most lines end; `None` where no line ends.
    pub(crate) fn majority(content: &[u8]) -> Option<Self> {
        let (mut lf, mut crlf) = (0_usize, 0_usize);
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            match Self::of_line(line) {
                Some(Self::Lf) => lf += 1,
                Some(Self::CrLf) => crlf += 1,
                None => {}
            }
        }
        match (lf, crlf) {
            (0, 0) => None,
            _ if crlf > lf => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
    }

    /// The text with all its lines ended this way.
    pub(crate) fn applied_to(self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match Self::of_line(line) {
                Some(ending) => {
                    out.extend_from_slice(&line[..line.len() - ending.as_bytes().len()]);
                    out.extend_from_slice(self.as_bytes());
                }
                None => out.extend_from_slice(line),
            }
        }
        out
    }
}
