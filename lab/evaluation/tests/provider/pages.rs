//! The pages of the shop and of the provider.

use crate::stage::{FRAME, SHOP, TOKEN};

/// A page, by host and path.
pub type Page = (&'static str, &'static str, String);

const NUMBER: &str = "<label>Card number <input id=number autocomplete=cc-number></label>";
const EXPIRY: &str = "<label>Expiry (MM/YY) <input id=expiry autocomplete=cc-exp></label>";
const CODE: &str = "<label>Security code <input id=code autocomplete=cc-csc></label>";

/// The script of a frame with fields: at the shop's word it has the provider make a token of them, and hands the token on.
/// `more` runs when the number has changed.
fn script(more: &str) -> String {
    format!(
        "<script>
        for (const el of document.querySelectorAll('input')) el.addEventListener('change', () => {{ {more} }});
        addEventListener('message', async (event) => {{
          if (event.data !== 'pay') return;
          const fields = [...document.querySelectorAll('input')].map((el) => el.id + '=' + el.value);
          const answer = await fetch('https://{TOKEN}/tokens', {{ method: 'POST', body: fields.join('&') }});
          parent.postMessage({{ token: await answer.text() }}, '*');
        }});</script>"
    )
}

/// The provider's frame with all fields. `host` is the host that serves it.
pub fn all_fields(host: &'static str, more: &str) -> Page {
    let form = format!("<form method=post action=https://{TOKEN}/tokens onsubmit=\"return false\">");
    (host, "/card", format!("{form}{NUMBER}<br>{EXPIRY}<br>{CODE}</form>{}", script(more)))
}

/// The provider's frames with one field each.
pub fn one_field_each() -> Vec<Page> {
    let of = |path, field: &str| (FRAME, path, format!("{field}{}", script("")));
    vec![of("/number", NUMBER), of("/expiry", EXPIRY), of("/code", CODE)]
}

/// The shop's checkout with these frames. Its button has each of them make a token, and then sends the order.
pub fn checkout(frames: &str) -> Page {
    checkout_at(SHOP, frames)
}

pub fn checkout_at(host: &'static str, frames: &str) -> Page {
    let body = format!(
        "<h1>Pay for the kettle</h1><p>Order total: 42.00 USD</p>{frames}<p><button id=pay>Place the order</button></p>
        <script>
        const tokens = [];
        const frames = () => [...document.querySelectorAll('iframe')];
        pay.onclick = () => frames().forEach((frame) => frame.contentWindow.postMessage('pay', '*'));
        addEventListener('message', async (event) => {{
          if (!event.data.token) return;
          tokens.push(event.data.token);
          if (tokens.length === frames().length) {{
            await fetch('/order', {{ method: 'POST', body: 'token=' + tokens.join() }});
            document.querySelector('h1').textContent = 'Thank you';
          }}
        }});</script>"
    );
    (host, "/checkout", body)
}

/// A shop whose button leads to the provider's own page with a form, as shops do that never show a field for a card.
pub fn leads_to(host: &str) -> Page {
    let body = format!(
        "<h1>Pay for the kettle</h1><p>Order total: 42.00 USD</p>
        <form method=post action=https://{host}/pay><input type=hidden name=order value=7><button>Go to payment</button></form>"
    );
    (SHOP, "/checkout", body)
}

/// The provider's own page, and where it leads once the card arrived.
pub fn hosted(host: &'static str, back: &str) -> [Page; 2] {
    let fields = [NUMBER, EXPIRY, CODE].map(|field| field.replace("id=", "name=")).join("<br>");
    let form = format!(
        "<h1>Our pay</h1><p>Order total: 42.00 USD</p>
        <form method=post action=/confirm>{fields}<br><button>Place the order</button></form>"
    );
    [(host, "/pay", form), (host, "/confirm", format!("see {back}"))]
}

/// The shop's page after the payment.
pub fn thanks() -> Page {
    (SHOP, "/thanks", "<h1>Thank you</h1>".to_owned())
}

/// A frame in the shop's page.
pub fn frame(host: &str, path: &str, attributes: &str) -> String {
    format!("<iframe src=https://{host}{path} width=420 height=130 title=\"Card\" {attributes}></iframe>")
}
