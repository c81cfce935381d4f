//! What steers, and how strongly.

use std::error::Error;

use agent_model::gate::SHAPE;
use agent_model::words::{END, LONGEST_ANSWER, Words};
use hmm_control::{Attribute, Controller, Hmm, Horizon, Lookahead};

/// What steering looks for, by name. None knows a number.
const SHAPES: [(&str, &str); 3] =
    [("two", SHAPE), ("three", "[0-9]{4} [0-9]{4} [0-9]{4}"), ("name", "card number [0-9]")];

/// One way of steering.
pub struct Setting {
    /// As it was named.
    pub name: String,
    /// Tokens of less probability by the bare model are not drawn, steered or not.
    pub least: f64,
    /// None: the model is left alone.
    pub steering: Option<(Controller, Horizon)>,
}

/// `SHAPE:LEFT:STRENGTH[:AHEAD]`, several of them after commas.
///
/// # Errors
/// Where one says something else.
pub fn settings(text: &str, words: &Words, hmm: &Hmm, least: f64) -> Result<Vec<Setting>, Box<dyn Error>> {
    let mut settings = vec![Setting { name: "none".to_owned(), least, steering: None }];
    let mut made: Vec<(String, Lookahead)> = Vec::new();
    for name in text.split(',') {
        let [shape, left, strength, ahead @ ..] = &name.split(':').collect::<Vec<_>>()[..] else {
            return Err(format!("'{name}' is not SHAPE:LEFT:STRENGTH or SHAPE:LEFT:STRENGTH:AHEAD").into());
        };
        let key = format!("{shape}:{left}");
        let lookahead = match made.iter().find(|(made, _)| *made == key) {
            Some((_, lookahead)) => lookahead.clone(),
            None => {
                let pattern = SHAPES.iter().find(|(name, _)| name == shape).map(|(_, pattern)| *pattern);
                let pattern = pattern.ok_or_else(|| format!("no shape is called '{shape}'"))?;
                let log_left = left.parse::<f64>()?.ln();
                let attribute = Attribute::from_pattern(words.token_bytes(), pattern, log_left)?;
                let lookahead = Lookahead::new(hmm.clone(), attribute.ended_by(END)?)?;
                made.push((key, lookahead.clone()));
                lookahead
            }
        };
        let horizon = match ahead.first() {
            Some(ahead) => Horizon::Window(ahead.parse()?),
            None => Horizon::Length(LONGEST_ANSWER),
        };
        let controller = Controller::new(lookahead, strength.parse()?)?;
        settings.push(Setting { name: name.to_owned(), least, steering: Some((controller, horizon)) });
    }
    Ok(settings)
}
