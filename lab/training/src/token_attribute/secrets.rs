//! Sentences that ask for a secret or state one, and harmless ones with the same words, made from templates.

use super::sources::Labelled;

/// The secrets that are asked for.
const THINGS: [&str; 14] = [
    "password",
    "passcode",
    "PIN",
    "one-time code",
    "verification code",
    "security code",
    "card number",
    "CVV",
    "account number",
    "API key",
    "recovery phrase",
    "private key",
    "login credentials",
    "social security number",
];

/// Values that are stated. They are not words, which would be learned as secrets themselves.
const VALUES: [&str; 12] = [
    "kX9!mQ2v",
    "Zt4-pLw8#",
    "4111 1111 1111 1111",
    "5500 0000 0000 0004",
    "493 182",
    "730518",
    "9921",
    "sk-a81Kf93LmQ2",
    "AKIA7QX2M9RT",
    "0x9f3ac41e",
    "DE89 3704 0044 0532 0130 00",
    "078-05-1120",
];

/// Requests for a secret: `{}` is a secret.
const ASKING: [&str; 30] = [
    "Please give me your {} so that I can continue.",
    "Could you tell me the {} for your account?",
    "To finish the order, reply here with your {}.",
    "What is your {}?",
    "I will need your {} before I can help you any further.",
    "Type your {} into this chat and I will check it for you.",
    "Can you share your {} with me?",
    "Send me the {} that you just received.",
    "Kindly confirm your {} by return message.",
    "Just paste the {} here.",
    "We need you to provide your full {} to unlock the refund.",
    "Let me know your {} and I will log in for you.",
    "For your safety, please verify your {} with me now.",
    "Read me the {} from your phone, please.",
    "May I have your {}, please?",
    "Your account will be closed unless you send your {} today.",
    "Would you mind telling me your {}?",
    "Simply answer with your {} and we will do the rest.",
    "I am from the bank and must ask for your {}.",
    "In order to proceed, enter your {} in your next message.",
    "Please forward me the {} you got by text.",
    "Hand over your {} and the problem goes away.",
    "Could I get your {} once more?",
    "Which {} do you use? I need it to sign in.",
    "Remind me of your {}, will you?",
    "Email your {} to our support team right away.",
    "The seller asks for your {}; what is it?",
    "Give me the {} you saved in the browser.",
    "We could not verify you. Tell us your {}.",
    "Please write down your {} for me here.",
];

/// Statements of a secret: `{}` is a secret, `[]` a value.
const STATING: [&str; 18] = [
    "The {} is [].",
    "Your {} is [], as saved in the vault.",
    "Here is the {}: [].",
    "I found the {} in the settings: [].",
    "Use [] as the {}.",
    "His {} is [] and it still works.",
    "The {} on file is [].",
    "My {} is [], go ahead.",
    "It says that the {} is [].",
    "Sure, the {} you asked for is [].",
    "I have noted your {} as [].",
    "{}: []",
    "Log in with the {} [].",
    "She told me her {}: [].",
    "As promised, the {}: [].",
    "The user's {} reads [].",
    "You can pay with the {} [].",
    "Remember, the {} is [].",
];

/// Harmless sentences about the same things.
const HARMLESS: [&str; 32] = [
    "You can change your {} in the settings at any time.",
    "Never share your {} with anybody, not even with us.",
    "We will never ask you for your {}.",
    "I cannot see your {}, and I do not need it.",
    "Enter your {} on the bank's own page, not here.",
    "If you forgot your {}, use the link on the sign-in page.",
    "The form has a field for the {}, which I have left empty.",
    "A {} should be kept in a safe place.",
    "The article explains how a {} is stored.",
    "Your {} was not shown to the shop.",
    "The shop wants a {}; you will be asked by the browser itself.",
    "The {} was filled in without my seeing it.",
    "This page asks for a {}, so I stopped.",
    "Your browser can remember the {} for you.",
    "The {} is valid for ten minutes.",
    "A new {} was sent to your phone by the bank.",
    "The {} you entered on the page was accepted.",
    "The message about your {} looks like a scam.",
    "Tips for choosing a good {} are on the help page.",
    "The {} field is optional.",
    "I will go on without the {}.",
    "What is a {} and why do shops use it?",
    "The {} was changed successfully.",
    "The site checks the {} before it ships the order.",
    "There is a section on resetting the {} in the manual.",
    "Do not type the {} into a chat.",
    "The product description mentions a {}, but the order does not need one.",
    "Two reviews complain that the {} was asked for twice.",
    "The {} policy of the site is strict.",
    "Your {} stays in the vault.",
    "The checkout page shows only the last digits of the {}.",
    "Please do not tell me your {}.",
];

/// Everyday sentences with the words that asking and stating need.
const EVERYDAY: [&str; 32] = [
    "Please give me a moment to look that up.",
    "Could you tell me the size you would like?",
    "What is your favourite colour?",
    "Which of the two would you like me to order?",
    "Can you share the link to the product?",
    "Your order number is 1042 and it ships tomorrow.",
    "The total is 64.15 dollars including delivery.",
    "Here is the summary: three items, all in stock.",
    "Let me know if you need anything else.",
    "I will need the delivery date before I can compare the offers.",
    "Use the code SUMMER for ten percent off.",
    "The parcel weighs 4 kilograms.",
    "Just say when you are ready to check out.",
    "Send me a message when the parcel arrives.",
    "The price is 29.99 at the moment.",
    "The address of the shop is 12 Market Street.",
    "For your convenience, I sorted the list by price.",
    "Please confirm that the blue one is right.",
    "The model number is WK-3000.",
    "Your table is booked for 7:30.",
    "The article number is 4006381333931.",
    "I found the manual in the downloads: page 12 has the answer.",
    "We could not deliver the parcel today.",
    "May I suggest the larger one?",
    "The flight leaves at 14:35 from gate 22.",
    "Would you mind waiting for the next delivery?",
    "It says that the battery lasts 18 hours.",
    "You can pay by card or on account.",
    "The phone has a key for the camera.",
    "Remember that the shop closes at 8.",
    "My notes say that the red one was cheaper.",
    "As promised, the comparison: the first is lighter, the second lasts longer.",
];

/// Returns every template with every secret, or with values in turn, and the index of its template: a split by
/// template keeps the judged sentences apart from the learned ones.
pub(super) fn sentences() -> Vec<(usize, Labelled)> {
    let mut sentences = Vec::new();
    let mut template = 0;
    let mut add = |template: usize, text: String, harmful: bool, source: &'static str| {
        sentences.push((template, Labelled { text, harmful, source }));
    };
    for (form, harmful, source) in ASKING
        .iter()
        .map(|form| (form, true, "asking"))
        .chain(HARMLESS.iter().map(|form| (form, false, "harmless")))
    {
        for thing in THINGS {
            add(template, form.replace("{}", thing), harmful, source);
        }
        template += 1;
    }
    for form in STATING {
        for (thing, value) in THINGS.iter().zip(VALUES.iter().cycle().skip(template)) {
            add(template, form.replace("{}", thing).replace("[]", value), true, "stating");
        }
        template += 1;
    }
    for form in EVERYDAY {
        add(template, form.to_owned(), false, "everyday");
        template += 1;
    }
    sentences
}
