//! One trial in a browser, under each approach.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Outline;
use browser_signals::playwright::Browser;
use classifier::{LinearClassifier, Safety, Unfolded, WindowPlace, highest_risk};
use portcullis::Guard;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answerer, ConsentPrompt};
use portcullis::guard::SystemEntropy;
use portcullis::page_text::{HiddenText, ScrubSettings, Scrubber};
use portcullis::safety::{PageSafety, WindowSafety};

use super::line::TrialLine;
use super::plan::{Settings, TrialKey};
use super::run::Trials;
use crate::report::story::{self, Story};
use crate::report::{Approach, photographed};
use crate::suite::hosts;
use crate::suite::kind::ScenarioKind;
use crate::suite::planted::{Planted, ShopPage};
use crate::suite::scenario::Scenario;
use crate::trials::EvaluationError;
use crate::trials::ablation::Part;
use crate::trials::agents::MakeAgent;
use crate::trials::arm::Arm;
use crate::trials::asking::Asking;
use crate::trials::guarded::{GuardedTrial, run_agent, truthful_user};
use crate::trials::judge::judge;
use crate::trials::stage::Stage;
use crate::trials::taken::Questions;
use crate::trials::unguarded::{BareBrowser, UnguardedTrial, run_unguarded};
use crate::trials::user::{SimulatedUser, UserModel};

/// The number of repetitions of a trial whose browser or servers failed before the agent's first action.
const REPEATS: u32 = 2;

/// The file in the gallery with the page whose story the report tells.
pub(super) const SCENE: &str = "story.html";

/// The file in the gallery with the story under an approach.
pub(super) fn story_file(approach: Approach, agent: &str) -> String {
    format!("story-{agent}-{}.html", approach.as_str())
}

/// The makers of all agents.
pub type Makers = Rc<Vec<Box<dyn MakeAgent>>>;

/// A stage with its browsers. They start when they are needed, and again when they are lost.
pub struct Harness {
    settings: Arc<Settings>,
    makers: Makers,
    gallery: PathBuf,
    judge: Arc<LinearClassifier>,
    safety: WindowSafety,
    stage: Stage,
    bare: Option<BareBrowser>,
    guarded: Option<Browser>,
}

impl Harness {
    /// Sets up a stage. Screenshots and texts of pages are written to `gallery`.
    ///
    /// # Errors
    /// [`EvaluationError`] if something is not installed.
    pub async fn set_up(
        settings: Arc<Settings>,
        makers: Makers,
        gallery: &Path,
    ) -> Result<Harness, EvaluationError> {
        let judge =
            LinearClassifier::injection().map_err(|error| EvaluationError::Failed(error.to_string()))?;
        fs::create_dir_all(gallery)?;
        Ok(Harness {
            settings,
            makers,
            gallery: gallery.to_owned(),
            judge: Arc::new(judge),
            safety: WindowSafety::standard().map_err(|error| EvaluationError::Failed(error.to_string()))?,
            stage: Stage::set_up().await?,
            bare: None,
            guarded: None,
        })
    }

    /// The maker of the agents of this name.
    fn maker(&self, key: &TrialKey) -> Result<&dyn MakeAgent, EvaluationError> {
        let maker = self.makers.iter().find(|maker| maker.name() == key.agent);
        let unknown = || EvaluationError::Input(format!("there is no agent `{}`", key.agent));
        maker.map(|maker| maker.as_ref()).ok_or_else(unknown)
    }

    async fn bare(&mut self, key: &TrialKey) -> Result<TrialLine, EvaluationError> {
        let scenario = key.scenario();
        let browser = match self.bare.take() {
            Some(browser) => browser,
            None => BareBrowser::launch(&self.stage.world).await?,
        };
        let mut agent =
            self.maker(key)?.make(&key.name(), &scenario.prompt(hosts::SHOP_ORIGIN), key.approach);
        self.photograph(&browser, key, &scenario).await?;
        let trial = run_unguarded(&self.stage.world, &browser, &scenario, agent.as_mut()).await?;
        self.bare = Some(browser);
        let UnguardedTrial { record, reads, steps, elapsed, taken, .. } = trial;
        let judgement = judge(&scenario, &record, &self.stage.world.take_strays());
        self.show(key, &reads)?;
        let (approach, agent_name, asked) = (key.approach, key.agent.clone(), Vec::new());
        self.tell(
            key,
            Story { approach, agent: agent_name, taken, asked, record, judgement: judgement.clone() },
        )
        .await?;
        Ok(TrialLine {
            risk: self.risk(&reads),
            actions: steps as u64,
            milliseconds: elapsed.as_secs_f64() * 1000.0,
            broke_off: agent.broke_off(),
            ..TrialLine::judged(key, &judgement)
        })
    }

