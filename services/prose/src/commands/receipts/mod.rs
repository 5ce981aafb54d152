//! `prose receipts`

mod cost;
mod export;
mod list;
mod show;
mod verify;

use super::Context;
use crate::{
    cli::Receipts,
    error::{Error, Exit},
};

pub(super) use cost::by_cause;

pub(super) async fn run(context: &Context, asked: Receipts) -> Result<Exit, Error> {
    match asked {
        Receipts::List(list) => list::run(context, list).await,
        Receipts::Show(show) => show::run(context, show).await,
        Receipts::Verify(verify) => verify::run(context, verify).await,
        Receipts::Cost => cost::run(context).await,
        Receipts::Export(export) => export::run(context, export).await,
    }
}
