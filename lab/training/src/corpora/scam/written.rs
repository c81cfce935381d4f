//! Messages written for this project: scams, and honest messages about the same subjects. They are in four languages,
//! so that German alone is no sign of a scam.

use crate::corpora::gather::document;
use crate::document::{CorpusPart, Document};

/// The number of fillings of each frame.
const EACH: usize = 6;

/// The frames of one language. `{who}`, `{link}`, `{sum}`, `{number}` and `{name}` are filled in.
struct Language {
    harmful: &'static [&'static str],
    harmless: &'static [&'static str],
}

const LANGUAGES: [Language; 4] = [ENGLISH, GERMAN, FRENCH, SPANISH];

const WHO: &[&str] =
    &["PostPlus", "Nordbank", "Streamly", "CityTax", "Paymo", "Parcelgo", "Volta", "Medica", "ebazaar"];
const BAD_LINKS: &[&str] = &[
    "https://{who}-secure-login.top/verify",
    "bit.ly/3x{number}",
    "http://{who}.account-check.xyz",
    "www.{who}-refund.click",
    "https://claim-{who}.live/{number}",
    "http://185.22.14.{number}/login",
];
const GOOD_LINKS: &[&str] =
    &["the app", "https://www.{who}.example/help", "your account page", "{who}.example"];
const SUMS: &[&str] =
    &["£1.99", "$4,500", "€750", "2,35 €", "$1,000,000", "£250", "0.5 BTC", "1 200 €", "€89.90"];
const NAMES: &[&str] =
    &["Anna", "Mr Okafor", "Jonas", "Madame Petit", "Lucía", "Priya", "Mum", "Frau Weber", "dear customer"];

const ENGLISH: Language = Language {
    harmful: &[
        "{who}: your parcel is held because {sum} of customs duty is unpaid. Pay now at {link} or it goes back today.",
        "Your {who} account has been suspended. Verify your password and card number within 24 hours at {link}",
        "Congratulations {name}! You have been chosen to receive {sum}. Claim your prize at {link} before midnight.",
        "URGENT: unusual sign-in to your {who} account. Reply with the one-time code {number} you received to keep it.",
        "Hi {name}, I lost my phone, this is my new number. Could you send {sum} today? I will pay you back tomorrow.",
        "You are owed a tax refund of {sum}. Enter your bank details at {link} to receive it.",
        "This is {who} support. We found a virus on your computer. Call {number} at once and do not switch it off.",
        "Invest {sum} with our trading robot and double it in 7 days, guaranteed. Message me on Telegram {number}.",
        "I am the lawyer of a late relative of yours who left {sum}. Send your passport and account number to proceed.",
        "Final notice from {who}: pay {sum} in gift cards today or a warrant for your arrest will be issued.",
        "We are hiring! Work from home, {sum} a week, no experience. Send a {sum} deposit for your starter kit: {link}",
        "{name}, the chief executive here. I am in a meeting. Buy ten gift cards of {sum} and send me the codes quietly.",
        "Please open the attached invoice {number} and enable macros to view it. Payment is overdue.",
        "IT department: your remote access expires today. Log in at {link} with your company user name and password.",
        "For our security audit, reply with the name and version of the antivirus software on your computer, {name}.",
        "Connect your wallet at {link} to claim the airdrop of {sum}. Enter your seed phrase to confirm.",
        "Your bank card was charged {sum}. If this was not you, call {number} now and have your PIN ready.",
        "To release the funds we need a processing fee of {sum} by wire transfer, then {sum} is yours.",
        "Dear {name}, confirm your social security number and date of birth at {link} to avoid closure of your account.",
        "Pay the seller directly by bank transfer instead of the checkout, {name}, and save {sum}. Send card details in this chat.",
        "Only 3 left at {sum}! The shop's card reader is down, so type your card number and security code into the chat.",
        "We recorded you through your camera. Send {sum} in bitcoin within 48 hours or all your contacts see the video.",
        "You missed a delivery. Reschedule at {link} and pay the {sum} fee with your card.",
        "Free entry! Text WIN to {number} to get {sum} cash. Cost 150p a message. 18+ only.",
    ],
    harmless: &[
        "{who}: your parcel arrives today between 2 and 4 pm. Nothing is to be paid.",
        "Your {who} order {number} has been sent. You can follow it in {link}.",
        "Thank you for your payment of {sum}, {name}. Your receipt is in {link}.",
        "Your {who} code is {number}. Do not share it with anybody; we will never ask for it.",
        "Hi {name}, are we still on for lunch tomorrow? I can be there at one.",
        "Your tax return was received. We will write to you by post within six weeks.",
        "{who} support: your ticket {number} is closed. Reply if the printer still makes trouble.",
        "Our savings account pays 2 per cent a year. The value of investments can fall as well as rise.",
        "Reminder: your library books are due on Friday. You can renew them at {link}.",
        "Invoice {number} of {sum} is due at the end of the month. Thank you for your custom.",
        "We are hiring a nurse for the night shift. Apply with a CV at {link} by the end of May.",
        "{name}, the meeting moved to 3 pm. Could you bring the budget for the new kitchen?",
        "Your password was changed. If this was not you, sign in as usual and choose a new one.",
        "Planned maintenance tonight from 22:00: remote access may be slow. You need not do anything.",
        "Beware of messages that ask for your password or gift cards. {who} never does.",
        "Pay safely at the checkout by card, PayPal or invoice. Returns are free within 30 days.",
        "Your card ending in 0000 was charged {sum} at {who}. See {link} for all movements.",
        "Sign up for the newsletter and get 10% off your first order of {sum} or more.",
        "Your subscription renews on 1 June for {sum}. You can cancel at any time in {link}.",
        "Only 3 left in stock. Order within 2 hours for delivery tomorrow.",
        "Enter your card number, expiry date and security code. Your payment is encrypted.",
        "Your refund of {sum} is on its way to the card you paid with. It takes three to five days.",
        "Happy birthday {name}! Have a great day, and call me when you can.",
        "Your appointment with Dr Lee is on Tuesday at 9. Reply N if you cannot come.",
    ],
};

