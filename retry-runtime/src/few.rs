//! Sorted vectors as maps of few entries: a `BTreeMap` has more machine code than the rest of what uses it.

use std::ops::Range;

/// Returns the value of the key, and makes it first if there is none.
pub(crate) fn get_or_insert_with<K: Ord, V>(
    map: &mut Vec<(K, V)>,
    key: K,
    make: impl FnOnce() -> V,
) -> &mut V {
    let at = position(map, &key);
    if map.get(at).is_none_or(|(of, _)| *of != key) {
        map.insert(at, (key, make()));
    }
    &mut map[at].1
}

/// The entries with these keys.
pub(crate) fn range<K: Ord, V>(map: &[(K, V)], keys: Range<K>) -> &[(K, V)] {
    &map[position(map, &keys.start)..position(map, &keys.end)]
}

fn position<K: Ord, V>(map: &[(K, V)], key: &K) -> usize {
    map.partition_point(|(of, _)| of < key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_entries_are_a_map() {
        let mut map = Vec::new();
        for key in [3, 1, 2, 1, 3] {
            *get_or_insert_with(&mut map, key, || 0) += key;
        }
        assert_eq!(map, [(1, 2), (2, 2), (3, 6)]);
        assert_eq!(range(&map, 2..3), [(2, 2)]);
        assert_eq!(range(&map, 0..9), map);
        assert_eq!(range(&map, 4..9), []);
    }
}
