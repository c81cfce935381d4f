// Shows one question of the guard, and sends one answer.
//
// Every word of a question is put on the page as text. A yes counts only after the page was visible and focused for a
// moment and every line of it was in view: a click that was meant for another window, or that began before this one
// appeared, is not an answer. The guard checks the time again; it cannot check which lines were in view.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const nonce = location.hash.slice(1);
  // The address is secret, so it is removed from the history and from the address bar.
  history.replaceState(null, "", location.pathname);

  let question = null;
  let over = false;
  let sending = false;
  // The times since which the page has been attended, and since which no line is left to see; and the deadline.
  let attendedSince = null;
  let seenSince = null;
  // The lines that were not completely in view yet, each with whether its beginning and its end were.
  let unseen = [];
  let deadline = 0;
  // Whether the press that is under way began while a yes counted; null without a press.
  let pressBeganArmed = null;

  const attended = () => document.visibilityState === "visible" && document.hasFocus();
  const armed = () =>
    !over && !sending && attended() && attendedSince !== null && seenSince !== null &&
    performance.now() - Math.max(attendedSince, seenSince) >= question.look;

  // Another script has the transport, since the extension's page uses another one.
  const send = (message, last) => post(JSON.stringify(message), last);

  const end = (text) => {
    over = true;
    byId("code").value = "";
    byId("question").hidden = true;
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
    // Sites write codes in groups.
    const code = byId("code").value.replaceAll(/[\s-]/g, "");
    const { least, most, wrong } = question.code;
    if (/^[0-9A-Za-z]+$/.test(code) && code.length >= least && code.length <= most) {
      say({ code });
      byId("code").value = "";
    } else {
      byId("hint").textContent = wrong;
    }
  };

  // Whether a person made this click or key press on this page now.
  const meant = (event, yes) => {
    if (!event.isTrusted || over || sending || document.visibilityState !== "visible") return false;
    if (!yes) return true;
    // A click of a mouse or finger has a press. If none is known, it began on a button that was still disabled, for which
    // the browser sends no event. Assistive technology may click without a press.
    return armed() && (event.detail > 0 ? pressBeganArmed === true : pressBeganArmed !== false);
  };

  const button = (choice) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = choice.label;
    button.dataset.word = choice.word;
    button.className = choice.yes ? "yes" : "no";
    button.disabled = choice.yes;
    button.addEventListener("click", (event) => {
      if (!meant(event, choice.yes)) return;
      say(choice.account === undefined ? { answer: choice.word } : { account: choice.account });
    });
    return button;
  };

  const made = (tag, name, text) => {
    const element = document.createElement(tag);
    element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // A line that has to be in view before a yes counts.
  const line = (element) => {
    unseen.push({ element, began: false, ended: false });
    return element;
  };

  const list = (name, items) => {
    const element = made("ul", name);
    element.append(...items);
    return element;
  };

  const site = ({ name, whole }) => {
    const element = line(made("li", ""));
    element.append(made("bdi", "site", name));
    if (whole !== null) element.append(" ", made("bdi", "whole", whole));
    return element;
  };

  const item = ({ act, sites, plain, quoted }) => {
    const element = made("li", "");
    element.append(line(made("p", question.ended === null ? "act" : "act told", act)));
    if (sites.length > 0) element.append(list("sites", sites.map(site)));
    if (plain.length > 0) element.append(list("plain", plain.map((text) => line(made("li", "", text)))));
    if (quoted.length > 0) {
      const box = made("div", "quoted");
      box.append(line(made("p", "from", "The page says, and nobody checked it:")));
      box.append(list("", quoted.map((text) => line(made("li", "", `\u201C${text}\u201D`)))));
      element.append(box);
    }
    return element;
  };

  // The part of the window that no bar of the page covers.
  const room = () => {
    const [top, bottom] = [byId("top"), byId("answers")];
    const stays = (bar) => getComputedStyle(bar).position === "sticky";
    return {
      from: stays(top) ? Math.max(0, top.getBoundingClientRect().bottom) : 0,
      to: stays(bottom) ? Math.min(innerHeight, bottom.getBoundingClientRect().top) : innerHeight,
    };
  };

  const look = () => {
    if (over || question === null || !attended()) return;
    const { from, to } = room();
    unseen = unseen.filter((each) => {
      const { top, bottom, left, right } = each.element.getBoundingClientRect();
      // The browser's zoom may round by a pixel.
      const within = (edge) => edge >= from - 1 && edge <= to + 1 && left >= -1 && right <= innerWidth + 1;
      each.began ||= within(top);
      each.ended ||= within(bottom);
      return !(each.began && each.ended);
    });
    if (unseen.length === 0) seenSince ??= performance.now();
    const waits = unseen.length > 0 && 
      (question.code !== null || question.accounts.length > 0 || question.choices.some((choice) => choice.yes));
    if (byId("rest").hidden === waits) {
      // The focused button shows the rest first, and means no after that.
      const [now, next] = [document.querySelector("button.no"), byId("more")];
      const held = document.activeElement === (waits ? now : next);
      byId("rest").hidden = !waits;
      if (held) (waits ? next : now).focus({ preventScroll: true });
    }
    const count = unseen.length === 1 ? "1 line was" : `${unseen.length} lines were`;
    const text = `${count} not in view yet.`;
    if (byId("unseen").textContent !== text) byId("unseen").textContent = text;
  };

  // Scrolls to the first line that was not in view, or further through one that is longer than the window.
  const more = () => {
    const next = unseen[0]?.element.getBoundingClientRect();
    if (next === undefined) return;
    const { from, to } = room();
    const step = Math.max(20, 0.8 * (to - from));
    const inside = next.top < to && next.bottom > from && next.bottom - next.top > to - from;
    scrollBy({ top: inside ? step : next.top - from - 8, behavior: "instant" });
    look();
  };

  const tick = () => {
    if (over || question === null) return;
    const now = performance.now();
    if (!attended()) attendedSince = null;
    else if (attendedSince === null) attendedSince = now;
    look();
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
    byId("warned").append(...asked.warnings.map((each) => line(made("li", "", each))));
    byId("warnings").hidden = asked.warnings.length === 0;
    byId("asked").append(...asked.asked.map(item));
    const account = (label, at) => ({ word: `account ${at + 1}`, label, yes: true, account: `${at + 1}` });
    byId("choices").append(...asked.accounts.map(account).map(button), ...asked.choices.map(button));
    byId("entry").hidden = asked.code === null;
    byId("codename").textContent = asked.code?.name ?? "";
    byId("codenote").textContent = asked.code?.note ?? "";
    byId("question").hidden = false;
    byId("answers").hidden = false;
    if (asked.code === null) document.querySelector("button.no").focus({ preventScroll: true });
    else byId("code").focus({ preventScroll: true });
    tick();
    setInterval(tick, 50);
  };

  const unattended = () => {
    attendedSince = null;
    tick();
  };
  for (const moved of ["scroll", "resize"]) addEventListener(moved, look, true);
  byId("more").addEventListener("click", more);
  addEventListener("blur", unattended);
  document.addEventListener("visibilitychange", unattended);

  for (const began of ["pointerdown", "mousedown", "keydown"]) {
    addEventListener(
      began,
      (event) => {
        if (!event.isTrusted || question === null) return;
        // A key that is held down does not press a button again.
        if (event.repeat) return event.preventDefault();
        pressBeganArmed = began === "mousedown" && pressBeganArmed === false ? false : armed();
      },
      true,
    );
  }
  // The press is forgotten after the click that it led to, if any.
  for (const ended of ["pointerup", "keyup", "pointercancel"]) {
    addEventListener(ended, () => setTimeout(() => { pressBeganArmed = null; }, 0), true);
  }

  addEventListener("keydown", (event) => {
    if (question === null || event.repeat || !meant(event, false)) return;
    if (event.key === "Escape" && question.leaving) say({ answer: "no" });
    if (event.key === "Enter" && event.target === byId("code") && meant(event, true)) give();
  });
  byId("give").addEventListener("click", (event) => {
    if (meant(event, true)) give();
  });

  // Closing the page means no. For an offer to finish manually it means nothing, since the user may still be at it.
  addEventListener("pagehide", () => {
    if (question === null || over || sending || !question.leaving) return;
    over = true;
    send({ nonce, subject: question.subject, answer: "no" }, true).catch(() => {});
  });

  (async () => {
    let asked = null;
    try {
      const response = await send({ show: nonce }, false);
      if (response.status === 200) asked = response.body;
    } catch {
      // The text below reports it.
    }
    if (asked === null) end("There is no question for this page. Nothing was agreed. You can close this window.");
    else show(asked);
  })();
})();
