import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { wrongUsage } from "../lib/failure.ts";
import { parseId } from "../lib/origin.ts";
import { openPublicSite, openSite } from "../lib/session.ts";
import { followEvents } from "../lib/follow-events.ts";
import { followFrames } from "../lib/follow-frames.ts";

const DEFAULT_INTERVAL = 2;

export const tail: Command = {
  name: "tail",
  summary: "Follow the events of a site's log, or the frames of a channel.",
  details: [
    "Without --channel, prints each event of the site's log once, in order. With --channel, opens the WebSocket that viewers",
    "use and prints each frame. Both continue after a lost connection without a gap; if one can't be avoided, a note says so.",
  ].join("\n"),
  options: {
    ...SITE_OPTIONS,
    channel: { type: "string", value: "<id>", description: "Follow this channel's frames" },
    after: {
      type: "string",
      value: "<sequence>",
      description: "Events: start after this sequence; 0 for the oldest. By default, from now",
    },
    types: { type: "string", value: "<list>", description: "Only these types, comma-separated" },
    interval: { type: "string", value: "<seconds>", description: `Events: how often to ask for new ones. Default: ${DEFAULT_INTERVAL}` },
    count: { type: "string", value: "<n>", description: "Exit after this many" },
    ...JSON_OPTION,
  },
  examples: [
    "tifo tail",
    "tifo tail --types overlay.broadcast,poll.responded --json",
    "tifo tail --after 0 --count 100 --json > events.jsonl",
    "tifo tail --channel 5eed0000000000000000c001",
  ],
  async run(values, io) {
    const count = values.integer("count", 1) ?? Infinity;
    const types = values
      .text("types")
      ?.split(",")
      .map((type) => type.trim());
    const json = values.flag("json");
    const channel = values.text("channel");
    if (channel === undefined) {
      const after = values.integer("after", 0);
      const interval = values.number("interval", 0.1) ?? DEFAULT_INTERVAL;
      return followEvents(openSite(values, io), { after, types, interval, count, json }, io);
    }
    if (values.text("after") !== undefined) throw wrongUsage("--after is for events: a channel is followed from now.");
    await followFrames(openPublicSite(values, io), { channelId: parseId(channel, "channel"), types, count, json }, io);
  },
};
