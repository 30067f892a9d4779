import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { framesOf, protocolSchemas } from "./protocol-schemas.ts";

/** The realtime protocol as an AsyncAPI 3.0 document, generated from the Worker's own message schemas. */
export function asyncApiDocument() {
  const toViewer = framesOf("ServerFrame");
  const fromViewer = framesOf("ViewerFrame");
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Realtime",
      version: "2.0.0",
      description: [
        "The live connection of one channel. A viewer opens a WebSocket or, to receive only, Server-Sent Events at the same path plus `/events`.",
        "The first message is `welcome`. A message is one frame, or a JSON array of frames in order.",
        "Frames with a `seq` are ordered and stored: a client that reconnects with `epoch` and `seq` receives exactly the frames it missed.",
        `The server replies to the text \`ping\` with \`pong\`. Close codes: ${closeCodes()}.`,
      ].join(" "),
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: {
      deployment: {
        host: "{host}",
        protocol: "wss",
        variables: { host: { description: "Host of the deployment", default: "localhost:8787" } },
      },
    },
    channels: {
      channel: {
        address: "/realtime/v1/channels/{channelId}",
        parameters: { channelId: { description: "Id of a page of type channel" } },
        bindings: { ws: { method: "GET", query: QUERY, bindingVersion: "0.1.0" } },
        messages: messagesOf([...toViewer, ...fromViewer]),
      },
    },
    operations: {
      receive: operationOf("receive", "What the server sends to a viewer", toViewer),
      send: operationOf("send", "What a viewer sends to the server", fromViewer),
    },
    components: { schemas: protocolSchemas() },
  };
}

const QUERY = {
  type: "object",
  required: ["clientId"],
  properties: {
    clientId: { type: "string", description: "The site's id" },
    ticket: { type: "string", description: "Single-use ticket from `POST /realtime/v1/tickets`; without one, the viewer is anonymous" },
    deviceId: { type: "string", description: "Identifies the device across connections" },
    epoch: { type: "string", description: "The `epoch` of the last `welcome`, to resume" },
    seq: { type: "integer", description: "The last `upTo`, to resume" },
  },
};

type Frames = ReturnType<typeof framesOf>;

function messagesOf(frames: Frames) {
  return Object.fromEntries(
    frames.map(({ name, type, description }) => [name, { name: type, summary: description, payload: { $ref: schemaOf(name) } }]),
  );
}

/** Directions are from the viewer application's point of view. */
function operationOf(action: "send" | "receive", summary: string, frames: Frames) {
  return {
    action,
    summary,
    channel: { $ref: "#/channels/channel" },
    messages: frames.map(({ name }) => ({ $ref: `#/channels/channel/messages/${name}` })),
  };
}

function schemaOf(name: string): string {
  return `#/components/schemas/${name}`;
}

function closeCodes(): string {
  return Object.entries(CLOSE)
    .map(([name, code]) => `${code} ${name}`)
    .join(", ");
}
