//! The two functions that the rewriting in `meter` inserts.
//!
//! The evaluator takes plain functions, so the count is kept per thread: every evaluation runs on
//! a thread of its own.

use std::{cell::Cell, panic::resume_unwind};

use cel::{
    Env, ExecutionError,
    common::{
        types::{CelBytes, CelList, CelMap, CelString, DYN_TYPE},
        value::{CowVal, Val},
    },
};

use super::ExpressionError;

/// Counts what passes through it. No source can spell the name.
pub(super) const METER: &str = "@meter";
/// Puts the keys of a map in order.
pub(super) const ORDERED: &str = "@ordered";

/// Steps that one expression may take.
const STEPS_MAX: i64 = 2_000_000;
/// Bytes of text that cost one step.
const TEXT_BYTES_PER_STEP: usize = 64;
/// Elements of a list or map that cost one step when it is passed on.
const ELEMENTS_PER_STEP: usize = 8;

thread_local! {
    static LEFT: Cell<i64> = const { Cell::new(0) };
}

/// Thrown through the evaluator, because it would absorb an error in `||` and `&&`.
pub(super) struct OutOfSteps;

/// Allows this thread as many steps as one expression may take.
pub(super) fn refill() {
    LEFT.set(STEPS_MAX);
}

/// Declares both functions.
pub(super) fn declare(env: &mut Env) -> Result<(), ExpressionError> {
    for (name, function) in [(METER, meter as cel::common::functions::Function), (ORDERED, ordered)]
    {
        env.add_overload(name, name, vec![DYN_TYPE], function)
            .map_err(|error| ExpressionError::Internal(error.to_string()))?;
    }
    Ok(())
}

fn meter<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = only(arguments)?;
    let left = LEFT.get().saturating_sub(cost(value.as_ref()));
    LEFT.set(left);
    if left <= 0 {
        resume_unwind(Box::new(OutOfSteps));
    }
    Ok(value)
}

/// A map as the sorted list of its keys, so that ranging over it has one order; others as is.
fn ordered<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = only(arguments)?;
    let Some(map) = value.as_ref().downcast_ref::<CelMap<'_>>() else {
        return Ok(value);
    };
    let mut keys: Vec<_> = map.inner().keys().collect();
    keys.sort();
    let keys: Vec<Box<dyn Val + 'v>> =
        keys.into_iter().map(|key| key.inner().clone_as_boxed()).collect();
    Ok(CowVal::owned(CelList::from(keys)))
}

fn only<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    arguments.pop().ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// Steps that passing `value` on costs: its own size, without what its elements hold.
fn cost(value: &dyn Val) -> i64 {
    let steps = if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text.inner().len() / TEXT_BYTES_PER_STEP
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().len() / ELEMENTS_PER_STEP
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().len() / ELEMENTS_PER_STEP
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        bytes.inner().len() / TEXT_BYTES_PER_STEP
    } else {
        0
    };
    i64::try_from(steps).unwrap_or(i64::MAX).saturating_add(1)
}
