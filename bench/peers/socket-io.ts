import { Server } from "socket.io";
import { createPeer, listen } from "./serve.ts";

// socket.io on Node.js, WebSocket transport only: one process, rooms in memory, nothing stored.

const server = createPeer((room, body) => io.to(room).emit("overlay", body));
const io = new Server(server, { transports: ["websocket"], perMessageDeflate: false });

io.on("connection", (socket) => {
  void socket.join(String(socket.handshake.query["room"]));
});
listen(server);
