import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./command.ts";
import { Problem, step } from "./report.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PATHS = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

/** Path of Chromium on this machine: CHROMIUM_PATH, or else one of the usual locations. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== "") return named;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...PATHS];
  return candidates.find(isExecutable);
}

/** Path of Chromium, which is installed first if possible: as root on Debian. */
export async function requireChromium(): Promise<string> {
  const found = findChromium();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && isExecutable("/usr/bin/apt-get")) await step("Installing Chromium for the browser tests", install);
  const installed = findChromium();
  if (installed !== undefined) return installed;
  throw new Problem("The browser tests need Chromium: install it, or set CHROMIUM_PATH to your copy.");
}

async function install(): Promise<void> {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update", "-qq"], { env });
  await run("apt-get", ["install", "-qq", "-y", "--no-install-recommends", "chromium"], { env });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
