import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { StreamProvider } from "./schemas.ts";

const ids = { streamprovider: "5eed0000000000000e005001" };

const streamHost = "https://streams.demo.example";

export const events = eventsOf(
  {
    services: ["stream-service-v1"],
    ids,
    samples: [
      [
        /^stream\.provider/,
        {
          _id: ids.streamprovider,
          name: "wowza",
          canGenerateCaptions: true,
          canSupport4K: true,
          createStream: `${streamHost}/create`,
          deleteStream: `${streamHost}/delete`,
          startStream: `${streamHost}/start`,
          stopStream: `${streamHost}/stop`,
        },
      ],
    ],
  },
  {
    "stream.providerChanged": {
      data: StreamProvider,
      description: "A stream provider's registration was updated",
      resource: "streamprovider/_id",
    },
    "stream.providerRegistered": { data: StreamProvider, description: "A stream provider was registered", resource: "streamprovider/_id" },
    "stream.providerRemoved": { data: StreamProvider, description: "A stream provider was removed", resource: "streamprovider/_id" },
  },
);
