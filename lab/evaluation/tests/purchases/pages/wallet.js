// Pays every request.
"use strict";
self.addEventListener("paymentrequest", (event) => {
  const { supportedMethods, data } = event.methodData[0];
  const asked = { payee: event.paymentRequestOrigin, total: event.total, times: (data && data.instalments) || 1 };
  const paid = fetch("/authorize", { method: "POST", body: JSON.stringify(asked) }).then((answer) => answer.json());
  event.respondWith(paid.then((details) => ({ methodName: supportedMethods, details })));
});
