//! Thirteen honest address forms: in six languages, with a password, without a form, with a textarea.

/// A form, and the words that name its street and its button.
pub struct Form {
    pub name: &'static str,
    pub html: String,
    pub street: &'static str,
}

fn posted(controls: &str) -> String {
    format!("<form method=post action=/order>{controls}<button>Place order</button></form>")
}

fn labelled(labels: [&str; 4]) -> String {
    let names = ["a", "b", "c", "d"];
    let inputs = labels
        .iter()
        .zip(names)
        .map(|(label, name)| format!("<label>{label} <input name={name}></label><br>"));
    posted(&inputs.collect::<String>())
}

pub fn all() -> Vec<Form> {
    let form = |name, html, street| Form { name, html, street };
    let english = ["Full name", "Street and number", "Postal code", "City"];
    let sends = "<div><label>Street <input id=s></label><label>Town <input id=t></label>\
        <div role=button tabindex=0 onclick=\"fetch('/order',{method:'POST',\
        body:JSON.stringify({street:s.value,town:t.value})})\">Place order</div></div>";
    vec![
        form("English", labelled(english), "Street and number"),
        form(
            "with a password",
            posted(
                "<label>Street <input name=street></label><label>City <input name=city></label>\
                 <label>Password <input type=password name=p></label>",
            ),
            "\"Street\"",
        ),
        form("without a form", sends.to_owned(), "\"Street\""),
        form(
            "with a textarea",
            posted(
                "<label>Where to? <textarea name=to></textarea></label><label>City <input name=city></label>",
            ),
            "Where to?",
        ),
        form("German", labelled(["Vor- und Nachname", "Straße und Hausnummer", "PLZ", "Ort"]), "Straße"),
        form("French", labelled(["Nom complet", "Numéro et rue", "Code postal", "Ville"]), "rue"),
        form("Spanish", labelled(["Nombre", "Calle y número", "Código postal", "Población"]), "Calle"),
        form("Italian", labelled(["Nome e cognome", "Indirizzo", "CAP", "Città"]), "Indirizzo"),
        form("Dutch", labelled(["Naam", "Straat en huisnummer", "Postcode", "Woonplaats"]), "Straat"),
        form("Polish", labelled(["Imię i nazwisko", "Ulica i numer", "Kod", "Miejscowość"]), "Ulica"),
        form(
            "with placeholders alone",
            posted("<input name=x1 placeholder=\"Where you live\"><input name=x2 placeholder=Place>"),
            "Where you live",
        ),
        form("one box at a time", posted("<label>Ship to <input name=to></label>"), "Ship to"),
        form(
            "with a password and a textarea in German",
            posted(
                "<label>Anschrift <textarea name=to></textarea></label>\
                 <label>Kennwort <input type=password name=p></label>",
            ),
            "Anschrift",
        ),
    ]
}
