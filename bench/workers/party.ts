import { getServerByName, Server } from "partyserver";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";

// partyserver as in its README, with hibernation, and with the same INSERT as the other contenders in the runtime.

interface PartyEnv {
  ROOM: DurableObjectNamespace<Room>;
}

export class Room extends Server {
  static override options = { hibernate: true };
  #seq = 0;

  override onStart(): void {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS frames (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)");
    this.#seq = this.ctx.storage.sql.exec<{ seq: number }>("SELECT coalesce(max(seq), 0) AS seq FROM frames").one().seq;
  }

  publish(broadcast: Broadcast): void {
    const seq = ++this.#seq;
    const body = JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...broadcast });
    this.ctx.storage.sql.exec("INSERT INTO frames (seq, at, body) VALUES (?, ?, ?)", seq, Date.now(), body);
    this.broadcast(body);
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const room = await getServerByName<Cloudflare.Env, Room>(env.ROOM, searchParams.get("room") ?? "");
    if (pathname === "/connect") return room.fetch(request);
    const broadcasts = await request.json<Broadcast[]>();
    await Promise.all(broadcasts.map((broadcast) => room.publish(broadcast)));
    return new Response("sent");
  },
} satisfies ExportedHandler<PartyEnv>;
