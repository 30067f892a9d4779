import { z } from "@hono/zod-openapi";
import { inject } from "vitest";
import type { TestSite } from "./harness.ts";
import { type Behaviour, SeenCall } from "./stream-provider.ts";

// The stream provider as the Worker reaches it: a public https host that forwards to the server of test/stream-provider.ts.

const HOST = "https://streams.demo.example";
const realFetch = globalThis.fetch;

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    return url.origin === HOST ? realFetch(inject("streamProvider") + url.pathname, init) : realFetch(input, init);
  },
});

const Registered = z.object({ id: z.string(), authorization: z.string() });

/** The body that registers a provider of this name; at the stand-in server, its customer is the site. */
export function providerInput(site: TestSite, name = "wowza") {
  const url = (call: string): string => `${HOST}/${site.id}-${name}/${call}`;
  return {
    name,
    canGenerateCaptions: true,
    canSupport4K: false,
    createStream: url("create"),
    deleteStream: url("delete"),
    startStream: url("start"),
    stopStream: url("stop"),
  };
}

export async function registerProvider(site: TestSite, name = "wowza"): Promise<z.infer<typeof Registered>> {
  return (await site.call("registerStreamProvider", { as: "developer", body: providerInput(site, name) })).as(Registered);
}

const names = new Map<string, Promise<string>>();

/** The name of a site's working provider, registered on the first call. */
export function workingProvider(site: TestSite): Promise<string> {
  let name = names.get(site.id);
  if (!name) names.set(site.id, (name = registerProvider(site, "contract").then(() => "contract")));
  return name;
}

/** Sets how a site's provider behaves from now on. */
export async function behave(site: TestSite, behaviour: Behaviour, name = "wowza"): Promise<void> {
  await realFetch(`${inject("streamProvider")}/${site.id}-${name}/behaviour`, { method: "PUT", body: JSON.stringify(behaviour) });
}

/** The calls that a site's provider has received, oldest first. */
export async function providerCalls(site: TestSite, name = "wowza"): Promise<SeenCall[]> {
  return z.array(SeenCall).parse(await (await realFetch(`${inject("streamProvider")}/${site.id}-${name}/calls`)).json());
}
