#!/usr/bin/env node
// Starts the program that the package of this platform holds, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `portcullis-guard-${process.platform}-${process.arch}`;
let program;
try {
  // Looked up beside this file, and never in the folder where it is started.
  program = require.resolve(`${platform}/bin/portcullis`, { paths: [__dirname] });
} catch {
  console.error(
    `portcullis-guard: the package ${platform} is not installed. Either npm was told to leave optional packages out, or there is ` +
      "none for this system yet: build it with `cargo install portcullis-cli`"
  );
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`portcullis-guard: ${program} does not start: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
