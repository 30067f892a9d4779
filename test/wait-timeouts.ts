import { vi } from "vitest";

// `vi.waitFor` and `vi.waitUntil` give up after a second, which a busy machine exceeds: here they wait until their test ends. A test
// that waits in vain says so a little before its own limit, since the runner's message would not name what was waited for.

const WAIT_MS = 540_000;
const { waitFor, waitUntil } = vi;

type Options = Parameters<typeof waitFor>[1];

vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));

function patient(options: Options): Options {
  return { timeout: WAIT_MS, ...(typeof options === "number" ? { timeout: options } : options) };
}
