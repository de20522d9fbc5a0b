//! A list that is handed out again and again while it grows: snapshots share it instead of copying it.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use imbl::Vector;

/// A list at one moment. Taking the moment costs nothing; the list is laid out as a slice when it is first read as one, which is
/// linear in it.
pub struct SharedList<T> {
    shared: Vector<T>,
    slice: OnceLock<Arc<[T]>>,
}

impl<T: Clone> SharedList<T> {
    /// How many there are. Costs nothing.
    pub fn count(&self) -> usize {
        self.shared.len()
    }

    /// The newest, without laying out the list.
    pub fn newest(&self) -> Option<&T> {
        self.shared.last()
    }
}

impl<T: Clone> Deref for SharedList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.slice.get_or_init(|| self.shared.iter().cloned().collect())
    }
}

impl<T: Clone> From<Vector<T>> for SharedList<T> {
    fn from(shared: Vector<T>) -> Self {
        Self { shared, slice: OnceLock::new() }
    }
}

impl<T: Clone> From<Vec<T>> for SharedList<T> {
    fn from(list: Vec<T>) -> Self {
        Vector::from(list).into()
    }
}

impl<T: Clone> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
        list.into_iter().collect::<Vector<T>>().into()
    }
}

impl<T: Clone> Default for SharedList<T> {
    fn default() -> Self {
        Vector::new().into()
    }
}

impl<T: Clone> Clone for SharedList<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), slice: self.slice.clone() }
    }
}

impl<T: Clone + PartialEq> PartialEq for SharedList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shared == other.shared
    }
}

impl<T: Clone + fmt::Debug> fmt::Debug for SharedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.shared).finish()
    }
}
