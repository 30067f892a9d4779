import { randomUUID } from "node:crypto";
import { ok } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { wrongUsage } from "../lib/failure.ts";
import { readInput } from "../lib/files.ts";
import { type Io, jsonLine, plain } from "../lib/io.ts";
import { parseId } from "../lib/origin.ts";
import { openPublicSite, openSite } from "../lib/session.ts";
import { providerSecret, sendSigned } from "../lib/signed-event.ts";
import { parseObject, type Values, variablesOf } from "../lib/values.ts";

export const triggerBroadcast: Command = {
  name: "trigger broadcast",
  summary: "Show an overlay to viewers.",
  args: ["<overlay>"],
  options: {
    ...SITE_OPTIONS,
    channel: { type: "string", value: "<id>", multiple: true, description: "Only on this channel" },
    "site-wide": { type: "boolean", description: "On all channels, or on those of the overlay" },
    var: { type: "string", value: "<name=value>", multiple: true, description: "A value for the overlay's variables" },
    duration: { type: "string", value: "<seconds>", description: "How long it is shown; by default the overlay's own" },
    ...JSON_OPTION,
  },
  examples: [
    'tifo trigger broadcast 5eed0000000000000000a001 --channel 5eed0000000000000000c001 --var scorer="Ada Moreno" --var minute=17',
  ],
  async run(values, io) {
    const site = openSite(values, io);
    const id = parseId(values.args[0] ?? "", "overlay");
    const named = values.list("channel").map((channel) => parseId(channel, "channel"));
    const sandboxChannel = site.session?.channelId;
    const channelIds = named.length === 0 && sandboxChannel !== undefined ? [sandboxChannel] : named;
    // Every viewer of a site shouldn't see a test because an option was forgotten.
    if (channelIds.length === 0 && !values.flag("site-wide")) throw wrongUsage("Pass --channel, or --site-wide for all channels.");
    const duration = values.integer("duration", 1);
    const variables = variablesOf(values.list("var"));
    const { broadcastId, broadcasts } = await ok(
      site.client.api.POST("/overlay/v1/broadcast/{id}", {
        params: { path: { id } },
        body: { ...(!values.flag("site-wide") && { channelIds }), ...(duration !== undefined && { duration }), variables },
      }),
    );
    if (values.flag("json")) return io.out(jsonLine({ broadcastId, broadcasts }));
    io.out(`Broadcast ${broadcastId} is in the log of ${broadcasts.length === 1 ? "one channel" : `${broadcasts.length} channels`}.`);
  },
};

export const triggerEvent: Command = {
  name: "trigger event",
  summary: "Send an event as a data provider, so that the site's rules run.",
  details: "The event is signed with the provider's secret, from TIFO_PROVIDER_SECRET or the terminal.",
  options: {
    ...SITE_OPTIONS,
    provider: { type: "string", value: "<id>", description: "The data provider" },
    data: { type: "string", value: "<json>", description: "The event" },
    file: { type: "string", value: "<path>", description: "A file with the event; - for standard input" },
    id: { type: "string", value: "<id>", description: "The event's id; a second event with the same id isn't counted" },
    ...JSON_OPTION,
  },
  examples: ["tifo trigger event --provider 5eed000000000000000da001 --file goal.json"],
  async run(values, io) {
    const body = parseObject(await eventText(values, io), "The event");
    const providerId = parseId(values.required("provider"), "provider");
    const { origin, siteId } = openPublicSite(values, io);
    const secret = await providerSecret(io);
    if (secret === undefined) throw wrongUsage("Set TIFO_PROVIDER_SECRET to the provider's secret.");
    const { eventId, message } = await sendSigned({ origin, siteId, providerId, secret }, values.text("id") ?? randomUUID(), body, io);
    io.out(values.flag("json") ? jsonLine({ eventId, message }) : `${plain(message)} (${eventId})`);
  },
};

async function eventText(values: Values, io: Io): Promise<string> {
  const [data, file] = [values.text("data"), values.text("file")];
  if ((data === undefined) === (file === undefined)) throw wrongUsage("Pass the event with either --data or --file.");
  if (data !== undefined) return data;
  return readInput(file ?? "", io);
}

export const triggerWebhook: Command = {
  name: "trigger webhook",
  summary: "Send a sample event to the site's webhook endpoint.",
  options: {
    ...SITE_OPTIONS,
    sample: { type: "string", value: "<name>", description: "new_account or entitlement_purchased; by default webhook.test" },
    ...JSON_OPTION,
  },
  examples: ["tifo trigger webhook", "tifo trigger webhook --sample new_account"],
  async run(values, io) {
    const sampleName = sampleOf(values.text("sample"));
    const { client } = openSite(values, io);
    const { eventId } = await ok(client.api.POST("/webhooks/v1/test", { body: sampleName === undefined ? {} : { sampleName } }));
    io.out(values.flag("json") ? jsonLine({ eventId }) : `Event ${eventId} is queued. Deliveries are listed in Studio under Developers.`);
  },
};

function sampleOf(name: string | undefined): "new_account" | "entitlement_purchased" | undefined {
  if (name === undefined || name === "new_account" || name === "entitlement_purchased") return name;
  throw wrongUsage(`--sample must be new_account or entitlement_purchased, not "${name}".`);
}
