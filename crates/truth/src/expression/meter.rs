//! Rewrites a syntax tree so that evaluation is counted and ranges over maps are in order.
//!
//! The evaluator has no limit of its own. Every part that makes a value is therefore passed
//! through a function of ours that counts.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr,
    operators::{ADD, CONDITIONAL, IN},
};

use super::fuel::{METER, ORDERED};

/// The metered form of `expr`, itself metered where it makes a value.
pub(super) fn metered(expr: IdedExpr) -> IdedExpr {
    let makes_a_value =
        matches!(expr.expr, Expr::Call(_) | Expr::Comprehension(_) | Expr::List(_) | Expr::Map(_));
    let inner = parts_metered(expr);
    if makes_a_value { call(METER, inner) } else { inner }
}

/// Meters the parts of `expr`, not `expr` itself. Names and selections stay bare: a wrapped `a.b`
/// would no longer be a qualified name.
fn parts_metered(expr: IdedExpr) -> IdedExpr {
    let IdedExpr { id, expr } = expr;
    let expr = match expr {
        Expr::Call(call) => Expr::Call(call_metered(call)),
        Expr::Comprehension(parts) => Expr::Comprehension(Box::new(comprehension(*parts))),
        Expr::List(mut list) => {
            list.elements = all(list.elements);
            Expr::List(list)
        }
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        entry.key = metered(std::mem::take(&mut entry.key));
                        entry.value = metered(std::mem::take(&mut entry.value));
                    }
                    EntryExpr::StructField(field) => {
                        field.value = metered(std::mem::take(&mut field.value));
                    }
                }
            }
            Expr::Map(map)
        }
        Expr::Select(mut select) => {
            *select.operand = metered(std::mem::take(&mut *select.operand));
            Expr::Select(select)
        }
        other => other,
    };
    IdedExpr { id, expr }
}

/// Functions read their arguments as a whole, so theirs are counted even where they are names.
fn call_metered(mut call: CallExpr) -> CallExpr {
    let reads_arguments = call.func_name == IN || call.func_name.starts_with(char::is_alphabetic);
    let part = |part: IdedExpr| match part.expr {
        Expr::Ident(_) | Expr::Select(_) if reads_arguments => metered_name(part),
        _ => metered(part),
    };
    call.target = call.target.map(|target| Box::new(part(*target)));
    call.args = call.args.into_iter().map(part).collect();
    call
}

fn metered_name(name: IdedExpr) -> IdedExpr {
    self::call(METER, parts_metered(name))
}

fn all(exprs: Vec<IdedExpr>) -> Vec<IdedExpr> {
    exprs.into_iter().map(metered).collect()
}

fn comprehension(mut parts: ComprehensionExpr) -> ComprehensionExpr {
    parts.iter_range = call(ORDERED, call(METER, parts_metered(parts.iter_range)));
    parts.loop_cond = metered(parts.loop_cond);
    parts.loop_step = step(parts.loop_step);
    parts.result = metered(parts.result);
    parts
}

/// The evaluator knows the shapes of the steps of its macros: it appends in place, and lets a
/// later element decide what an earlier one's error left open. So a step keeps its shape, and what
/// is in it is metered.
fn step(expr: IdedExpr) -> IdedExpr {
    let IdedExpr { id, expr } = expr;
    let expr = match expr {
        Expr::Call(mut call) => {
            let is_conditional = call.func_name == CONDITIONAL;
            call.args = call
                .args
                .into_iter()
                .map(|part| match &part.expr {
                    Expr::List(_) => parts_metered(part),
                    Expr::Call(inner) if is_conditional && inner.func_name == ADD => step(part),
                    _ => metered(part),
                })
                .collect();
            Expr::Call(call)
        }
        other => return metered(IdedExpr { id, expr: other }),
    };
    IdedExpr { id, expr }
}

fn call(name: &str, argument: IdedExpr) -> IdedExpr {
    IdedExpr {
        id: argument.id,
        expr: Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: None,
            args: vec![argument],
        }),
    }
}
