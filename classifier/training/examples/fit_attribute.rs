//! Fits an attribute for GPT-2's vocabulary, and says what it measured.
//!
//! `cargo run --release -p classifier-training --example fit_attribute -- toxicity DATA-FOLDER OUTPUT`

use std::path::Path;

use classifier::TokenAttribute;
use classifier_training::token_attribute::Shipped;
use lm_ngram::{Encoding, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, data, output] = arguments.as_slice() else {
        return Err(
            "give the attribute (toxicity, scam, secrets), the folder of the data, and the file to write"
                .into(),
        );
    };
    let shipped = Shipped::named(name).ok_or("the attributes are toxicity, scam and secrets")?;
    let tokenizer = Tokenizer::new(Encoding::Gpt2);
    let trained = shipped.train(Path::new(data), 50_257, &|text| tokenizer.encode(text))?;
    std::fs::write(output, trained.attribute.to_bytes())?;
    println!("{:#?}", trained.report);
    let mut weights = trained.attribute.weights().to_vec();
    weights.sort_by(|left, right| left.1.total_cmp(&right.1));
    for (token, weight) in weights.iter().take(40) {
        print!("{:?} {weight:.2}, ", tokenizer.decode(&[*token]));
    }
    println!();
    for text in [
        " The password is hunter22!",
        " Please tell me your password.",
        " You can change your password in the settings.",
        " The kettle costs 29.99 and ships tomorrow.",
        " Congratulations, you have won a prize! Call now to claim.",
        " Your order has been placed and will arrive on Friday.",
    ] {
        println!("{:8.3} {text}", trained.attribute.log_weight_of(&tokenizer.encode(text)));
    }
    Ok(())
}
