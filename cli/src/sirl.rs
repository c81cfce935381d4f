//! `portcullis sirl`: parsing a model's output, and restricting it.
//!
//! Exit codes: 0 the input parses; 1 `scan` found something that does not; 2 the input is bad.

use std::io::Read;
use std::path::{Path, PathBuf};

use ::sirl::stream::Event;
use ::sirl::{
    FieldSet, Grammar, Kind, MaskTable, ParseError, Scanner, Schema, Vocabulary, parse_block_with,
    parse_plan_with,
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::{failure::Failure, read_text};

#[derive(Subcommand)]
pub enum Command {
    /// Parse a request block or a plan, and print it in its canonical form.
    Check {
        /// The text; `-` for standard input.
        text: PathBuf,
        /// The allowed requests, such as `sirl/schemas/default.schema`.
        #[arg(long)]
        schema: Option<PathBuf>,
        /// Print one JSON value instead.
        #[arg(long)]
        json: bool,
    },
    /// Find the blocks and plans in a model's output, and print one JSON value a line for each.
    Scan {
        /// The text; `-` for standard input.
        text: PathBuf,
        /// The allowed requests.
        #[arg(long)]
        schema: Option<PathBuf>,
    },
    /// Print the size of the token masks of a vocabulary.
    MaskInfo {
        /// The vocabulary: a `tokenizer.json` of Hugging Face, or a tiktoken file.
        vocabulary: PathBuf,
        /// The tokens that end an answer, for a `tokenizer.json`: their text, such as `</s>`.
        #[arg(long)]
        end: Vec<String>,
        #[command(flatten)]
        allowed: Allowed,
        /// Print one JSON value instead.
        #[arg(long)]
        json: bool,
    },
    /// Print the grammar of the allowed output, for another program.
    Export {
        /// The format.
        form: Form,
        #[command(flatten)]
        allowed: Allowed,
    },
}

/// The allowed output of a model.
#[derive(Args)]
pub struct Allowed {
    /// The kinds of request, such as `address,contact`; all if none is named.
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<String>,
    /// A schema that narrows them.
    #[arg(long)]
    schema: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Form {
    /// Lark, as llguidance and XGrammar read it.
    Lark,
    /// A tool for function calls, with a JSON Schema.
    JsonSchema,
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Check { text, schema, json } => check(&text, schema.as_deref(), json),
        Command::Scan { text, schema } => scan(&text, schema.as_deref()),
        Command::MaskInfo { vocabulary, end, allowed, json } => mask_info(&vocabulary, &end, &allowed, json),
        Command::Export { form, allowed } => {
            let grammar = grammar(&allowed)?;
            match form {
                Form::Lark => println!("{}", grammar.to_lark()),
                Form::JsonSchema => println!("{:#}", grammar.to_json_schema()),
            }
            Ok(())
        }
    }
}

fn schema(path: Option<&Path>) -> Result<Schema, Failure> {
    let Some(path) = path else { return Ok(Schema::default()) };
    let text = read_text(path)?;
    Schema::parse(&text).map_err(|error| {
        let errors = vec![(error.span.clone(), error.to_string())];
        Failure::Source { name: path.display().to_string(), text: text.clone(), errors }
    })
}

fn check(path: &Path, declared: Option<&Path>, as_json: bool) -> Result<(), Failure> {
    let schema = schema(declared)?;
    let text = read_text(path)?;
    let plan = text.trim_start().starts_with("PLAN.");
    let read: Result<String, ParseError> = if plan {
        parse_plan_with(&schema, &text).map(|plan| plan.to_string())
    } else {
        parse_block_with(&schema, &text).map(|block| block.to_string())
    };
    match read {
        Ok(canonical) if as_json => {
            println!("{:#}", json!({ "form": if plan { "plan" } else { "block" }, "canonical": canonical }));
            Ok(())
        }
        Ok(canonical) => {
            println!("{canonical}");
            Ok(())
        }
        Err(error) => {
            if as_json {
                println!("{:#}", json!({ "error": place(&error) }));
            }
            let errors = vec![(error.span.clone(), error.to_string())];
            Err(Failure::Source { name: path.display().to_string(), text, errors })
        }
    }
}

fn place(error: &ParseError) -> serde_json::Value {
    let span = [error.span.start, error.span.end];
    json!({ "message": error.to_string(), "line": error.line(), "column": error.column(), "span": span })
}

fn scan(path: &Path, declared: Option<&Path>) -> Result<(), Failure> {
    let mut scanner = Scanner::new(schema(declared)?);
    let unreadable =
        |error: std::io::Error| Failure::Input(format!("{} cannot be read: {error}", path.display()));
    let mut input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(unreadable)?)
    };
    let mut malformed = 0_usize;
    let mut tell = |event: Event| match event {
        Event::Block { span, block } => {
            println!("{}", json!({ "block": block.to_string(), "span": [span.start, span.end] }));
        }
        Event::Plan { span, plan } => {
            println!("{}", json!({ "plan": plan.to_string(), "span": [span.start, span.end] }));
        }
        Event::Malformed { start, error } => {
            malformed += 1;
            println!("{}", json!({ "malformed": place(&error), "start": start }));
        }
    };
    let mut piece = [0; 64 * 1024];
    loop {
        match input.read(&mut piece).map_err(unreadable)? {
            0 => break,
            length => scanner.push(piece.get(..length).unwrap_or_default(), &mut tell),
        }
    }
    if let Some(event) = scanner.finish() {
        tell(event);
    }
    match malformed {
        0 => Ok(()),
        1 => Err(Failure::Finding("one block cannot be read".to_owned())),
        many => Err(Failure::Finding(format!("{many} blocks cannot be read"))),
    }
}

