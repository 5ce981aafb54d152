//! Producers by everything they may be called, so that a need is looked up and not searched for.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use super::Node;
use crate::words::key;

/// Looking for the nearest name means looking at all of them; nobody reads a thousand hints.
const MAX_HINTS: usize = 50;

/// Maps from names to nodes (by position) and their facets.
pub(crate) struct Index<'n> {
    exact: HashMap<&'n str, usize>,
    names: HashMap<String, Vec<usize>>,
    titles: HashMap<String, Vec<usize>>,
    /// Facet names, to node and facet.
    facets: HashMap<&'n str, Vec<(usize, usize)>>,
    /// What stands before the colon of `user:<login>` or `user:ada`.
    families: HashMap<String, Vec<usize>>,
    /// Fields, and the names of whole truths.
    fields: HashMap<String, Vec<usize>>,
    /// First words of names and titles.
    beginnings: HashSet<String>,
    longest: usize,
    /// How many more times the nearest names are looked for.
    hints: Cell<usize>,
}

impl<'n> Index<'n> {
    pub(crate) fn new(nodes: &'n [Node]) -> Self {
        let mut index = Self {
            exact: HashMap::with_capacity(nodes.len()),
            names: HashMap::with_capacity(nodes.len()),
            titles: HashMap::with_capacity(nodes.len()),
            facets: HashMap::with_capacity(nodes.len()),
            families: HashMap::new(),
            fields: HashMap::new(),
            beginnings: HashSet::new(),
            longest: 1,
            hints: Cell::new(MAX_HINTS),
        };
        for (at, node) in nodes.iter().enumerate() {
            index.add(at, node);
        }
        index
    }

    fn add(&mut self, at: usize, node: &'n Node) {
        let name = node.unit.name();
        self.exact.entry(name).or_insert(at);
        let name = key(name);
        self.measure(&name);
        put(&mut self.names, name, at);
        if !node.unit.entry.inline
            && let Some(title) = &node.unit.file.title
        {
            let title = key(title.text.split('[').next().unwrap_or_default());
            self.measure(&title);
            put(&mut self.titles, title, at);
        }
        for (n, facet) in node.maintains.facets.iter().enumerate() {
            let list = self.facets.entry(facet.key.as_str()).or_default();
            list.push((at, n));
            if let Some((prefix, _)) = facet.name.split_once(':') {
                put(&mut self.families, key(prefix), at);
            }
        }
        let fields = node.maintains.fields.iter().map(String::as_str);
        for field in fields.chain(node.maintains.aliases.iter().map(String::as_str)) {
            put(&mut self.fields, key(field), at);
        }
    }

    fn measure(&mut self, key: &str) {
        let first = key.split('-').next().unwrap_or(key);
        if !self.beginnings.contains(first) {
            self.beginnings.insert(first.to_owned());
        }
        self.longest = self.longest.max(key.split(['-', ':']).count()).min(8);
    }

    /// The number of words in the longest name or title, within reason.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a name or title begins with this word. A hyphenated word is split.
    pub(crate) fn begins_name(&self, word: &str) -> bool {
        self.beginnings.contains(word.split('-').next().unwrap_or(word))
    }

    /// The node of this name: as written, else the only one whose name is the same but for case,
    /// separators and plural.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied().or_else(|| one(self.names.get(&key(name))))
    }

    /// The only node with this name or title.
    pub(crate) fn node_or_title(&self, key: &str) -> Option<usize> {
        one(self.names.get(key)).or_else(|| one(self.titles.get(key)))
    }

    pub(crate) fn facets(&self, key: &str) -> &[(usize, usize)] {
        self.facets.get(key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn family(&self, key: &str) -> &[usize] {
        self.families.get(key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn fields(&self, key: &str) -> &[usize] {
        self.fields.get(key).map_or(&[], Vec::as_slice)
    }

    /// Every name a need could have meant, sorted; none once enough have been asked for.
    pub(crate) fn vocabulary(&self) -> Vec<&str> {
        let Some(left) = self.hints.get().checked_sub(1) else {
            return Vec::new();
        };
        self.hints.set(left);
        let words = self.names.keys().chain(self.fields.keys()).map(String::as_str);
        let mut words: Vec<&str> = words.chain(self.facets.keys().copied()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }
}

fn put(map: &mut HashMap<String, Vec<usize>>, key: String, at: usize) {
    let list = map.entry(key).or_default();
    if list.last() != Some(&at) {
        list.push(at);
    }
}

fn one(list: Option<&Vec<usize>>) -> Option<usize> {
    match list.map(Vec::as_slice) {
        Some([only]) => Some(*only),
        _ => None,
    }
}
