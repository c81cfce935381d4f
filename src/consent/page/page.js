// Shows one question of the guard, and sends one answer.
//
// Every word of a question is put on the page as text. A yes counts only where a person has had the page in
// front of them for a moment, with the focus on it: a click that was meant for another window, or begun before
// this one came up, is not an answer. The guard checks the moment again.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const nonce = location.hash.slice(1);
  // The address is not to stay in the history, nor in front of anybody who looks on.
  history.replaceState(null, "", location.pathname);

  let question = null;
  let over = false;
  let sending = false;
  // Since when the page is in front of the user, and when the time is up.
  let attendedSince = null;
  let deadline = 0;
  // The press that a click is the end of, and whether it began while a yes counted.
  let pressBeganArmed = null;

  const attended = () => document.visibilityState === "visible" && document.hasFocus();
  const armed = () =>
    !over && !sending && attended() && attendedSince !== null &&
    performance.now() - attendedSince >= question.look;

  // How it gets to the guard is another script's business: the page of an extension goes another way.
  const send = (message, last) => post(JSON.stringify(message), last);

  const end = (text) => {
    over = true;
    byId("code").value = "";
    byId("question").hidden = true;
    byId("notices").hidden = true;
    byId("answers").hidden = true;
    byId("end").hidden = false;
    byId("ending").textContent = text;
  };

  const say = async (message) => {
    if (over || sending) return;
    sending = true;
    tick();
    let response;
    try {
      response = await send({ nonce, subject: question.subject, ...message }, false);
      if (response.status === 200) return end(question.ended ?? response.body.said);
    } catch {
      return end("The guard does not answer any more. You can close this window.");
    }
    if (response.status !== 425) {
      return end("This question is closed. Your answer was not taken. You can close this window.");
    }
    sending = false;
    byId("hint").textContent = "That was too early. Please read the question first.";
  };

  const give = () => {
    const code = byId("code").value;
    if (/^[0-9]{3,4}$/.test(code)) {
      say({ code });
      byId("code").value = "";
    } else {
      byId("hint").textContent = "A security code has 3 or 4 digits.";
    }
  };

  // Whether a click, or the press of a key, is one that a person made here and now.
  const meant = (event, yes) => {
    if (!event.isTrusted || over || sending || document.visibilityState !== "visible") return false;
    if (!yes) return true;
    // A click of a mouse or finger has a press. One that is not known began on a button that was still disabled:
    // the browser says nothing of those. What helps people to use a page may click without.
    return armed() && (event.detail > 0 ? pressBeganArmed === true : pressBeganArmed !== false);
  };

  const button = (choice) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = choice.label;
    made.dataset.word = choice.word;
    made.className = choice.yes ? "yes" : "no";
    made.disabled = choice.yes;
    made.addEventListener("click", (event) => {
      if (meant(event, choice.yes)) say({ answer: choice.word });
    });
    return made;
  };

  const item = (text, details = []) => {
    const made = document.createElement("li");
    made.textContent = text;
    if (details.length > 0) {
      const inner = document.createElement("ul");
      inner.append(...details.map((detail) => item(detail)));
      made.append(inner);
    }
    return made;
  };

  const tick = () => {
    if (over || question === null) return;
    const now = performance.now();
    if (!attended()) attendedSince = null;
    else if (attendedSince === null) attendedSince = now;
    const ready = armed();
    for (const each of document.querySelectorAll("button.yes")) each.disabled = !ready;
    const left = Math.ceil((deadline - now) / 1000);
    if (left <= 0) return end(`The time is up. ${question.ended ?? "The answer is no. You can close this window."}`);
    byId("left").textContent = `${left} seconds left. ${question.lapse}`;
  };

  const show = (asked) => {
    question = asked;
    deadline = performance.now() + asked.left;
    const phrase = byId("phrase");
    phrase.className = asked.phrase === null ? "unset" : "set";
    phrase.textContent = asked.phrase ??
      "You have not chosen a phrase (portcullis vault phrase). With one, a page without it is not this page.";
    byId("title").textContent = asked.title;
    byId("asked").append(...asked.asked.map((each) => item(each.line, each.details)));
    byId("noticed").append(...asked.noticed.map((each) => item(each)));
    byId("notices").hidden = asked.noticed.length === 0;
    byId("choices").append(...asked.choices.map(button));
    byId("entry").hidden = asked.card === null;
    byId("question").hidden = false;
    byId("answers").hidden = false;
    if (asked.card === null) document.querySelector("button.no").focus();
    else byId("code").focus();
    tick();
    setInterval(tick, 50);
  };

  const unattended = () => {
    attendedSince = null;
    tick();
  };
  addEventListener("blur", unattended);
  document.addEventListener("visibilitychange", unattended);

  for (const began of ["pointerdown", "mousedown", "keydown"]) {
    addEventListener(
      began,
      (event) => {
        if (!event.isTrusted || question === null) return;
        // A key that is held down presses nothing a second time.
        if (event.repeat) return event.preventDefault();
        pressBeganArmed = began === "mousedown" && pressBeganArmed === false ? false : armed();
      },
      true,
    );
  }
  // After the click that it led to, if any.
  for (const ended of ["pointerup", "keyup", "pointercancel"]) {
    addEventListener(ended, () => setTimeout(() => { pressBeganArmed = null; }, 0), true);
  }

  addEventListener("keydown", (event) => {
    if (question === null || event.repeat || !meant(event, false)) return;
    if (event.key === "Escape") say({ answer: "no" });
    if (event.key === "Enter" && event.target === byId("code") && meant(event, true)) give();
  });
  byId("give").addEventListener("click", (event) => {
    if (meant(event, true)) give();
  });

  // Who closes the page says no.
  addEventListener("pagehide", () => {
    if (question === null || over || sending) return;
    over = true;
    send({ nonce, subject: question.subject, answer: "no" }, true).catch(() => {});
  });

  (async () => {
    let asked = null;
    try {
      const response = await send({ show: nonce }, false);
      if (response.status === 200) asked = response.body;
    } catch {
      // Told below.
    }
    if (asked === null) end("There is no question for this page. Nothing was agreed. You can close this window.");
    else show(asked);
  })();
})();
