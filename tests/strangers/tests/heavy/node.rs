//! A signed transaction that is sent again to the node of a chain, as the page on idempotency says.

use std::sync::{Arc, Mutex};

use alloy_primitives::{B256, Bytes, keccak256};
use alloy_rpc_client::{ClientBuilder, RpcClient};
use alloy_transport::{RpcError, TransportError};
use integrations::loopback::answer_by;
use reattempt::{retry, with_report};
use serde_json::{Value, json};

use crate::verdicts::node;

/// Sends a transaction that was signed before the call. Returns its hash.
#[retry(attempts = 3, base = "10ms", idempotent = true, verdict = node)]
async fn send(client: &RpcClient, signed: &Bytes) -> Result<B256, TransportError> {
    let hash = keccak256(signed);
    let error = match client.request("eth_sendRawTransaction", (signed,)).await {
        Err(RpcError::ErrorResp(error)) => error,
        sent => return sent,
    };
    let is_done = if error.message.starts_with("nonce too low") {
        // This transaction is in a block, or another one of the account.
        let receipt = client.request::<_, Option<Value>>("eth_getTransactionReceipt", (hash,));
        receipt.await?.is_some()
    } else {
        // The node has this one, and it waits for a block.
        error.message == "already known"
    };
    if is_done {
        Ok(hash)
    } else {
        Err(RpcError::ErrorResp(error))
    }
}

/// A node, as geth answers.
#[derive(Default)]
struct Chain {
    pool: Vec<String>,
    mined: Vec<String>,
    /// Whether a transaction that it takes is in a block at once.
    mines: bool,
    /// Another transaction has the number.
    taken: bool,
    /// How many of the next transactions it takes and does not answer.
    unanswered: usize,
}

impl Chain {
    fn answer(&mut self, request: &Value) -> Option<Value> {
        let parameter = request["params"][0].as_str().unwrap();
        let signed = || keccak256(parameter.parse::<Bytes>().unwrap()).to_string();
        let failed = |message| Some(json!({ "error": { "code": -32000, "message": message } }));
        if request["method"] == "eth_getTransactionReceipt" {
            let receipt = self.mined.iter().find(|hash| *hash == parameter);
            return Some(
                json!({ "result": receipt.map(|hash| json!({ "transactionHash": hash })) }),
            );
        }
        if self.taken || self.mined.contains(&signed()) {
            return failed("nonce too low: next nonce 8, tx nonce 7");
        }
        if self.pool.contains(&signed()) {
            return failed("already known");
        }
        let takes = if self.mines {
            &mut self.mined
        } else {
            &mut self.pool
        };
        takes.push(signed());
        if let Some(left) = self.unanswered.checked_sub(1) {
            self.unanswered = left;
            return None;
        }
        Some(json!({ "result": signed() }))
    }
}

#[tokio::test]
async fn a_transaction_whose_answer_is_lost_is_known_from_one_whose_number_is_taken() {
    let signed = Bytes::from_static(b"signed once");
    for (mines, taken, unanswered, attempts, is_done) in [
        (false, false, 0, 1, true),
        (false, false, 1, 2, true),
        (true, false, 1, 2, true),
        (false, true, 0, 1, false),
    ] {
        let chain = Mutex::new(Chain {
            mines,
            taken,
            unanswered,
            ..Chain::default()
        });
        let chain = Arc::new(chain);
        let shared = Arc::clone(&chain);
        let address = answer_by(move |_, body| {
            let request: Value = serde_json::from_slice(body).unwrap();
            let mut answer = shared.lock().unwrap().answer(&request)?;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = request["id"].clone();
            let answer = answer.to_string();
            let length = answer.len();
            Some(format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
            ))
        });
        let url = format!("http://{}/", address.await);
        let client = ClientBuilder::default().http(url.parse().unwrap());
        let (sent, report) = with_report(send(&client, &signed)).await;
        assert_eq!(report.unwrap().attempts(), attempts, "{sent:?}");
        assert_eq!(sent.ok(), is_done.then(|| keccak256(&signed)));
        let chain = chain.lock().unwrap();
        assert_eq!(chain.pool.len() + chain.mined.len(), usize::from(is_done));
    }
}
