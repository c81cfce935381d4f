//! The cost of the request language: parsing a line, scanning a model's output, masks. `cargo bench --bench sirl`.
//!
//! One file under `benches/sirl/` for each subject.

#[path = "sirl/line.rs"]
mod line;
#[path = "sirl/mask.rs"]
mod mask;
#[path = "sirl/scan.rs"]
mod scan;

criterion::criterion_group!(benches, line::line, scan::scan_nothing, scan::scan_with_blocks, mask::mask);
criterion::criterion_main!(benches);