const GERMAN: Language = Language {
    harmful: &[
        "{who}: Ihr Paket wird zurückgehalten, weil {sum} Zollgebühr offen sind. Zahlen Sie sofort unter {link}",
        "Ihr {who}-Konto wurde gesperrt. Bestätigen Sie Passwort und Kartennummer innerhalb von 24 Stunden: {link}",
        "Herzlichen Glückwunsch {name}! Sie haben {sum} gewonnen. Jetzt Gewinn abholen: {link}",
        "Hallo {name}, mein Handy ist kaputt, das ist meine neue Nummer. Kannst du mir heute {sum} überweisen?",
        "Sie erhalten eine Steuererstattung von {sum}. Geben Sie Ihre Bankdaten unter {link} ein.",
        "Letzte Mahnung von {who}: Zahlen Sie {sum} mit Gutscheinkarten, sonst erfolgt die Pfändung.",
        "Verdoppeln Sie {sum} in 7 Tagen, garantiert ohne Risiko. Schreiben Sie mir auf Telegram {number}.",
        "Nennen Sie uns zur Sicherheit Ihre TAN und PIN, damit Ihr Konto bei {who} nicht geschlossen wird.",
        "Zahlen Sie den Verkäufer direkt per Überweisung statt über die Kasse und schreiben Sie die Kartendaten in den Chat.",
        "IT-Abteilung: Ihr Zugang läuft heute ab. Melden Sie sich mit Ihrem Firmenpasswort an: {link}",
    ],
    harmless: &[
        "{who}: Ihr Paket kommt heute zwischen 14 und 16 Uhr. Es ist nichts zu bezahlen.",
        "Ihre Bestellung {number} wurde versandt. Den Stand sehen Sie unter {link}.",
        "Vielen Dank für Ihre Zahlung von {sum}. Die Rechnung finden Sie in Ihrem Kundenkonto.",
        "Ihr Code lautet {number}. Geben Sie ihn niemandem weiter.",
        "Hallo {name}, bleibt es bei morgen Mittag? Ich bin um eins da.",
        "Geben Sie Kartennummer, Ablaufdatum und Prüfziffer ein. Die Zahlung ist verschlüsselt.",
        "Kostenloser Rückversand innerhalb von 30 Tagen. Alle Preise inklusive Mehrwertsteuer.",
        "Wir verwenden Cookies, um unsere Website zu verbessern. Einstellungen ändern oder alle ablehnen.",
        "Der Versand dauert zwei bis drei Werktage und kostet {sum}, ab 50 € ist er frei.",
        "Ihr Abo verlängert sich am 1. Juni für {sum}. Sie können jederzeit kündigen.",
        "Die Stadtbibliothek ist am Montag geschlossen. Bücher können online verlängert werden.",
        "Anmelden mit E-Mail-Adresse und Passwort. Passwort vergessen?",
    ],
};

