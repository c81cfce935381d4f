// Brings what the consent page says to the guard, over HTTP. The page of an extension has another file of this name.
"use strict";

/** Sends a message, and gives the guard's answer; `last` where the page is left and nobody waits for it. */
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
