//! `portcullis mcp --config FILE`: options in a TOML file. Its keys are the names of the command's long options, so the command line
//! is the only list of options. An option on the command line replaces that of the file.

use std::any::TypeId;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use portcullis_cli::files::read_bytes;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;

/// The command whose options a file may have.
const SUBCOMMAND: &str = "mcp";
/// The option that names the file.
const OPTION: &str = "config";

/// One option of the file.
struct Entry {
    option: String,
    /// As on the command line: `--name` or `--name=value`.
    arguments: Vec<OsString>,
    /// The files and folders that it names.
    paths: Vec<PathBuf>,
}

/// The command line with the options of the file that it names, if it names one.
pub fn with_options_file(command: &Command, line: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    // Without the file's options the line may be incomplete. What is wrong with the whole is reported when the whole is parsed.
    let given = command.clone().ignore_errors(true).try_get_matches_from(&line);
    let Ok(given) = given else { return Ok(line) };
    let Some(given) = given.subcommand_matches(SUBCOMMAND) else { return Ok(line) };
    let Some(file) = given.get_one::<PathBuf>(OPTION) else { return Ok(line) };
    let mut entries = read(command, file)?;
    let options = subcommand(command);
    entries.retain(|entry| {
        let id =
            options.and_then(|options| option(options, &entry.option)).map(|found| found.get_id().as_str());
        id.and_then(|id| given.value_source(id)) != Some(ValueSource::CommandLine)
    });
    let place = line.iter().position(|part| part == SUBCOMMAND).map_or(line.len(), |place| place + 1);
    let (before, after) = line.split_at(place);
    let from_file = entries.into_iter().flat_map(|entry| entry.arguments);
    Ok(before.iter().cloned().chain(from_file).chain(after.iter().cloned()).collect())
}

/// The result of checking a file of options.
pub struct Checked {
    /// The number of options in the file.
    pub options: usize,
    /// The policy that it names.
    pub policy: Option<PathBuf>,
    /// The files and folders that it names and that are not there. The audit log's folder is made when it is needed.
    pub missing: Vec<PathBuf>,
}

/// Reads a file of options, and checks that the command takes them together.
pub fn check(command: &Command, file: &Path) -> Result<Checked, Failure> {
    let entries = read(command, file)?;
    let line = [command.get_name(), SUBCOMMAND].map(OsString::from);
    let line = line.into_iter().chain(entries.iter().flat_map(|entry| entry.arguments.clone()));
    command.clone().try_get_matches_from(line).map_err(|error| Failure::Input(said(&error)))?;
    let paths = |entry: &Entry| entry.paths.clone();
    let missing = entries.iter().filter(|entry| entry.option != "audit").flat_map(paths);
    Ok(Checked {
        options: entries.len(),
        policy: entries.iter().filter(|entry| entry.option == "policy").flat_map(paths).next(),
        missing: missing.filter(|path| !path.exists()).collect(),
    })
}

fn read(command: &Command, file: &Path) -> Result<Vec<Entry>, Failure> {
    let text = String::from_utf8(read_bytes(file)?);
    let text = text.map_err(|_| Failure::Input(format!("{} is not UTF-8 text", file.display())))?;
    // A path in the file is one beside the file, wherever the program is started.
    let folder = file.parent().unwrap_or_else(|| Path::new(""));
    entries(command, folder, &text).map_err(|(span, message)| Failure::Source {
        name: file.display().to_string(),
        text,
        errors: vec![(span, message)],
    })
}

fn entries(command: &Command, folder: &Path, text: &str) -> Result<Vec<Entry>, (Range<usize>, String)> {
    let table = DeTable::parse(text);
    let table = table.map_err(|error| (error.span().unwrap_or_default(), error.message().to_owned()))?;
    let Some(options) = subcommand(command) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (name, value) in table.get_ref() {
        let at = |message: String| (name.span(), message);
        let known = option(options, name.get_ref()).filter(|found| found.get_id() != OPTION);
        let Some(known) = known else {
            return Err(at(format!("`portcullis {SUBCOMMAND}` has no option `--{}`", name.get_ref())));
        };
        let Some(values) = values(known, value.get_ref()) else {
            return Err((value.span(), format!("`{}` takes {}", name.get_ref(), takes(known))));
        };
        let is_path = known.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let paths: Vec<PathBuf> =
            values.iter().flatten().filter(|_| is_path).map(|path| folder.join(path)).collect();
        let values = values.into_iter().map(|value| {
            value.map(|value| if is_path { folder.join(value).into() } else { OsString::from(value) })
        });
        let arguments: Vec<OsString> = values.map(|value| argument(name.get_ref(), value)).collect();
        let line = [command.get_name(), SUBCOMMAND].map(OsString::from);
        let alone = command.clone().try_get_matches_from(line.into_iter().chain(arguments.clone()));
        if let Err(error) = alone
            && matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation)
        {
            return Err((value.span(), said(&error)));
        }
        found.push(Entry { option: name.get_ref().to_string(), arguments, paths });
    }
    Ok(found)
}

