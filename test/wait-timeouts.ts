import { vi } from "vitest";

// `vi.waitFor` and `vi.waitUntil` time out after a second by default, which is too short on a busy machine. Here they time out shortly
// before their test does, so that the error shows the condition.

const WAIT_MS = 540_000;
const { waitFor, waitUntil } = vi;

type Options = Parameters<typeof waitFor>[1];

vi.waitFor = (callback, options) => waitFor(callback, withTimeout(options));
vi.waitUntil = (callback, options) => waitUntil(callback, withTimeout(options));

function withTimeout(options: Options): Options {
  return { timeout: WAIT_MS, ...(typeof options === "number" ? { timeout: options } : options) };
}
