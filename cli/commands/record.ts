import { ok, type Schemas } from "../../sdk/client/index.ts";
import { type Command, SITE_OPTIONS } from "../lib/command.ts";
import { wrongUsage } from "../lib/failure.ts";
import { jsonLine } from "../lib/io.ts";
import { parseId } from "../lib/origin.ts";
import { openPublicSite } from "../lib/session.ts";

export const record: Command = {
  name: "record",
  summary: "Print what a channel has shown between two times, to replay it.",
  details:
    "Prints one JSON line per broadcast. Broadcasts are kept for 400 days. Times are ISO 8601, milliseconds, or an age such as 90m or 2d.",
  args: ["<channel>"],
  options: {
    ...SITE_OPTIONS,
    from: { type: "string", value: "<time>", description: "The beginning; required" },
    to: { type: "string", value: "<time>", description: "The end; by default now" },
  },
  examples: [
    "tifo record 5eed0000000000000000c001 --from 3h > match.jsonl",
    "tifo record 5eed0000000000000000c001 --from 2026-11-23T18:00:00Z --to 2026-11-23T20:00:00Z > match.jsonl",
  ],
  async run(values, io) {
    const channelId = parseId(values.args[0] ?? "", "channel");
    const from = values.time("from", io.now());
    if (from === undefined) throw wrongUsage("--from is required.");
    const to = values.time("to", io.now());
    const { client } = openPublicSite(values, io);
    let cursor: string | undefined;
    do {
      const query = { from, limit: 200, ...(to !== undefined && { to }), ...(cursor !== undefined && { cursor }) };
      const page: Schemas["ChannelRecording"] = await ok(
        client.api.GET("/realtime/v1/channels/{channelId}/recording", { params: { path: { channelId }, query }, signal: io.signal }),
      );
      for (const broadcast of page.results) io.out(jsonLine(broadcast));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  },
};
