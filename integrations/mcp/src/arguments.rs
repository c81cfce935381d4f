//! The arguments of the tools that the guard carries out itself, and their JSON schemas.
//!
//! The schema that a client sees is derived from the type that its call is read into, so that the two cannot differ. The
//! arguments of a verb are those of [`portcullis::signals::tool`]; here is what playwright-mcp's tools have beside them.

use portcullis::signals::tool;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::requests::NamedKind;

const TARGET: &str = "The element: a ref of the snapshot such as e12, a selector such as role=button[name=\"Pay\"], \
                      text=Pay, or a CSS selector that fits one element";
const ELEMENT: &str = "What the element is, in words; not used to find it";
const PLAN: &str = "The kinds in the request language, in the place of `kinds`: PLAN lines, closed by PLAN.end, such as \
                    PLAN.address\\nPLAN.purchase\\nPLAN.end";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanArguments {
    #[serde(default)]
    #[schemars(description = "The sites, such as https://shop.example; no other can be opened then")]
    pub origins: Vec<String>,
    #[schemars(
        description = "The kinds of request that the task will make; leave them out to look around only"
    )]
    pub kinds: Option<Vec<NamedKind>>,
    #[schemars(description = PLAN)]
    pub plan: Option<String>,
    #[serde(default)]
    #[schemars(description = "True if the task gives files of the user's to these sites")]
    pub uploads: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SnapshotArguments {
    #[schemars(description = "Only this element and what is in it: a ref of the last snapshot")]
    pub target: Option<String>,
    #[schemars(description = "Only this many levels below the outermost elements")]
    pub depth: Option<f64>,
    #[schemars(
        description = "The most characters of the answer, 60000 if left out; the answer says how to get the rest"
    )]
    pub limit: Option<f64>,
    #[schemars(description = "The rest of an answer that was cut: the word that it gave, such as c1")]
    pub continuation: Option<String>,
    #[serde(default)]
    #[schemars(
        description = "Also where each element is: [box=x,y,width,height], in pixels of the window. Not once values of the user's are \
                       in the container"
    )]
    pub boxes: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MouseClickArguments {
    #[schemars(description = "Pixels from the left side of the picture")]
    pub x: f64,
    #[schemars(description = "Pixels from its upper side")]
    pub y: f64,
    pub button: Option<ButtonArgument>,
    #[schemars(description = "2 for a double click", range(min = 1, max = 2))]
    pub click_count: Option<u32>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ButtonArgument {
    Left,
    Right,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct VerifyElementArguments {
    #[schemars(description = "Its role, as in the snapshot: - ROLE \"name\"")]
    pub role: String,
    #[schemars(description = "Its name, or a part of it")]
    pub accessible_name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyTextArguments {
    #[schemars(description = "The words, or a part of them")]
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyListArguments {
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    #[schemars(description = TARGET)]
    pub target: String,
    #[schemars(description = "Words of each item")]
    pub items: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyValueArguments {
    pub r#type: ControlArgument,
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    #[schemars(description = TARGET)]
    pub target: String,
    #[schemars(description = "The text that you typed, true or false, or the chosen option of a combobox")]
    pub value: String,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ControlArgument {
    Textbox,
    Checkbox,
    Radio,
    Combobox,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindArguments {
    #[schemars(description = "Words to look for, in upper or lower case")]
    pub text: Option<String>,
    #[schemars(description = "A regular expression, or /expression/i")]
    pub regex: Option<String>,
}

/// The arguments of a tool for an element: those of its verb, and these.
#[derive(Deserialize, JsonSchema)]
pub struct ElementArguments {
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    // Not only a ref, as in the verb.
    #[schemars(description = TARGET)]
    pub target: String,
    #[serde(flatten)]
    #[schemars(skip)]
    pub of_verb: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DragArguments {
    #[serde(rename = "startElement")]
    #[schemars(description = ELEMENT)]
    _start_element: Option<String>,
    #[schemars(description = TARGET)]
    pub start_target: String,
    #[serde(rename = "endElement")]
    #[schemars(description = ELEMENT)]
    _end_element: Option<String>,
    #[schemars(description = TARGET)]
    pub end_target: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct TypeArguments {
    #[serde(default)]
    #[schemars(description = "Submit the form afterwards; without a form, press Enter")]
    pub submit: bool,
    #[serde(flatten)]
    pub element: ElementArguments,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsoleArguments {
    #[serde(default)]
    #[schemars(description = "The least weight of a message: info if left out")]
    pub level: LevelArgument,
    #[serde(default)]
    #[schemars(description = "Also those of earlier pages")]
    pub all: bool,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LevelArgument {
    Error,
    Warning,
    #[default]
    Info,
    Debug,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeArguments {
    pub width: u32,
    pub height: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptArguments {
    #[schemars(description = "() => { ... }, or (element) => { ... } with `target`")]
    pub function: String,
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    #[schemars(description = TARGET)]
    pub target: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestsArguments {
    #[serde(default, rename = "static")]
    #[schemars(description = "Also pictures, scripts and the like that arrived")]
    pub all: bool,
    #[schemars(description = "A regular expression for the address")]
    pub filter: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestArguments {
    #[schemars(description = "The number in the list, from 1")]
    pub index: u32,
    #[schemars(description = "One part alone")]
    pub part: Option<PartArgument>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PartArgument {
    RequestHeaders,
    RequestBody,
    ResponseHeaders,
    ResponseBody,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormArguments {
    pub fields: Vec<FieldArguments>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldArguments {
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    #[schemars(description = TARGET)]
    pub target: String,
    #[serde(rename = "name")]
    #[schemars(description = "What the field is called; not used to find it")]
    _name: Option<String>,
    #[schemars(extend("enum" = ["textbox", "checkbox", "radio", "combobox", "slider"]))]
    pub r#type: String,
    #[schemars(
        description = "The text, true or false for a check box or radio button, the option of a combobox"
    )]
    pub value: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WaitArguments {
    #[schemars(description = "Seconds, 30 at most")]
    pub time: Option<f64>,
    #[schemars(description = "Words to wait for")]
    pub text: Option<String>,
    #[schemars(description = "Words to wait for to disappear")]
    pub text_gone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TabsArguments {
    pub action: TabsAction,
    #[schemars(description = "The number of the tab to select, or to close: the current one if left out")]
    pub index: Option<u32>,
    #[schemars(description = "The address to open in a new tab")]
    pub url: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TabsAction {
    List,
    New,
    Close,
    Select,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DialogArguments {
    #[schemars(description = "True for OK, false for Cancel")]
    pub accept: bool,
    #[schemars(description = "The text for a prompt: its own default text if left out")]
    pub prompt_text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadArguments {
    #[schemars(
        description = "The names of the files, as portcullis_status lists them; leave it out to give none"
    )]
    pub paths: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScreenshotArguments {
    #[schemars(extend("enum" = ["png", "jpeg", "webp"]))]
    pub r#type: Option<String>,
    #[serde(default)]
    pub full_page: bool,
    #[schemars(extend("enum" = ["css", "device"]))]
    pub scale: Option<String>,
    #[serde(rename = "element")]
    #[schemars(description = ELEMENT)]
    _element: Option<String>,
    #[schemars(description = "This element alone, named as for browser_click")]
    pub target: Option<String>,
}

/// The JSON schema of a verb's arguments, with those of `Own` beside them or in their place.
pub fn verb_schema<Own: JsonSchema>(word: &str) -> Value {
    let mut schema = tool::verb_schema(word).unwrap_or_default();
    let own = tool::schema::<Own>();
    let own = own.get("properties").and_then(Value::as_object);
    if let (Some(properties), Some(own)) = (schema.get_mut("properties").and_then(Value::as_object_mut), own)
    {
        properties.extend(own.clone());
    }
    schema
}