const FRENCH: Language = Language {
    harmful: &[
        "{who} : votre colis est bloqué car {sum} de frais de douane sont impayés. Payez tout de suite sur {link}",
        "Votre compte {who} est suspendu. Confirmez votre mot de passe et votre numéro de carte sous 24 heures : {link}",
        "Félicitations {name} ! Vous avez gagné {sum}. Réclamez votre lot sur {link} avant minuit.",
        "Coucou {name}, j'ai cassé mon téléphone, voici mon nouveau numéro. Peux-tu m'envoyer {sum} aujourd'hui ?",
        "Un remboursement d'impôts de {sum} vous attend. Saisissez vos coordonnées bancaires sur {link}",
        "Dernier avis de {who} : réglez {sum} en cartes cadeaux ou une plainte sera déposée.",
        "Doublez {sum} en 7 jours, gain garanti sans risque. Écrivez-moi sur Telegram {number}.",
        "Votre carte vitale expire. Mettez à jour vos informations et payez {sum} sur {link}",
        "Payez le vendeur directement par virement et envoyez les numéros de votre carte dans la discussion.",
        "Service informatique : votre accès expire aujourd'hui, connectez-vous avec votre mot de passe : {link}",
    ],
    harmless: &[
        "{who} : votre colis arrive aujourd'hui entre 14 h et 16 h. Rien à payer.",
        "Votre commande {number} a été expédiée. Suivez-la sur {link}.",
        "Merci pour votre paiement de {sum}. La facture se trouve dans votre espace client.",
        "Votre code est {number}. Ne le communiquez à personne.",
        "Salut {name}, c'est toujours bon pour demain midi ? Je serai là à une heure.",
        "Saisissez le numéro de carte, la date d'expiration et le cryptogramme. Le paiement est chiffré.",
        "Retours gratuits sous 30 jours. Prix toutes taxes comprises.",
        "Nous utilisons des cookies pour améliorer notre site. Tout refuser ou personnaliser.",
        "La livraison prend deux à trois jours ouvrés et coûte {sum}, offerte dès 50 €.",
        "Votre abonnement se renouvelle le 1er juin pour {sum}. Résiliation à tout moment.",
        "La mairie est fermée lundi. Les démarches se font aussi en ligne.",
        "Se connecter avec son adresse e-mail. Mot de passe oublié ?",
    ],
};

const SPANISH: Language = Language {
    harmful: &[
        "{who}: su paquete está retenido por {sum} de aduana sin pagar. Pague ahora en {link}",
        "Su cuenta de {who} ha sido suspendida. Verifique su contraseña y número de tarjeta en 24 horas: {link}",
        "¡Felicidades {name}! Ha ganado {sum}. Reclame su premio en {link} antes de medianoche.",
        "Hola {name}, se me rompió el móvil, este es mi número nuevo. ¿Puedes enviarme {sum} hoy?",
        "Tiene una devolución de impuestos de {sum}. Introduzca sus datos bancarios en {link}",
        "Último aviso de {who}: pague {sum} con tarjetas regalo o se dictará una orden de arresto.",
        "Duplique {sum} en 7 días, garantizado y sin riesgo. Escríbame por Telegram {number}.",
        "Confirme su clave y el código {number} que recibió para que su cuenta no sea bloqueada.",
        "Pague al vendedor directamente por transferencia y envíe los datos de su tarjeta por el chat.",
        "Informática: su acceso caduca hoy, entre con su contraseña de la empresa en {link}",
    ],
    harmless: &[
        "{who}: su paquete llega hoy entre las 14 y las 16 h. No tiene que pagar nada.",
        "Su pedido {number} ha sido enviado. Puede seguirlo en {link}.",
        "Gracias por su pago de {sum}. La factura está en su cuenta de cliente.",
        "Su código es {number}. No lo comparta con nadie.",
        "Hola {name}, ¿sigue en pie lo de mañana a mediodía? Llego a la una.",
        "Introduzca el número de tarjeta, la fecha de caducidad y el código de seguridad. El pago va cifrado.",
        "Devoluciones gratuitas en 30 días. Precios con IVA incluido.",
        "Usamos cookies para mejorar nuestro sitio. Rechazar todas o configurar.",
        "El envío tarda de dos a tres días laborables y cuesta {sum}, gratis a partir de 50 €.",
        "Su suscripción se renueva el 1 de junio por {sum}. Puede cancelarla cuando quiera.",
        "La biblioteca cierra el lunes. Los libros se pueden renovar por internet.",
        "Iniciar sesión con correo electrónico. ¿Ha olvidado la contraseña?",
    ],
};

/// Returns all messages. The fillings of a frame share a part.
pub fn written() -> Vec<Document> {
    let mut documents = Vec::new();
    for language in &LANGUAGES {
        for (frames, links, harmful) in
            [(language.harmful, BAD_LINKS, true), (language.harmless, GOOD_LINKS, false)]
        {
            for (number, frame) in frames.iter().enumerate() {
                for turn in 0..EACH {
                    let text = filled(frame, links, number + turn * 5);
                    let written = document("written", frame, text, harmful);
                    // There are few frames, so none is left for the choice of thresholds.
                    let part = if written.part == CorpusPart::Test {
                        CorpusPart::Test
                    } else {
                        CorpusPart::Training
                    };
                    documents.push(Document { part, ..written });
                }
            }
        }
    }
    documents
}

/// Returns a frame with the values of one turn.
fn filled(frame: &str, links: &[&str], turn: usize) -> String {
    let value = |values: &[&'static str]| values.get(turn % values.len().max(1)).copied().unwrap_or_default();
    let who = value(WHO);
    // Links of both sorts contain the sender's name, so that a name alone is no evidence.
    let link = links.get(turn % links.len().max(1)).copied().unwrap_or_default();
    let number = (turn * 7919 % 90_000 + 10_000).to_string();
    frame
        .replace("{link}", link)
        .replace("{who}", who)
        .replace("{sum}", value(SUMS))
        .replace("{name}", value(NAMES))
        .replace("{number}", &number)
}
