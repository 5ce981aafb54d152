//! The traits that every bus implements.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Error, Filter, Subject};

/// One message. It carries ids only; who receives it reads the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// By which a repetition is recognised. A work message's id carries the attempt.
    pub id: String,
    /// Where it goes.
    pub subject: Subject,
    /// What it says, opaque to the bus.
    pub payload: Arc<[u8]>,
}

/// Delivers messages: to everyone who subscribed, and work to exactly one puller of its pool.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Publishes messages in order and returns when the bus has taken them all.
    ///
    /// A message whose id was published lately is dropped. After an error any first part of the
    /// messages may have been taken; publish them all again. Subscribers never slow this down.
    async fn publish(&self, messages: Vec<Message>) -> Result<(), Error>;

    /// Hears every message published from now on whose subject fits the filter.
    async fn subscribe(&self, filter: Filter) -> Result<Box<dyn Subscription>, Error>;

    /// Joins the pullers of a pool's work queue. Work published while nobody pulls is kept.
    async fn pull(&self, pool: &str) -> Result<Box<dyn Puller>, Error>;
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A message.
    Message(Message),
    /// Messages were dropped because the subscriber was slow: at most this many that it would have
    /// heard. It must read the store again from where it was.
    Lagged(u64),
}

/// One subscriber's end.
#[async_trait]
pub trait Subscription: Send {
    /// Waits for the next notice. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Notice, Error>;
}

/// One worker's end of a work queue.
#[async_trait]
pub trait Puller: Send {
    /// Waits for the next work. Dropping the future loses nothing. Call it only with a free slot:
    /// what it returns is in flight.
    async fn next(&mut self) -> Result<Box<dyn Delivery>, Error>;
}

/// Work in flight. Dropping it without an answer gives it back to the queue.
#[async_trait]
pub trait Delivery: Send {
    /// The message.
    fn message(&self) -> &Message;

    /// Says that somebody is still at it, so that the bus does not give it to another.
    async fn progress(&self) -> Result<(), Error>;

    /// The message is settled: done, refused, or waiting in the store.
    async fn ack(self: Box<Self>) -> Result<(), Error>;

    /// Gives the work back; it comes again behind what waits already.
    async fn nak(self: Box<Self>) -> Result<(), Error>;
}
