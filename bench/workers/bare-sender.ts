import { DurableObject } from "cloudflare:workers";

// The minimum that sends events: an object that posts a body repeatedly, six in parallel, and stores nothing.

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
  #count = 0;

  prepare(count: number): void {
    this.#count = count;
  }

  async deliver(url: string): Promise<void> {
    let sent = 0;
    const lane = async (): Promise<void> => {
      while (sent++ < this.#count) {
        const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: BODY });
        await response.body?.cancel();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const sender = env.SENDER.getByName("sender");
    if (pathname === "/prepare") await sender.prepare(Number(searchParams.get("n")));
    else await sender.deliver(searchParams.get("url") ?? "");
    return new Response("done");
  },
} satisfies ExportedHandler<SenderEnv>;
