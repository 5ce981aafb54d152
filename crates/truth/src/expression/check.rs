//! Parsing, and the names an expression may use.

use cel::{
    Env,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
    },
};

use super::{ExpressionError, SOURCE_BYTES_MAX, shortened};

const VARIABLES: [&str; 3] = ["self", "prior", "inputs"];

/// Names of types, which may be compared with `type(x)`.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "uint"];

/// Functions on offer, operators apart. `format` and `replace` are not: both can grow a text
/// beyond memory in one step, before its cost is known.
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

/// Functions that yield a boolean.
const PREDICATES: [&str; 6] =
    ["contains", "startsWith", "endsWith", "matches", "bool", operators::IN];

/// Operators are calls of names that no source can spell.
const OPERATORS: [&str; 19] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::NOT_STRICTLY_FALSE,
    operators::IN,
];

/// Parses `source` and checks every name in it.
pub(super) fn parse(env: &Env, source: &str) -> Result<IdedExpr, ExpressionError> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(ExpressionError::TooLong);
    }
    let parsed = env
        .parser()
        .parse(source)
        .map_err(|errors| ExpressionError::Syntax(shortened(&errors.to_string())))?;
    Names::default().expr(&parsed)?;
    Ok(parsed)
}

/// Whether the form of the expression alone promises a boolean. A bare path does not: prose that
/// mentions `prior.total` states no condition.
pub(super) fn yields_boolean(expression: &IdedExpr) -> bool {
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
        Expr::Comprehension(parts) => {
            yields_boolean(&parts.result)
                || matches!(&parts.accu_init.expr, Expr::Literal(LiteralValue::Boolean(_)))
        }
        _ => false,
    }
}

/// The variables bound by the comprehensions around a place.
#[derive(Default)]
struct Names<'a> {
    bound: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn expr(&mut self, expr: &'a IdedExpr) -> Result<(), ExpressionError> {
        match &expr.expr {
            Expr::Ident(name) => self.variable(name),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::List(list) => self.all(&list.elements),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.expr(&entry.key)?;
                    self.expr(&entry.value)
                }
                EntryExpr::StructField(field) => self.expr(&field.value),
            }),
            Expr::Select(select) => self.expr(&select.operand),
            Expr::Struct(structure) => {
                Err(ExpressionError::UnknownType(shortened(&structure.type_name)))
            }
            Expr::Literal(_) | Expr::Unspecified => Ok(()),
        }
    }

    fn all(&mut self, exprs: &'a [IdedExpr]) -> Result<(), ExpressionError> {
        exprs.iter().try_for_each(|expr| self.expr(expr))
    }

    fn variable(&self, name: &str) -> Result<(), ExpressionError> {
        if VARIABLES.contains(&name) || TYPES.contains(&name) || self.bound.contains(&name) {
            Ok(())
        } else {
            Err(ExpressionError::UnknownVariable(shortened(name)))
        }
    }

    fn call(&mut self, call: &'a CallExpr) -> Result<(), ExpressionError> {
        let name = call.func_name.as_str();
        if !OPERATORS.contains(&name) && !FUNCTIONS.contains(&name) {
            return Err(ExpressionError::UnknownFunction(shortened(name)));
        }
        if let Some(target) = &call.target {
            self.expr(target)?;
        }
        self.all(&call.args)
    }

    fn comprehension(&mut self, parts: &'a ComprehensionExpr) -> Result<(), ExpressionError> {
        self.expr(&parts.iter_range)?;
        self.expr(&parts.accu_init)?;
        let outer = self.bound.len();
        self.bound.push(&parts.iter_var);
        self.bound.extend(parts.iter_var2.as_deref());
        self.bound.push(&parts.accu_var);
        self.expr(&parts.loop_cond)?;
        self.expr(&parts.loop_step)?;
        self.expr(&parts.result)?;
        self.bound.truncate(outer);
        Ok(())
    }
}
