// The guard's payment handler. It sends the browser's payment request to the guard, and the guard's answer to the page.
// It never rejects: a rejected answer would leave the browser's payment interface hanging.
"use strict";
const AUTHORIZE = "{{AUTHORIZE}}";

async function ask(event) {
  const reply = await fetch(AUTHORIZE, {
    method: "POST",
    mode: "same-origin",
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(30000),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      payment_request_origin: event.paymentRequestOrigin,
      top_origin: event.topOrigin,
      total: { currency: event.total.currency, value: event.total.value },
    }),
  });
  return reply.ok ? await reply.json() : { status: "denied" };
}

self.addEventListener("paymentrequest", (event) => {
  const methodName = event.methodData[0].supportedMethods;
  const answer = ask(event).catch(() => ({ status: "denied" }));
  event.respondWith(answer.then((details) => ({ methodName, details })));
});
