// Sends the consent page's messages to the worker, which passes them to the service unread. The page that the service
// shows in a browser of its own has another file of this name.
"use strict";

/** Sends a message, and gives the guard's answer. */
const post = (text) => chrome.runtime.sendMessage({ consent: text });
