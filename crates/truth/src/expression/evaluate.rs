//! Running expressions within limits of stack and steps.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use cel::{Context, Env, Value as Cel};
use serde_json::Value;

use super::{ExpressionError, STACK_BYTES, check, fuel, meter::metered, shortened, value};

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
        let env = Arc::new(environment()?);
        let context = context(&env, bindings);
        let answers = sources.iter().map(|source| evaluate(source, &env, &context));
        Ok(answers.collect::<Vec<_>>())
    });
    answers
        .and_then(|answers| answers)
        .unwrap_or_else(|error| sources.iter().map(|_| Err(error.clone())).collect())
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
    env.add_extension(cel::extensions::strings)
        .map_err(|error| ExpressionError::Internal(error.to_string()))?;
    fuel::declare(&mut env)?;
    Ok(env)
}

fn context<'a>(env: &Arc<Env>, bindings: &Bindings<'_>) -> Context<'a, 'a> {
    let mut context = Context::with_env(Arc::clone(env));
    let prior = bindings.prior.map_or(Cel::Null, value::from_json);
    context.add_variable_from_value("self", value::from_json(bindings.self_));
    context.add_variable_from_value("prior", prior);
    context.add_variable_from_value("inputs", value::from_json(bindings.inputs));
    context
}

fn evaluate(source: &str, env: &Env, context: &Context<'_, '_>) -> Result<bool, ExpressionError> {
    let expression = metered(check::parse(env, source)?);
    fuel::refill();
    match catch_unwind(AssertUnwindSafe(|| Cel::resolve(&expression, context))) {
        Ok(Ok(Cel::Bool(answer))) => Ok(answer),
        Ok(Ok(other)) => Err(ExpressionError::NotBoolean(other.type_of().to_string())),
        Ok(Err(error)) => Err(ExpressionError::Evaluation(shortened(&error.to_string()))),
        Err(thrown) if thrown.is::<fuel::OutOfSteps>() => Err(ExpressionError::TooExpensive),
        Err(_) => Err(ExpressionError::Internal("the evaluator panicked".to_owned())),
    }
}