/// The values of an option as texts, and none for a flag that is on; `None` if the option takes no such value.
fn values(option: &Arg, value: &DeValue<'_>) -> Option<Vec<Option<String>>> {
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    match value {
        DeValue::Boolean(on) if is_flag => Some(if *on { vec![None] } else { Vec::new() }),
        _ if is_flag => None,
        DeValue::Array(parts) if matches!(option.get_action(), ArgAction::Append) => {
            parts.iter().map(|part| text_of(part.get_ref()).map(Some)).collect()
        }
        value => text_of(value).map(|text| vec![Some(text)]),
    }
}

fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// Names the kind of value that an option takes.
fn takes(option: &Arg) -> &'static str {
    match option.get_action() {
        ArgAction::SetTrue => "true or false",
        ArgAction::Append => "a list of texts",
        _ => "one text or number",
    }
}

fn argument(name: &str, value: Option<OsString>) -> OsString {
    let mut argument = OsString::from(format!("--{name}"));
    if let Some(value) = value {
        argument.push("=");
        argument.push(value);
    }
    argument
}

fn subcommand(command: &Command) -> Option<&Command> {
    command.get_subcommands().find(|one| one.get_name() == SUBCOMMAND)
}

fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|one| one.get_long() == Some(name))
}

/// The first sentence of clap's message.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
    match error.get(ContextKind::ValidValue) {
        Some(valid) if !first.contains("possible values") => format!("{first} (one of {valid})"),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let one = |name: &'static str| Arg::new(name).long(name);
        let path = || clap::value_parser!(PathBuf);
        Command::new("portcullis").subcommand(
            Command::new("mcp")
                .arg(one("config").value_parser(path()))
                .arg(one("vault").value_parser(path()).requires("audit"))
                .arg(one("audit").value_parser(path()))
                .arg(one("port").value_parser(clap::value_parser!(u16)))
                .arg(one("headed").action(ArgAction::SetTrue))
                .arg(one("private-hosts").action(ArgAction::Append).value_delimiter(',')),
        )
    }

    fn arguments(text: &str) -> Vec<String> {
        let found = entries(&command(), Path::new("/etc/guard"), text);
        let found = found.unwrap_or_else(|(span, message)| panic!("{span:?}: {message}"));
        found.into_iter().flat_map(|it| it.arguments).map(|it| it.to_string_lossy().into_owned()).collect()
    }

    fn refused(text: &str) -> (String, String) {
        let Err((span, message)) = entries(&command(), Path::new(""), text) else {
            panic!("{text} is taken")
        };
        (text.get(span).unwrap_or_default().to_owned(), message)
    }

    #[test]
    fn options_become_arguments_and_paths_are_beside_the_file() {
        let text = "port = 8931\nheaded = true\nvault = \"vault\"\naudit = \"/log\"\nprivate-hosts = [\"a:1\", \"b:2\"]\n";
        let mut found = arguments(text);
        found.sort();
        let expected = [
            "--audit=/log",
            "--headed",
            "--port=8931",
            "--private-hosts=a:1",
            "--private-hosts=b:2",
            "--vault=/etc/guard/vault",
        ];
        assert_eq!(found, expected);
        assert!(arguments("headed = false").is_empty());
        assert!(arguments("").is_empty());
    }

    #[test]
    fn what_the_command_does_not_take_is_named_at_its_place() {
        for (text, place, part) in [
            ("prot = 1", "prot", "no option `--prot`"),
            ("config = \"other\"", "config", "no option `--config`"),
            ("headed = \"yes\"", "\"yes\"", "true or false"),
            ("port = [1, 2]", "[1, 2]", "one text or number"),
            ("port = 70000", "70000", "70000"),
            ("port = 1.5", "1.5", "one text or number"),
            ("private-hosts = [[\"a\"]]", "[[\"a\"]]", "a list of texts"),
        ] {
            let (at, message) = refused(text);
            assert_eq!(at, place, "{text}: {message}");
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(!refused("port = ").1.is_empty());
        assert!(refused("port = 1\nport = 2").1.contains("duplicate"));
    }

    #[test]
    fn the_command_line_replaces_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("guard.toml");
        std::fs::write(&file, "port = 1\nheaded = true\nprivate-hosts = [\"a\"]\naudit = \"log\"\n")
            .expect("written");
        let line = |parts: &[&str]| -> Vec<OsString> {
            let named = ["portcullis", "mcp", "--config"].map(OsString::from);
            named
                .into_iter()
                .chain([file.clone().into_os_string()])
                .chain(parts.iter().map(OsString::from))
                .collect()
        };
        // `--vault` needs `--audit`, which the file has.
        let whole =
            with_options_file(&command(), line(&["--port", "2", "--private-hosts", "b", "--vault", "v"]));
        let whole = whole.unwrap_or_else(|_| panic!("the file is read"));
        let read = command().try_get_matches_from(whole).expect("parsed");
        let read = read.subcommand_matches("mcp").expect("mcp");
        assert_eq!(read.get_one::<u16>("port"), Some(&2));
        assert!(read.get_flag("headed"));
        assert_eq!(read.get_many::<String>("private-hosts").expect("hosts").collect::<Vec<_>>(), ["b"]);
        assert_eq!(read.get_one::<PathBuf>("audit"), Some(&folder.path().join("log")));
        let without: Vec<OsString> = ["portcullis", "mcp", "--port", "2"].map(OsString::from).to_vec();
        assert!(with_options_file(&command(), without.clone()).is_ok_and(|line| line == without));
    }
}
