import { DurableObject } from "cloudflare:workers";

// The least that sends events: an object that posts a body so many times, six at once, and keeps nothing.

interface SenderEnv {
  SENDER: DurableObjectNamespace<Sender>;
}

const AT_ONCE = 6;
const BODY = JSON.stringify({
  account: null,
  eventData: { type: "overlay.updated", data: { html: "x".repeat(400) } },
  padding: "x".repeat(350),
});

export class Sender extends DurableObject<SenderEnv> {
  async deliver(count: number, url: string): Promise<void> {
    let begun = 0;
    const lane = async (): Promise<void> => {
      while (begun++ < count) {
        const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: BODY });
        await response.body?.cancel();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }
}

export default {
  async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    await env.SENDER.getByName("sender").deliver(Number(searchParams.get("n")), searchParams.get("url") ?? "");
    return new Response("delivered");
  },
} satisfies ExportedHandler<SenderEnv>;
