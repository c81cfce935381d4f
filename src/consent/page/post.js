// Sends the messages of the consent page to the guard over HTTP. The extension's page has another file of this name.
"use strict";

/** Sends a message, and returns the guard's answer; `last` if the page is closing and does not wait for it. */
const post = async (text, last) => {
  const response = await fetch("say", {
    method: "POST",
    mode: "same-origin",
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    keepalive: last,
    headers: { "Content-Type": "application/json", "X-Portcullis": "consent" },
    body: text,
  });
  return { status: response.status, body: response.ok ? await response.json() : null };
};
