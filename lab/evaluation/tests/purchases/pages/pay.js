// The script of every page of the shop and of the attacker: it asks for a payment, redeems the token, and reports the
// result to the shop's server. METHOD is the wallet's or the guard's payment method.
const METHOD = "{{METHOD}}";
const tell = (words) => fetch("/report", { method: "POST", body: words }).catch(() => {});
const cash = (token, value, currency) =>
  fetch("/redeem", { method: "POST", body: JSON.stringify({ token, value, currency }) });
async function pay(name, value, { currency = "USD", data, update } = {}) {
  try {
    const total = { label: "Total", amount: { currency, value } };
    const request = new PaymentRequest([{ supportedMethods: METHOD, data }], { total });
    const response = await request.show(update);
    await response.complete("success");
    const { status, token, tokens } = response.details;
    const asked = update ? (await update).total.amount.value : value;
    for (const one of tokens || [token].filter(Boolean)) await cash(one, asked, currency);
    await tell(`${name}: ${status}`);
  } catch (error) {
    await tell(`${name}: ${error.name}`);
  }
}
