// uWebSockets from npm, whose folder is the argument: one process, its own topics, nothing stored.
import { createRequire } from "node:module";

const uws = createRequire(import.meta.url)(process.argv[2] ?? "");
let seq = 0;

const app = uws
  .App()
  .ws("/connect", {
    idleTimeout: 0,
    upgrade: (response, request, context) => {
      const room = new URLSearchParams(request.getQuery()).get("room");
      const [key, protocol, extensions] = ["key", "protocol", "extensions"].map((name) => request.getHeader(`sec-websocket-${name}`));
      response.upgrade({ room }, key, protocol, extensions, context);
    },
    open: (socket) => socket.subscribe(socket.getUserData().room),
  })
  .post("/publish", (response, request) => {
    const room = new URLSearchParams(request.getQuery()).get("room");
    let text = "";
    response.onAborted(() => undefined);
    response.onData((part, isLast) => {
      text += Buffer.from(part).toString();
      if (!isLast) return;
      for (const broadcast of JSON.parse(text)) {
        seq++;
        app.publish(room, JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...broadcast }), false);
      }
      response.end("sent");
    });
  });

app.listen("127.0.0.1", 0, (socket) => {
  if (socket) process.send?.(uws.us_socket_local_port(socket));
});
