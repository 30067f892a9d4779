import type { Environment } from "../channel/index.ts";
import { createClient, ok, type TifoClient } from "../client/index.ts";
import type { TifoConfiguration } from "../model/configuration.ts";
import { steadyEnvironment } from "./clock.ts";
import { Delegate } from "./delegate.ts";
import { readStored, writeStored } from "./storage.ts";
import { webAddress } from "./web-address.ts";
import { createTexts, type TextStore } from "../i18n/texts.ts";

const DEVICE_KEY = "tifo.deviceId";
const ID = /^[0-9a-f]{24}$/;
const LANGUAGE_TAG = /^(?=.{2,35}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/;

/** What the events of a configuration share. */
export interface Session {
  readonly origin: string;
  readonly clientId: string;
  readonly deviceId: string;
  readonly mode: NonNullable<TifoConfiguration["mode"]>;
  readonly client: TifoClient;
  readonly delegate: Delegate;
  readonly environment: Environment;
  /** Whether impressions are reported, as far as the page and the browser decide; the site can refuse too. */
  readonly reportsImpressions: boolean;
  /** The host app's choice of language. */
  readonly language: string | undefined;
  /** The SDK's own texts, in the viewer's language. */
  readonly texts: TextStore;
  /** A single-use ticket for a channel's connection; null for anonymous viewers. */
  ticket(channelId: string): Promise<string | null>;
}

/** Validates a configuration and creates its session. Throws `TypeError`. */
export function createSession(configuration: TifoConfiguration, scriptOrigin?: string, environment = steadyEnvironment): Session {
  const { clientId, mode = "system" } = configuration;
  if (!ID.test(clientId)) throw new TypeError("Tifo: clientId must be the site's id, 24 hexadecimal characters");
  const { language } = configuration;
  if (language !== undefined && !LANGUAGE_TAG.test(language)) throw new TypeError("Tifo: language must be a language tag, such as pt-BR");
  const origin = originOf(configuration.origin ?? scriptOrigin ?? globalThis.location?.origin);
  const delegate = new Delegate(configuration.delegate);
  const texts = createTexts(origin, language);
  const client = createClient({
    origin,
    clientId,
    getToken: () => delegate.token(),
    // The site's segments by language then follow the option too.
    fetch: (request) => fetch(inLanguage(request, language)),
  });
  return {
    origin,
    clientId,
    deviceId: configuration.deviceId ?? storedDeviceId(),
    mode,
    client,
    delegate,
    environment,
    reportsImpressions: configuration.insights !== false && !environment.refusesTracking(),
    language,
    texts,
    async ticket(channelId) {
      if ((await delegate.token()) === null) return null;
      return (await ok(client.api.POST("/realtime/v1/tickets", { body: { channelId } }))).ticket;
    },
  };
}

/** The request with the host app's choice of language, instead of the browser's. */
function inLanguage(request: Request, language: string | undefined): Request {
  if (language !== undefined) request.headers.set("Accept-Language", language);
  return request;
}

function originOf(text: string | undefined): string {
  const url = webAddress(text);
  if (!url) throw new TypeError("Tifo: origin must be the deployment's http or https origin");
  return url.origin;
}

/** The same id on every visit, so that a returning viewer is counted once; for this page only if storage is unavailable. */
function storedDeviceId(): string {
  const known = readStored(DEVICE_KEY);
  if (known !== null) return known;
  const deviceId = crypto.randomUUID();
  writeStored(DEVICE_KEY, deviceId);
  return deviceId;
}
