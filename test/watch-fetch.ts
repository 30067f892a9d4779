import { env } from "cloudflare:workers";
import { vi } from "vitest";

/** The hosts of the tests' webhooks (`webhook-inbox.ts`). */
const WEBHOOK = /^https:\/\/hooks[-.]/;

/** Responds to a call of `fetch`; undefined lets it pass. */
type Respond = (url: string, toRequest: () => Request) => Response | Promise<Response> | undefined;

/**
 * The URLs that the Worker fetches from now on, until `restore` or `vi.restoreAllMocks`. Webhooks aren't among them, nor are look-ups of
 * names: files share the Worker, and another file's site may send a webhook at any moment.
 */
export function watchFetch(respond: Respond = () => undefined): { urls: string[]; restore: () => void } {
  const pass = globalThis.fetch;
  const urls: string[] = [];
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (WEBHOOK.test(url) || url.startsWith(env.TIFO_DNS_URL)) return pass(input, init);
    urls.push(url);
    return (await respond(url, () => new Request(input, init))) ?? pass(input, init);
  });
  return { urls, restore: () => spy.mockRestore() };
}
