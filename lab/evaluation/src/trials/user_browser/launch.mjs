// A person's Chromium with the extension in it, on a profile of its own.
import { createRequire } from 'node:module';

export const launch = (settings, height) => {
  const { playwright, profile, home, extension, executable, sandbox, rules } = settings;
  const { chromium } = createRequire(import.meta.url)(playwright);
  return chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    chromiumSandbox: sandbox,
    env: { ...process.env, HOME: home },
    viewport: { width: 1000, height },
    args: [
      `--disable-extensions-except=${extension}`,
      `--load-extension=${extension}`,
      `--host-resolver-rules=${rules}`,
    ],
  });
};
