//! Calls are carried out in the order in which they came.
//!
//! Each request is handled in a task of its own, and tasks begin in any order. So a call's place in the queue is taken
//! where its message is read, one after the other, and what the place is for is put into it when that is known.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, Extensions, JsonRpcMessage, JsonRpcRequest};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::worker::Order;

/// What the worker waits for in its turn: an order, or nothing where the call was refused or given up.
pub type Turn = oneshot::Receiver<Order>;

/// The place of one call in the queue. Without an order it is passed over when it is dropped.
#[derive(Clone)]
pub struct Place(Arc<Mutex<Option<oneshot::Sender<Order>>>>);

impl Place {
    /// The place that a call's message got, if there was one left.
    pub fn of(call: &Extensions) -> Option<Place> {
        call.get().cloned()
    }

    /// Puts the order into its place. Gives it back where nobody works any more.
    pub fn fill(&self, order: Order) -> Result<(), Order> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match place {
            Some(place) => place.send(order),
            None => Err(order),
        }
    }
}

/// A transport that gives each call its place as it comes in.
pub struct InOrder<T> {
    transport: T,
    /// None once the client has gone: the worker ends when nobody can queue any more.
    queue: Option<mpsc::Sender<Turn>>,
}

impl<T> InOrder<T> {
    pub fn new(transport: T, queue: mpsc::Sender<Turn>) -> InOrder<T> {
        InOrder { transport, queue: Some(queue) }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for InOrder<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Some(mut message) = self.transport.receive().await else {
            self.queue = None;
            return None;
        };
        if let JsonRpcMessage::Request(JsonRpcRequest { request, .. }) = &mut message
            && let ClientRequest::CallToolRequest(call) = request
            && let Some(queue) = &self.queue
        {
            let (place, turn) = oneshot::channel();
            // One that finds no room has no place, and is told so when it is handled.
            if !matches!(queue.try_send(turn), Err(TrySendError::Full(_))) {
                call.extensions.insert(Place(Arc::new(Mutex::new(Some(place)))));
            }
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.queue = None;
        self.transport.close().await
    }
}