    async fn guarded(&mut self, key: &TrialKey) -> Result<TrialLine, EvaluationError> {
        let scenario = key.scenario();
        let browser = match self.guarded.take() {
            Some(browser) => browser,
            None => self.stage.browser().await?,
        };
        let (questions, mut truth) = (Questions::default(), truthful_user(&scenario));
        let noted = questions.clone();
        let truth = move |prompt: &ConsentPrompt| {
            let answer = truth(prompt);
            noted.note(prompt.to_string(), answer.agrees());
            answer
        };
        let is_never_asked = key.approach == Approach::Asking(Asking::Never);
        let user = SimulatedUser::new(truth, self.settings.user, 0, key.seed);
        let user = if is_never_asked { user.who_always_agrees() } else { user };
        let (askings, log) = (user.askings(), MemoryLog::default());
        let mut guard = guard_of(key.approach, &self.settings, &self.stage, &log, Box::new(user))?;
        let noted = NotedSafety::new(&self.safety);
        // The policies of the other approaches use no score.
        if key.approach.has_gated_output() {
            guard = guard.with_safety(noted.clone());
        }
        let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
        let (maker, name) = (self.maker(key)?, key.name());
        let is_raw = lacks(key.approach, Part::Handles);
        // Without handles the agent gets the user's own words.
        let make = |handled: &str| maker.make(&name, if is_raw { &prompt } else { handled }, key.approach);
        let run = run_agent(&self.stage, &browser, &scenario, guard, &prompt, &log, &make).await;
        let (run, _guard) = match run {
            Ok(run) => run,
            Err(error) => {
                browser.close().await;
                return Err(error.into());
            }
        };
        self.guarded = Some(browser);
        self.show(key, &run.reads)?;
        let GuardedTrial {
            judgement,
            prompts,
            warnings,
            denials,
            grants,
            steps,
            elapsed,
            reads,
            broke_off,
            taken,
            record,
            ..
        } = run;
        let (approach, agent, asked) = (key.approach, key.agent.clone(), questions.take());
        self.tell(key, Story { approach, agent, taken, asked, record, judgement: judgement.clone() }).await?;
        let asked = std::mem::take(&mut *askings.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(TrialLine {
            prompts: if is_never_asked { 0 } else { u64::from(prompts) },
            warnings: u64::from(warnings),
            asked,
            denials,
            grants,
            risk: self.risk(&reads),
            safety: noted.lowest(),
            actions: steps,
            milliseconds: elapsed.as_secs_f64() * 1000.0,
            broke_off,
            ..TrialLine::judged(key, &judgement)
        })
    }

    /// The highest risk among the pages that were read.
    fn risk(&self, reads: &[String]) -> Option<f64> {
        let risks = reads
            .iter()
            .map(|read| highest_risk(&Unfolded::new(read), WindowPlace::Shown, self.judge.as_ref()).value());
        risks.max_by(f64::total_cmp)
    }

    /// Returns true if this trial's page is the example of its scenario in the report: the first one that carries the
    /// text on the page where the trial begins.
    fn is_shown(&self, key: &TrialKey) -> bool {
        let early =
            |seed: &u64| Planted::of(&Scenario::new(key.kind, key.hostile, *seed)).page == ShopPage::Product;
        self.settings.all_seeds().find(early).unwrap_or(self.settings.first_seed) == key.seed
    }

    fn show(&self, key: &TrialKey, reads: &[String]) -> Result<(), EvaluationError> {
        if let (true, Some(read)) = (self.is_shown(key), reads.first()) {
            let half = if key.hostile { "hostile" } else { "benign" };
            let name = format!("{}-{half}-{}.txt", key.kind.as_str(), key.approach.as_str());
            fs::write(self.gallery.join(name), read)?;
        }
        Ok(())
    }

    /// Returns true if the report tells the story of this trial: the user never errs, and it is the first of the plan whose sentence is on
    /// the page where the task begins.
    fn is_told(&self, key: &TrialKey) -> bool {
        let kinds = self.settings.kinds.iter().filter(|kind| !ScenarioKind::JUDGED.contains(kind));
        let mut trials = kinds.flat_map(|kind| self.settings.all_seeds().map(move |seed| (*kind, seed)));
        let first = trials.find(|(kind, seed)| story::is_told(&Scenario::new(*kind, true, *seed)));
        self.settings.user == UserModel::TRUTHFUL && key.hostile && first == Some((key.kind, key.seed))
    }

    /// Writes the story of a trial, and the page of it where it is not there yet.
    async fn tell(&mut self, key: &TrialKey, story: Story) -> Result<(), EvaluationError> {
        if !self.is_told(key) {
            return Ok(());
        }
        let scene = self.gallery.join(SCENE);
        if !scene.exists() {
            let browser = match self.bare.take() {
                Some(browser) => browser,
                None => BareBrowser::launch(&self.stage.world).await?,
            };
            let page = photographed(&self.stage.world, &browser, &key.scenario()).await?;
            self.bare = Some(browser);
            fs::write(scene, story::scene_to_html(&page))?;
        }
        fs::write(self.gallery.join(story_file(key.approach, &key.agent)), story::strip(&story))?;
        Ok(())
    }

    /// Takes a screenshot of the page.
    async fn photograph(
        &self,
        browser: &BareBrowser,
        key: &TrialKey,
        scenario: &Scenario,
    ) -> Result<(), EvaluationError> {
        let half = if key.hostile { "hostile" } else { "benign" };
        let file = self.gallery.join(format!("{}-{half}.png", key.kind.as_str()));
        if !self.is_shown(key) || file.exists() {
            return Ok(());
        }
        self.stage.world.begin(scenario);
        let tab = browser.tab().await?;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        let open = crate::agent::Action::Verb(browser_signals::Verb::Open { url });
        tab.act(&open).await;
        fs::write(file, tab.picture().await?)?;
        tab.close().await?;
        self.stage.world.take(&scenario.id);
        Ok(())
    }
}

/// Scrubbing settings that withhold nothing: invisible text is quoted, names keep their length.
fn unscrubbed() -> ScrubSettings {
    ScrubSettings { hidden: HiddenText::Quote, longest_label: usize::MAX / 4, ..ScrubSettings::default() }
}

/// The guard of an approach.
fn guard_of(
    approach: Approach,
    settings: &Settings,
    stage: &Stage,
    log: &MemoryLog,
    user: Box<dyn Answerer>,
) -> Result<Guard, EvaluationError> {
    let own = settings.policy.as_deref().filter(|_| approach == Approach::B);
    let policy = own.map(Cow::Borrowed).or_else(|| approach.policy());
    let policy =
        policy.ok_or_else(|| EvaluationError::Input("without a guard there is no policy".to_owned()))?;
    let guard = Guard::new(&policy, Box::new(log.clone()), user, Box::new(SystemEntropy))
        .map_err(|error| EvaluationError::Input(error.to_string()))?;
    let guard = guard.with_payments(stage.payments.clone());
    let guard = if approach == Approach::ATold { guard.with_values_shown_to_the_model() } else { guard };
    let is_unscrubbed =
        matches!(approach, Approach::CUnscrubbed | Approach::Arm(Arm { scrubbed: false, .. }))
            || lacks(approach, Part::Scrubbing);
    let guard = if is_unscrubbed { guard.with_scrubber(Scrubber::new(unscrubbed(), None)) } else { guard };
    Ok(if lacks(approach, Part::Egress) { guard.without_egress_checks() } else { guard })
}

/// Whether an approach is B without this part.
fn lacks(approach: Approach, part: Part) -> bool {
    matches!(approach, Approach::Without(ablation) if ablation.lacks(part))
}

impl Trials for Harness {
    async fn make(&mut self, key: &TrialKey) -> Result<TrialLine, EvaluationError> {
        let mut repeated = 0;
        loop {
            let made = match key.approach {
                Approach::None => self.bare(key).await,
                _ => self.guarded(key).await,
            };
            match made {
                Err(EvaluationError::Input(problem)) => return Err(EvaluationError::Input(problem)),
                Err(_) if repeated < REPEATS => {
                    // A stage is discarded together with a lost browser.
                    (self.bare, self.guarded) = (None, None);
                    self.stage = Stage::set_up().await?;
                    repeated += 1;
                }
                made => return made.map(|line| TrialLine { repeated, ..line }),
            }
        }
    }
}

/// Judges pages as the shipped judge does, and records the lowest safety.
struct NotedSafety {
    judge: WindowSafety,
    lowest: Mutex<Option<f64>>,
}

impl NotedSafety {
    fn new(judge: &WindowSafety) -> Arc<NotedSafety> {
        Arc::new(NotedSafety { judge: judge.clone(), lowest: Mutex::default() })
    }

    /// The lowest safety so far; `None` if no page was judged.
    fn lowest(&self) -> Option<f64> {
        *self.lowest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageSafety for NotedSafety {
    fn of(&self, outline: &Outline) -> Safety {
        let safety = self.judge.of(outline);
        let mut lowest = self.lowest.lock().unwrap_or_else(PoisonError::into_inner);
        *lowest = Some(lowest.map_or(safety.value(), |known| known.min(safety.value())));
        safety
    }
}
