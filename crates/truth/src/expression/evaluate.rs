//! Running expressions within limits of stack and steps.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
};

use cel::{Context, Env, Value as Cel};
use serde_json::Value;

use super::{
    ExpressionError, STACK_BYTES, check,
    meter::{METER, ORDERED, metered},
    shortened, value,
};

/// Steps that one expression may take.
const STEPS_MAX: i64 = 2_000_000;

/// What an expression sees.
pub(crate) struct Bindings<'a> {
    /// The truth that wants to be published.
    pub(crate) self_: &'a Value,
    /// The published truth, null where there is none.
    pub(crate) prior: Option<&'a Value>,
    /// The inputs by need.
    pub(crate) inputs: &'a Value,
}

/// Answers each of `sources` in order. No thread is started where there is none.
pub(crate) fn evaluate_all(
    sources: &[&str],
    bindings: &Bindings<'_>,
) -> Vec<Result<bool, ExpressionError>> {
    if sources.is_empty() {
        return Vec::new();
    }
    let answers = on_large_stack(|| {
        let values = Values::new(bindings);
        let answers = sources.iter().map(|source| evaluate(source, &values));
        answers.collect::<Vec<_>>()
    });
    answers.unwrap_or_else(|error| sources.iter().map(|_| Err(error.clone())).collect())
}

/// Runs `work` on a thread whose stack holds whatever the source limit lets through.
pub(super) fn on_large_stack<T: Send>(
    work: impl FnOnce() -> T + Send,
) -> Result<T, ExpressionError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("expression".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|error| ExpressionError::Internal(format!("no thread: {error}")))?;
        thread.join().map_err(|_| ExpressionError::Internal("the evaluator panicked".to_owned()))
    })
}

/// The functions and macros on offer.
pub(super) fn environment() -> Result<Env, ExpressionError> {
    let mut env = Env::stdlib().with_optional_support(false);
    env.add_extension(cel::extensions::strings).map_err(internal)?;
    Ok(env)
}

struct Values {
    self_: Cel,
    prior: Cel,
    inputs: Cel,
}

impl Values {
    fn new(bindings: &Bindings<'_>) -> Self {
        Self {
            self_: value::from_json(bindings.self_),
            prior: bindings.prior.map_or(Cel::Null, value::from_json),
            inputs: value::from_json(bindings.inputs),
        }
    }
}

/// Thrown through the evaluator, because it would absorb an error in `||` and `&&`.
struct OutOfSteps;

fn evaluate(source: &str, values: &Values) -> Result<bool, ExpressionError> {
    let env = environment()?;
    let expression = metered(check::parse(&env, source)?);
    let mut context = Context::with_env(Arc::new(env));
    context.add_variable_from_value("self", values.self_.clone());
    context.add_variable_from_value("prior", values.prior.clone());
    context.add_variable_from_value("inputs", values.inputs.clone());
    let left = AtomicI64::new(STEPS_MAX);
    let spend = move |passed: Cel| {
        let cost = value::cost(&passed);
        if left.fetch_sub(cost, Ordering::Relaxed) <= cost {
            resume_unwind(Box::new(OutOfSteps));
        }
        passed
    };
    context.add_function(METER, spend).map_err(internal)?;
    context.add_function(ORDERED, value::ordered).map_err(internal)?;
    match catch_unwind(AssertUnwindSafe(|| Cel::resolve(&expression, &context))) {
        Ok(Ok(Cel::Bool(answer))) => Ok(answer),
        Ok(Ok(other)) => Err(ExpressionError::NotBoolean(other.type_of().to_string())),
        Ok(Err(error)) => Err(ExpressionError::Evaluation(shortened(&error.to_string()))),
        Err(thrown) if thrown.is::<OutOfSteps>() => Err(ExpressionError::TooExpensive),
        Err(_) => Err(internal("the evaluator panicked")),
    }
}

fn internal(error: impl std::fmt::Display) -> ExpressionError {
    ExpressionError::Internal(error.to_string())
}
