// uWebSockets from npm, whose folder is the argument: one process, its own topics, nothing stored.
import { createRequire } from "node:module";
import { z } from "@hono/zod-openapi";

/** What is used of the module, which isn't one of the project's packages. */
interface Module {
  App(): App;
  us_socket_local_port(socket: unknown): number;
}
interface App {
  ws(path: string, behavior: Behavior): App;
  post(path: string, handler: (response: Response, request: Request) => void): App;
  publish(topic: string, message: string, isBinary: boolean): void;
  listen(host: string, port: number, listening: (socket: unknown) => void): App;
}
interface Behavior {
  idleTimeout: number;
  upgrade: (response: Response, request: Request, context: unknown) => void;
  open: (socket: Socket) => void;
}
interface Request {
  getQuery(): string;
  getHeader(name: string): string;
}
interface Response {
  upgrade(data: { room: string }, key: string, protocol: string, extensions: string, context: unknown): void;
  onAborted(handler: () => void): void;
  onData(handler: (part: ArrayBuffer, isLast: boolean) => void): void;
  end(text: string): void;
}
interface Socket {
  subscribe(topic: string): void;
  getUserData(): { room: string };
}

const Broadcasts = z.array(z.record(z.string(), z.unknown()));
const uws = z.custom<Module>((loaded) => loaded !== undefined).parse(createRequire(import.meta.url)(process.argv[2] ?? ""));
let seq = 0;

const roomOf = (request: Request): string => new URLSearchParams(request.getQuery()).get("room") ?? "";

const app = uws
  .App()
  .ws("/connect", {
    idleTimeout: 0,
    upgrade: (response, request, context) => {
      const header = (name: string): string => request.getHeader(`sec-websocket-${name}`);
      response.upgrade({ room: roomOf(request) }, header("key"), header("protocol"), header("extensions"), context);
    },
    open: (socket) => socket.subscribe(socket.getUserData().room),
  })
  .post("/publish", (response, request) => {
    const room = roomOf(request);
    let text = "";
    response.onAborted(() => undefined);
    response.onData((part, isLast) => {
      text += Buffer.from(part).toString();
      if (!isLast) return;
      for (const broadcast of Broadcasts.parse(JSON.parse(text))) {
        seq++;
        app.publish(room, JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...broadcast }), false);
      }
      response.end("sent");
    });
  });

app.listen("127.0.0.1", 0, (socket) => {
  if (socket) process.send?.(uws.us_socket_local_port(socket));
});
