import { DurableObject } from "cloudflare:workers";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";

// The minimum for a Durable Object: store the frame, send it to every socket.

interface RoomEnv {
  ROOM: DurableObjectNamespace<Room>;
}

export class Room extends DurableObject<RoomEnv> {
  #seq: number;

  constructor(ctx: DurableObjectState, env: RoomEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS frames (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)");
    this.#seq = ctx.storage.sql.exec<{ seq: number }>("SELECT coalesce(max(seq), 0) AS seq FROM frames").one().seq;
  }

  override async fetch(): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  publish(broadcast: Broadcast): void {
    const seq = ++this.#seq;
    const body = JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...broadcast });
    this.ctx.storage.sql.exec("INSERT INTO frames (seq, at, body) VALUES (?, ?, ?)", seq, Date.now(), body);
    for (const socket of this.ctx.getWebSockets()) socket.send(body);
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const room = env.ROOM.getByName(searchParams.get("room") ?? "");
    if (pathname === "/connect") return room.fetch(request);
    const broadcasts = await request.json<Broadcast[]>();
    await Promise.all(broadcasts.map((broadcast) => room.publish(broadcast)));
    return new Response("sent");
  },
} satisfies ExportedHandler<RoomEnv>;
