//! The ids that were published lately.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

/// A set that forgets its oldest member when it is full.
pub(super) struct Recent {
    members: BTreeSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
    members_max: usize,
}

impl Recent {
    pub fn new(members_max: usize) -> Self {
        Self { members: BTreeSet::new(), order: VecDeque::new(), members_max }
    }

    pub fn contains(&self, id: &str) -> bool {
        self.members.contains(id)
    }

    pub fn insert(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        if !self.members.insert(Arc::clone(&id)) {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > self.members_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.members.remove(&oldest);
        }
    }
}
