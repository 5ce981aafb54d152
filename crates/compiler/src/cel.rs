//! Decides which expressions code can judge: they parse, speak only of what exists, and yield a
//! boolean.

use std::sync::mpsc;

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, operators};

/// Longer expressions are refused: the parser recurses.
const MAX_SOURCE: usize = 4096;
/// The parser needs more than a common thread has for what the limits let through.
const STACK: usize = 32 * 1024 * 1024;

const VARIABLES: [&str; 3] = ["self", "prior", "inputs"];

/// Functions that may be called, by the names of their source form. Macros are expanded by the
/// parser; one that is left as a call has the wrong number of arguments. The commit gate has the
/// same list; what is accepted here and refused there would fail every render.
const FUNCTIONS: [&str; 23] = [
    "bool",
    "bytes",
    "charAt",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "reverse",
    "size",
    "split",
    "startsWith",
    "string",
    "substring",
    "trim",
    "type",
    "uint",
    "upperAscii",
];

/// Names of types, for comparison with `type(x)`.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "uint"];

/// Functions that yield a boolean.
const PREDICATES: [&str; 6] = ["contains", "startsWith", "endsWith", "matches", "bool", "@in"];

/// Checks all expressions of a compile, on one thread with a large stack; none are no thread.
pub(crate) fn check(expressions: Vec<String>) -> Vec<Result<(), String>> {
    if expressions.is_empty() {
        return Vec::new();
    }
    let count = expressions.len();
    let (sender, receiver) = mpsc::channel();
    let spawned = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let env = environment();
        for expression in &expressions {
            if sender.send(check_one(&env, expression)).is_err() {
                return;
            }
        }
    });
    let mut results: Vec<_> = match &spawned {
        Ok(_) => receiver.iter().collect(),
        Err(error) => vec![Err(format!("no thread to check it on: {error}"))],
    };
    if let Ok(thread) = spawned
        && thread.join().is_err()
    {
        results.push(Err("the checker gave up".to_owned()));
    }
    // Whatever was not reached is left to the render.
    results.resize(count, Err("not checked".to_owned()));
    results
}

fn environment() -> cel::Env {
    let mut env = cel::Env::stdlib();
    // Only a second registration of the same functions could fail.
    let _ = env.add_extension(cel::extensions::strings);
    env
}

fn check_one(env: &cel::Env, source: &str) -> Result<(), String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("it is longer than {MAX_SOURCE} bytes"));
    }
    if nesting(source) > MAX_NESTING {
        return Err(format!("it nests or chains more than {MAX_NESTING} deep"));
    }
    let program = env.compile(source).map_err(|errors| {
        let first = errors.errors.first().map(|e| e.msg.clone()).unwrap_or_default();
        format!("it does not parse: {first}")
    })?;
    let expression = program.expression();
    let mut scope = VARIABLES.to_vec();
    known(expression, &mut scope)?;
    if yields_boolean(expression) {
        Ok(())
    } else {
        Err("it does not yield true or false".to_owned())
    }
}

const MAX_NESTING: usize = 400;

/// A bound on the depth of the tree: brackets and links of chains.
fn nesting(source: &str) -> usize {
    source.bytes().filter(|b| b"([{.+-*/%!?&|<>=".contains(b)).count()
}

/// Every variable is one of the three or bound by a macro, every function is known.
fn known<'e>(expression: &'e IdedExpr, scope: &mut Vec<&'e str>) -> Result<(), String> {
    match &expression.expr {
        Expr::Ident(name) if scope.contains(&name.as_str()) || TYPES.contains(&name.as_str()) => {
            Ok(())
        }
        Expr::Ident(name) => Err(format!("`{name}` is not one of `self`, `prior`, `inputs`")),
        Expr::Unspecified | Expr::Literal(_) => Ok(()),
        Expr::Select(select) => known(&select.operand, scope),
        Expr::List(list) => list.elements.iter().try_for_each(|e| known(e, scope)),
        Expr::Map(map) => map.entries.iter().try_for_each(|e| entry(&e.expr, scope)),
        Expr::Struct(_) => Err("it builds a message, and there are none".to_owned()),
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            let is_operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !is_operator && !FUNCTIONS.contains(&name) {
                return Err(format!(
                    "`{name}` is no known function, or has the wrong number of arguments"
                ));
            }
            call.target.iter().try_for_each(|t| known(t, scope))?;
            call.args.iter().try_for_each(|a| known(a, scope))
        }
        Expr::Comprehension(c) => {
            known(&c.iter_range, scope)?;
            known(&c.accu_init, scope)?;
            let depth = scope.len();
            scope.push(&c.iter_var);
            scope.extend(c.iter_var2.as_deref());
            scope.push(&c.accu_var);
            let inner = [&c.loop_cond, &c.loop_step, &c.result]
                .into_iter()
                .try_for_each(|e| known(e, scope));
            scope.truncate(depth);
            inner
        }
    }
}

fn entry<'e>(entry: &'e EntryExpr, scope: &mut Vec<&'e str>) -> Result<(), String> {
    match entry {
        EntryExpr::StructField(field) => known(&field.value, scope),
        EntryExpr::MapEntry(pair) => {
            known(&pair.key, scope)?;
            known(&pair.value, scope)
        }
    }
}

/// Whether the form of the expression alone promises a boolean. A bare path does not: prose that
/// mentions `prior.total` states no condition.
fn yields_boolean(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => true,
        Expr::Call(call) => match call.func_name.as_str() {
            operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::EQUALS
            | operators::NOT_EQUALS
            | operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => true,
            operators::CONDITIONAL => call.args.iter().skip(1).all(yields_boolean),
            name => PREDICATES.contains(&name),
        },
        Expr::Comprehension(c) => {
            yields_boolean(&c.result)
                || matches!(&c.accu_init.expr, Expr::Literal(LiteralValue::Boolean(_)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_all(sources: &[&str]) -> Vec<Result<(), String>> {
        check(sources.iter().map(|s| (*s).to_owned()).collect())
    }

    #[test]
    fn what_code_can_judge() {
        let good = [
            "self.competitors.all(c, size(c.sources) > 0)",
            "self.total >= prior.total",
            "has(self.title) && self.title != ''",
            "self.names.exists_one(n, n == 'x')",
            "inputs.a.b.startsWith('x')",
            "self.kind in ['a', 'b']",
            "!self.ready",
        ];
        for (source, result) in good.iter().zip(check_all(&good)) {
            assert_eq!(result, Ok(()), "{source}");
        }
    }

    #[test]
    fn what_code_cannot_judge() {
        let nested = format!("{}self.a{} == 1", "(".repeat(1000), ")".repeat(1000));
        let chained = format!("self{} == 1", ".a".repeat(2000));
        let bad = [
            "self.a ==",
            "other.a > 1",
            "self.a.frob()",
            "self.a + 1",
            "self.a",
            "self.a[0]",
            "self.all(x)",
            "has()",
            "self.items.map(x, x)",
            "self.items.all(x, y > 1)",
            &nested,
            &chained,
        ];
        for (source, result) in bad.iter().zip(check_all(&bad)) {
            assert!(result.is_err(), "{}", &source[..source.len().min(40)]);
        }
    }
}
