//! Prompts with marked values: `{field:value}` must be found, `{?field:value}` must be asked about.

use std::ops::Range;

use sirl::Field;

/// A prompt and its marked values.
pub struct Marked {
    pub text: String,
    pub found: Vec<(Range<usize>, Field)>,
    pub unsure: Vec<(Range<usize>, Field)>,
}

/// Reads a marked prompt. A brace that marks nothing is part of the text.
pub fn marked(source: &str) -> Marked {
    let mut out = Marked { text: String::new(), found: Vec::new(), unsure: Vec::new() };
    let mut rest = source;
    while let Some((before, after)) = rest.split_once('{') {
        out.text.push_str(before);
        let (mark, next) = after.split_once('}').expect("a closed mark");
        let (field, value) = mark.split_once(':').expect("a field and a value");
        let start = out.text.len();
        out.text.push_str(value);
        let place = start..out.text.len();
        match field.strip_prefix('?') {
            Some(field) => out.unsure.push((place, Field::from_name(field).expect("a field"))),
            None => out.found.push((place, Field::from_name(field).expect("a field"))),
        }
        rest = next;
    }
    out.text.push_str(rest);
    out
}

/// Prompts with values.
pub const WITH_VALUES: &[&str] = &[
    "Buy the blue mug at https://shop.example. My name is {name:Ada Lane}. Pay by card.",
    "Ship to {name:Ada Lane}, {street:12 Main Street}, {postal_code:94704} {city:Berkeley}.",
    "Please ship it to {street:17 Quarry Road}, {city:Berkeley}, {region:CA} {postal_code:94704}, {country:USA}.",
    "Pay with card {card_number:4111 1111 1111 1111} exp {card_expiry:12/29} cvv {card_code:123}.",
    "Use my Visa {card_number:4111-1111-1111-1111}, expires {card_expiry:12/2029}, security code {card_code:321}, and buy two.",
    "card {card_number:5555555555554444} {card_expiry:03/31} {card_code:456}",
    "Card: {card_number:4111111111111111}; expiry date: {card_expiry:December 2029}; CVC: {card_code:987}",
    "Pay with 4111 as usual: card number {card_number:4111 1111 1111 1111}, exp {card_expiry:2029-12}, cvv2 {card_code:0123}",
    "Log in at https://bank.example with {email:ada@mail.test} and password {password:hunter2}.",
    "Log in with username ada and password \"{password:correct horse battery}\" at https://bank.example",
    "The password is {password:Tr0ub4dor&3}, go to https://bank.example.",
    "Log in at https://wiki.example, username: {username:ada_lane}, password: {password:swordfish}",
    "Register me at https://club.example. Date of birth: {birth_date:1984-03-09}",
    "My password for https://mail.example is {password:s3cret-Words!} and the one for the shop stays.",
    "password: {password:swordfish} at https://bank.example",
    "The code is {one_time_code:123456}.",
    "I just got the SMS: the code is {one_time_code:482 913}. Enter it at https://bank.example",
    "Use verification code {one_time_code:G-482913} to sign in.",
    "OTP: {one_time_code:1234}, then confirm the order.",
    "My SSN is {government_id:123-45-6789}, file the form at https://tax.example.",
    "Check in with passport {government_id:C01X00T47} for the flight.",
    "Passport number: {government_id:L8988901C}; name: {name:Ana Mar\u{ed}a van der Berg}",
    "I live at {street:221b Baker St.}, {city:London} {postal_code:NW1 6XE}, {country:UK}.",
    "Deliver to {street:350 5th Avenue, Suite 4B}, {city:New York}, {region:NY} {postal_code:10118}.",
    "Address: {street:17 Quarry Road}, {city:Berkeley}, {region:CA} {postal_code:94704}",
    "Mein Name ist {name:Jana Vogel}, ich wohne in der {street:Hauptstr. 5}, {postal_code:10115} {city:Berlin}.",
    "Bitte liefern an {name:Jana Vogel}, {street:Lange Gasse 7a}, {postal_code:1010} {city:Wien}, {country:\u{d6}sterreich}.",
    "Name: {name:Jana Vogel}\nStra\u{df}e: {street:Am Markt 3}\nPLZ: {postal_code:50667}\nOrt: {city:K\u{f6}ln}\nLand: {country:Deutschland}",
    "Melde dich bei https://bank.example mit {email:jana@post.test} und Passwort {password:Geheim77} an.",
    "Die Karte ist {card_number:4111 1111 1111 1111}, g\u{fc}ltig bis: {card_expiry:12/29}, Pr\u{fc}fziffer {card_code:123}.",
    "Der Code lautet {one_time_code:771204}.",
    "Je m'appelle {name:Chlo\u{e9} Martin}, livrez au {street:12 bis, rue de la Paix}, {postal_code:75002} {city:Paris}, {country:France}.",
    "Nom: {name:Chlo\u{e9} Martin}; adresse: {street:5 avenue Foch}; code postal: {postal_code:69006}; ville: {city:Lyon}; pays: {country:France}",
    "Connecte-toi sur https://banque.example avec le mot de passe {password:Soleil#9}.",
    "Le code est {one_time_code:991827}.",
    "Me llamo {name:Luc\u{ed}a G\u{f3}mez}. Env\u{ed}alo a {street:Calle de Alcal\u{e1}, 42}, {postal_code:28014} {city:Madrid}, {country:Espa\u{f1}a}.",
    "Nombre: {name:Luc\u{ed}a G\u{f3}mez}; DNI: {government_id:12345678Z}; ciudad: {city:Madrid}; provincia: {region:Madrid}",
    "Inicia sesi\u{f3}n en https://banco.example con contrase\u{f1}a {password:Sol-y-luna1}.",
    "name: {name:Ada Lane}; city: {city:Berkeley}. Tell the shop that {name:Ada Lane} will be in {city:Berkeley} on Monday.",
    "Order one for {?name:Ada Lane} at https://shop.example",
    "I'm {?name:Ada} and I want a kettle from https://shop.example",
    "Book a table for {?name:Jean Luc} under the name {name:Martin} at https://food.example",
    "Two parcels. First: name: {name:Ada Lane}; street: {street:1 Oak Lane}; city: {city:Reno}. Second: name: {name:Bob Stone}; street: {street:2 Elm Lane}; city: {city:Boise}.",
    "Contact {email:ada.lane@mail.test} or call {phone:+1 510 555 0142}.",
    "Phone: {phone:030 1234567}; e-mail: {email:jana@post.test}",
    "Send the catalogue to {street:742 Evergreen Terrace}, {city:Springfield}. Then log out.",
    "Use password={password:abc} on https://test.example",
    "Log in to https://a.example with password {?password:swordfish}, please.",
    "My zip code is {postal_code:94704}, state: {region:California}.",
    "Sign in, then my code is {one_time_code:550142}, no more",
    "Full name: \"{name:Ada Lane}\", country: {country:US}",
    "What is at {?street:10 Downing Street}?",
];

