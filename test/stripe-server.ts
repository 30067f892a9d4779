import { env } from "cloudflare:workers";
import { receive } from "./stripe-stand-in.ts";

// Puts the stand-in for Stripe at the address that the Worker calls.

export { stripe, type Behaviour } from "./stripe-stand-in.ts";

const realFetch = globalThis.fetch;

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    return url.origin === env.TIFO_STRIPE_URL ? receive(url, init ?? {}) : realFetch(input, init);
  },
});
