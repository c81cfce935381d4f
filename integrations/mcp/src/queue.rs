//! The queue of calls, in the order of their arrival.
//!
//! Each request is handled in a task of its own, and tasks start in any order. So the transport reserves a slot in the
//! queue when it reads a call's message, and the handler puts the parsed call into the slot.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, Extensions, JsonRpcMessage, JsonRpcRequest};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::call::{Answer, Call};

/// A call, and the channel for its answer.
pub struct QueuedCall {
    pub call: Call,
    pub reply: oneshot::Sender<Answer>,
}

/// A slot as the worker waits for it. It yields an error if the call was refused or cancelled.
pub type PendingCall = oneshot::Receiver<QueuedCall>;

/// A slot as the handler fills it. An empty slot is skipped when it is dropped.
#[derive(Clone)]
pub struct QueueSlot(Arc<Mutex<Option<oneshot::Sender<QueuedCall>>>>);

impl QueueSlot {
    /// The slot of a call's message, if the queue had room for it.
    pub fn of(call: &Extensions) -> Option<QueueSlot> {
        call.get().cloned()
    }

    /// Reserves the next slot, if the queue has room for it.
    pub fn reserve(queue: &mpsc::Sender<PendingCall>) -> Option<QueueSlot> {
        let (slot, pending) = oneshot::channel();
        // Where the worker has stopped, the slot says so when it is filled.
        let is_full = matches!(queue.try_send(pending), Err(TrySendError::Full(_)));
        (!is_full).then(|| QueueSlot(Arc::new(Mutex::new(Some(slot)))))
    }

    /// Puts a call into its slot. Returns the call if the worker has stopped.
    pub fn fill(&self, call: QueuedCall) -> Result<(), QueuedCall> {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match slot {
            Some(slot) => slot.send(call),
            None => Err(call),
        }
    }
}

/// A transport that reserves a slot for each call as it arrives.
pub struct OrderedTransport<T> {
    transport: T,
    /// `None` once the client has gone. The worker ends when all senders are dropped.
    queue: Option<mpsc::Sender<PendingCall>>,
}

impl<T> OrderedTransport<T> {
    pub fn new(transport: T, queue: mpsc::Sender<PendingCall>) -> OrderedTransport<T> {
        OrderedTransport { transport, queue: Some(queue) }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for OrderedTransport<T> {
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
            // A call without a slot is refused when it is handled.
            if let Some(slot) = QueueSlot::reserve(queue) {
                call.extensions.insert(slot);
            }
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.queue = None;
        self.transport.close().await
    }
}