/// Prompts that must stay as they are.
pub const BENIGN: &[&str] = &[
    "Read https://news.example and tell me the headline: is it about kettles? My name is short.",
    "Buy 2 x \"Copper kettle, 1.7 l\" at https://copper-kettle.test/t/a1/product. Spend at most 140.00 USD in all.",
    "Find a hotel in Berlin from 12/24 to 12/29 for at most 500 EUR.",
    "Order item 4711 in size 42, order number 94704, on https://shop.example",
    "Use promo code 123456 at the checkout of https://shop.example.",
    "Apply the discount code SAVE2024, then stop.",
    "Search for \"84 Charing Cross Road\" and give me the price.",
    "Reset my password on https://bank.example, please.",
    "Which password manager is best? Compare three with password protection.",
    "Tell me how to reset my password: is there a link?",
    "What does error code 404404 mean?",
    "Is the coupon that expires 12/29 still valid at https://shop.example?",
    "Find out who wrote the song Calle Ocho and when.",
    "Compare RTX 4090 and RX 7900 prices on https://shop.example, up to 1,999.00 USD.",
    "Book the 10:30 train from Paris to Lyon on 24 December 2026.",
    "What is the product name: the one with the red lid?",
    "Sort the table by name: ascending, then by state: open first.",
    "The file name: report.pdf is wrong, rename it on https://drive.example.",
    "Find the phone number of the town hall.",
    "Read the page in English and French and list the prices in USD.",
    "Add 3 Black Dr Martens boots, size 42, to the cart at https://shoes.example",
    "Buy the Galaxy S22 5GB and the Pixel 7 from https://phones.example.",
    "Search for Harry Potter books under 20 EUR.",
    "Summarise https://wiki.example/wiki/Ada_Lovelace?code=123456 in five lines.",
    "Which museum is open on Sunday in Vienna? Give the address of it.",
    "Show me the street: is it closed on Monday?",
    "Vergleiche die Preise f\u{fc}r Modell 3 und Modell 5 auf https://laden.example.",
    "Suche auf https://laden.example einen Parkplatz f\u{fc}r 3 Stunden.",
    "Cherche un billet pour Lyon le 12/11 \u{e0} moins de 50 euros sur https://train.example.",
    "Busca en https://tienda.example una mesa de 120 x 80 cm por menos de 200 EUR.",
    "Order no. 2026-11-21-4471 was delivered; write a review with 5 stars.",
    "How many people live in Germany, and what is the postal code of Bonn?",
    "As soon as possible, list the 12 best plays of 2024 as a table.",
    "Compare visa rules for Japan and India, 90 days each.",
    "What is the id of the issue #12345 on https://git.example?",
    "Check my cart, total $123.45, at https://shop.example and send it.",
    "Is 1984 by George Orwell in stock? ISBN 9780451524935.",
    "Deliver 12 Bright Star Plates by Friday.",
    "Pay with my usual card as planned, no more than 30.00 EUR.",
    "Read article 5 on page 12/29 and mail me nothing.",
];

