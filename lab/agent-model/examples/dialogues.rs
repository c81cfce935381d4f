//! Prints training turns: `cargo run -p agent-model --example dialogues -- 0 5`.

use agent_model::dialogue::example;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let (from, count) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(3));
    for seed in from..from + count {
        let example = example(seed, false);
        let [task, done, page] = example.situation.parts();
        println!(
            "<|task|>{task}\n<|done|>{done}\n<|page|>{page}<|agent|>{}<|end|> {:?}\n",
            example.answer, example.kind
        );
    }
}
