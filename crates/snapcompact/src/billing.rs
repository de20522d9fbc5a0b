//! What a picture is billed at. The formulas live with the counting of tokens.

pub use longhand_session::image_bill::Family;

use crate::shape::ImageDetail;

/// How finely an API of this family is asked to look at frames: where it can be asked, at all of their pixels.
pub fn image_detail(family: Family) -> Option<ImageDetail> {
    (family == Family::Openai).then_some(ImageDetail::Original)
}