/// Prompts that were written without trying them: at first 23 of 41 values were found, and nothing else. Intake has been
/// improved with them since.
pub const SEEN: &[&str] = &[
    "my name is {name:ada lane}, send the mug to {street:12 oak street}, {city:berkeley}",
    "Deliver to {name:Tom\u{e1}s Rivera} at {street:Unter den Linden 77}, {postal_code:10117} {city:Berlin}.",
    "please pay using {card_number:4111 1111 1111 1111} ({card_expiry:11/28}, {card_code:737})",
    "Hi, it's {?name:Maria Keller} here, my new mobile is {phone:+49 170 1234567}.",
    "user {email:kim@post.test} pass {password:gr33n.tea}",
    "Login: {email:kim@post.test} / {password:gr33n.tea} on https://forum.example",
    "Use {name:Kim Park}'s address: {street:4 Privet Drive}, {city:Little Whinging}",
    "They texted me {one_time_code:884213}, put that in.",
    "Driver's licence number {government_id:MORGA753116SM9IJ} for the rental at https://cars.example",
    "Mein Passwort lautet {password:Sonne!99} und meine PLZ ist {postal_code:20095}.",
    "Rechnungsadresse: {name:Paul Weber}, {street:Schillerplatz 4}, {postal_code:70173} {city:Stuttgart}",
    "Mon num\u{e9}ro de t\u{e9}l\u{e9}phone est {phone:06 12 34 56 78}, mon code postal est {postal_code:31000}.",
    "Mi tarjeta {card_number:5555 5555 5555 4444} caduca {card_expiry:05/30}, c\u{f3}digo de seguridad {card_code:999}",
    "Book for two guests, {name:Ann Lee} and {name:Bo Lee}, at https://hotel.example",
    "Return label goes to {street:1600 Pennsylvania Avenue NW}, {city:Washington}, {region:DC} {postal_code:20500}",
    "cardholder {name:ADA LANE}, number {card_number:378282246310005}, valid thru {card_expiry:09-27}, {card_code:1234}",
    "What's the weather in Berkeley, CA 94704?",
    "Plan a trip from 10 Main Street Station to the airport.",
    "Compare the iPhone 15 Pro for Verizon Wireless with the Pixel.",
    "List all flights to New York on 3/14 under 400 USD.",
    "Which code is faster, 123456 iterations in Rust or Go?",
    "Open https://shop.example and tell me if the password rules changed in 2024.",
    "Find the street address of the Louvre in Paris.",
    "Translate 'my name is' into Spanish.",
    "Add the 2026 calendar to my cart and use my saved address.",
    "Is the exp 12/29 yoghurt still fine to eat?",
];

/// Prompts that the author of the rules wrote without trying them; nothing was fitted to them: 38 of 43 values were found,
/// and one false value.
pub const UNTRIED: &[&str] = &[
    "Get me the red scarf from https://scarf.example. Send to {name:Olu Adeyemi}, {street:88 Kingsway Road}, {city:Leeds} {postal_code:LS1 4AP}. Visa {card_number:4111 1111 1111 1111}, {card_expiry:08/28}, {card_code:555}.",
    "I need to log in to https://mail.example. Email {email:olu@post.test}, password {password:Blue.Moon7}, code {one_time_code:551209}.",
    "Ich bin {?name:Karl Meier}, meine Adresse ist {street:Goethestra\u{df}e 12b}, {postal_code:80336} {city:M\u{fc}nchen}.",
    "Bestell den Tee an {name:Karl Meier}, {street:Am Hang 2}, {postal_code:8001} {city:Z\u{fc}rich}, {country:Schweiz}, Tel. {phone:+41 44 668 18 00}",
    "Mon adresse: {street:3 place Bellecour}, {postal_code:69002} {city:Lyon}. Mot de passe : {password:P@ris2025}",
    "Mi direcci\u{f3}n es {street:Avenida de Am\u{e9}rica 15}, {city:Valencia}. Mi nombre es {name:Iker Sanz}.",
    "renew my passport, number {government_id:533401245}, at https://gov.example",
    "Reserve under {name:Priya Nair}, phone {phone:+44 20 7946 0958}.",
    "The gift goes to my sister {name:Eva Berg}, {street:9 Hill Street}, {postal_code:5020} {city:Bergen}, {country:Norway}.",
    "Here is my card: {card_number:5555 5555 5555 4444}, valid until {card_expiry:01/2030}, CVC {card_code:808}.",
    "zip: {postal_code:60614}, city: {city:Chicago}, state: {region:IL}, {street:2400 N Lincoln Ave}",
    "my email is {email:sam@post.test} and my ssn {government_id:078-05-1120}",
    "Buy 3 of item 80336 and 12 of item 4111 at https://shop.example, ship by 12/29.",
    "How do I pronounce Goethestra\u{df}e? And who was Karl Marx?",
    "Look up the opening hours of the MoMA, 11 West 53rd Street, New York.",
    "Which passport do I need for Japan, and is 90 days enough?",
    "Set a reminder: code review at 10:30 on https://cal.example.",
    "Check if the card game Uno 2025 edition costs less than 15 EUR.",
    "Find flights for Christmas to San Francisco, 2 adults, from 12/20.",
    "Is the state of Texas bigger than France? Name: one source.",
];
