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

// Node passes on the three standard descriptors alone, and an option such as `--passphrase-fd 3` names another one.
const given = process.argv.slice(2);
const stdio = ["inherit", "inherit", "inherit"];
given.forEach((option, at) => {
  const named = /^--[a-z-]+-fd(?:=(\d+))?$/.exec(option);
  const number = named ? Number(named[1] ?? given[at + 1]) : NaN;
  if (Number.isInteger(number) && number > 2 && number < 256) {
    while (stdio.length <= number) stdio.push("ignore");
    stdio[number] = number;
  }
});

const child = spawn(program, given, { stdio });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`portcullis-guard: ${program} does not start: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
