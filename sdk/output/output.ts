import { browserEnvironment } from "../channel/index.ts";
import { steadyNow } from "../core/clock.ts";
import { watchEvent } from "../core/event.ts";
import { registerSdkContext } from "../core/sdk-context.ts";
import { createSession } from "../core/session.ts";
import { createStore } from "../core/store.ts";
import type { UserSettings } from "../model/configuration.ts";
import { mountOverlay } from "../react/mount.tsx";

// The page `/output/{channelId}` for mixers.

/** The title-safe area of 1080 lines: 5 %. */
const SAFE_AREA = 54;
/** How long after a rejection the page connects again: the token may be valid once more, as after a restored backup. */
const RETRY_MS = 30_000;

/** A mixer hides pages whose scene isn't on air, and they must be up to date when it is: the page never counts as hidden. */
const environment = {
  ...browserEnvironment,
  now: steadyNow,
  hidden: () => false,
  onHide: () => () => {},
  onLeave: () => () => {},
  refusesTracking: () => true,
};

const root = document.getElementById("output");
const query = new URLSearchParams(location.search);
const token = query.get("token");
if (root && token) show(root, token);

function show(element: HTMLElement, ticket: string): void {
  const { site: clientId = "", channel: channelId = "" } = element.dataset;
  const language = query.get("language") ?? undefined;
  // Not that of the mixer's system: the picture is the same on every machine.
  const mode = query.get("mode") === "dark" ? "dark" : "light";
  const configuration = { clientId, origin: location.origin, deviceId: crypto.randomUUID(), insights: false, language, mode } as const;
  // The token takes the place of a viewer's tickets, which are used up by one connection.
  const session = { ...createSession(configuration, undefined, environment), ticket: () => Promise.resolve(ticket) };
  const event = watchEvent(session, channelId);
  const settings = createStore<UserSettings>({ overlays: true, reducedMotion: false, textScale: 1 });
  registerSdkContext({ event, session, settings });
  mountOverlay(element, event, { safeArea: Number(query.get("safeArea") ?? SAFE_AREA) });

  let retry: ReturnType<typeof setTimeout> | undefined;
  event.subscribe(() => {
    const { connection } = event.getSnapshot();
    const isRejected = event.isClosed();
    document.documentElement.dataset.connection = connection;
    // What an output that was revoked has shown must leave the picture.
    element.hidden = isRejected;
    if (!isRejected || retry !== undefined) return;
    retry = setTimeout(() => {
      retry = undefined;
      void event.userDidChange().catch(reportError);
    }, RETRY_MS);
  });
}
