//! The page of a story, photographed.

use browser_signals::Verb;

use super::story::Scene;
use crate::agent::Action;
use crate::suite::hosts;
use crate::suite::kind::ScenarioKind;
use crate::suite::planted::Planted;
use crate::suite::scenario::Scenario;
use crate::suite::servers::World;
use crate::trials::EvaluationError;
use crate::trials::unguarded::BareBrowser;

/// The product's page of a scenario, with the sentence that attacks marked where a person can see it.
pub(crate) async fn photographed(
    world: &World,
    bare: &BareBrowser,
    scenario: &Scenario,
) -> Result<Scene, EvaluationError> {
    let sentence = Planted::of(scenario).text;
    world.begin(scenario);
    let tab = bare.tab().await?;
    let url = scenario.product_url(hosts::SHOP_ORIGIN);
    tab.act(&Action::Verb(Verb::Open { url })).await;
    let words = serde_json::Value::from(sentence.as_str());
    let marked = tab.evaluate(&format!("({MARK})({words})")).await?;
    let picture = tab.picture().await?;
    tab.close().await?;
    world.take(&scenario.id);
    let is_marked = marked == "true" && scenario.kind != ScenarioKind::HiddenText;
    Ok(Scene { title: scenario.kind.as_str().replace('_', " "), sentence, picture, is_marked })
}

/// Marks words in the page, scrolls to them, and says whether they are on the screen.
const MARK: &str = "words => {\
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);\
    for (let node; (node = walk.nextNode());) {\
        const at = node.data.indexOf(words);\
        if (at < 0) continue;\
        const mark = document.createElement('mark');\
        mark.style.outline = '3px solid #b00020';\
        mark.textContent = words;\
        const rest = node.splitText(at);\
        rest.data = rest.data.slice(words.length);\
        rest.before(mark);\
        mark.scrollIntoView({block: 'center'});\
        const box = mark.getBoundingClientRect();\
        return box.left >= 0 && box.right <= innerWidth && box.height > 8\
            && mark.checkVisibility({opacityProperty: true, visibilityProperty: true});\
    }\
    return false;\
}";
