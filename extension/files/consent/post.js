// Brings what the consent page says to the worker, which carries it to the service unread. The page that the service
// shows in a browser of its own has another file of this name.
"use strict";

/** Sends a message, and gives the guard's answer. */
const post = (text) => chrome.runtime.sendMessage({ consent: text });