fn grammar(allowed: &Allowed) -> Result<Grammar, Failure> {
    let schema = schema(allowed.schema.as_deref())?;
    let kinds: Vec<Kind> = if allowed.kinds.is_empty() {
        schema.kinds().collect()
    } else {
        let named = allowed.kinds.iter().map(|name| {
            Kind::from_name(name).ok_or_else(|| {
                let names = Kind::ALL.map(Kind::as_str).join(", ");
                Failure::Input(format!("`{name}` is no kind of request; write some of: {names}"))
            })
        });
        named.collect::<Result<_, _>>()?
    };
    let with_fields = |kind: &Kind| -> Result<(Kind, FieldSet), Failure> {
        let fields = schema.takes(*kind).ok_or_else(|| {
            Failure::Input(format!("the schema does not declare the kind `{}`", kind.as_str()))
        })?;
        Ok((*kind, fields))
    };
    let kinds = kinds.iter().map(with_fields).collect::<Result<Vec<_>, _>>()?;
    Grammar::for_fields(&kinds).map_err(|error| Failure::Input(error.to_string()))
}

fn mask_info(path: &Path, ends: &[String], allowed: &Allowed, as_json: bool) -> Result<(), Failure> {
    let grammar = grammar(allowed)?;
    let content = read_text(path)?;
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let vocabulary = if content.trim_start().starts_with('{') {
        Vocabulary::from_tokenizer_json(&content, &ends)
    } else {
        Vocabulary::from_tiktoken(&content)
    };
    let vocabulary = vocabulary.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    let start = std::time::Instant::now();
    let info = MaskTable::build(&grammar, &vocabulary).info();
    let seconds = start.elapsed().as_secs_f64();
    if as_json {
        let value = json!({
            "nodes": info.nodes,
            "byte_classes": info.byte_classes,
            "tokens": info.tokens,
            "longest_token": info.longest_token,
            "rows": info.rows,
            "forced_rows": info.forced_rows,
            "masks": info.masks,
            "mask_bytes": info.mask_bytes,
            "bytes": info.bytes,
            "average_allowed": info.average_allowed,
            "most_allowed": info.most_allowed,
            "build_seconds": seconds,
        });
        println!("{value:#}");
    } else {
        println!("{info}\nbuilt in        {seconds:.2} s");
    }
    Ok(())
}
