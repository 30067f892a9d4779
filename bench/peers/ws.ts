import { type WebSocket, WebSocketServer } from "ws";
import { createPeer, listen, roomOf } from "./serve.ts";

// `ws` on Node.js: one process, rooms in memory, nothing stored.

const rooms = new Map<string, Set<WebSocket>>();

const server = createPeer((room, body) => {
  for (const socket of rooms.get(room) ?? []) socket.send(body);
});

new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket, request) => {
  const room = roomOf(request);
  const sockets = rooms.get(room) ?? new Set();
  rooms.set(room, sockets.add(socket));
  socket.on("close", () => sockets.delete(socket));
});
listen(server);
