//! Guards a model behind a remote endpoint, which sends text in pieces and no logits. Each clause is shown when it is
//! complete and has passed. A clause that does not pass is requested again, a limited number of times: `cargo run
//! --example guard_a_remote_model`.

use classifier::{LinearClassifier, Unfolded, WindowPlace, highest_risk};
use hmm_control::{ClausePolicy, Next, StreamGate};
use std::error::Error;

/// The answers of the endpoint: one list of pieces for each call.
const ANSWERS: [&[&str]; 2] = [
    &[
        "Your parcel is",
        " on its way",
        ". It comes to",
        "morrow, before noon. You have WON a free pri",
        "ze! Text CLAIM to 87121 now",
        " to collect your cash. Bye.",
    ],
    &[" We ring the bell", " twice."],
];

fn main() -> Result<(), Box<dyn Error>> {
    let scam = LinearClassifier::scam()?;
    // The score of a clause together with the text before it; higher is better.
    let scorer = |text: &str| 1.0 - highest_risk(&Unfolded::new(text), WindowPlace::Unknown, &scam).value();
    let policy = ClausePolicy { rewinds: 2, ..ClausePolicy::new(0.5, "never promise the user a prize") };
    let mut gate = StreamGate::new(policy, scorer, 200);
    let mut shown = String::new();
    for pieces in ANSWERS {
        // After the last piece, the stream ends and its last clause is judged.
        for piece in pieces.iter().map(Some).chain([None]) {
            let verdict = match piece {
                Some(piece) => gate.push(piece.as_bytes()),
                None => gate.finish(),
            };
            println!(
                "{:?}: shown {:?}, held back {} bytes",
                piece.unwrap_or(&""),
                verdict.released,
                gate.held()
            );
            shown += &verdict.released;
            match verdict.next {
                Next::Continue => {}
                Next::Rewrite(rewrite) => {
                    // A program stops the stream here and sends the instruction to the model, which then rewrites.
                    println!("  withheld, attempt {}: {}", rewrite.attempt, rewrite.instruction);
                    gate.resume();
                    break;
                }
                Next::Stop { notice } => {
                    println!("  {notice}");
                    return Ok(());
                }
            }
        }
    }
    println!("the user sees: {shown}");
    Ok(())
}
