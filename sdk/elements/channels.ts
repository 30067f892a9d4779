import { type WatchedEvent, watchEvent } from "../core/event.ts";
import { createSession, type Session } from "../core/session.ts";
import { registerSdkContext } from "../core/sdk-context.ts";
import type { Store } from "../core/store.ts";
import type { UserSettings } from "../model/configuration.ts";
import type { PanelEvent, TrackedAction, TrackedImpression } from "../model/event-delegate.ts";

/** A viewer's JWT, or a function that returns a current one. */
export type Token = string | null | (() => string | null | Promise<string | null>);

/** What identifies a connection. Elements with the same address share one. */
export interface ChannelAddress {
  origin: string;
  site: string;
  channel: string;
  language: string | undefined;
}

/** What happens in an element, by the name of its DOM event. */
export interface ElementEvents {
  "tifo-panel-opened": PanelEvent;
  "tifo-panel-closed": PanelEvent;
  "tifo-answered": PanelEvent;
  "tifo-claimed": PanelEvent;
  "tifo-login-requested": PanelEvent;
  "tifo-action": TrackedAction;
  "tifo-impression": TrackedImpression;
}

/** An element that uses a channel. */
export interface ChannelUser {
  /** Whether the element shows this. */
  shows(impression: TrackedImpression): boolean;
  emit<Name extends keyof ElementEvents>(name: Name, detail: ElementEvents[Name]): void;
}

/** An element that is removed and inserted again within this time keeps its connection. */
const LINGER_MS = 1_000;

const PANEL_EVENTS = {
  opened: "tifo-panel-opened",
  closed: "tifo-panel-closed",
  answered: "tifo-answered",
  claimed: "tifo-claimed",
  loginRequested: "tifo-login-requested",
} as const satisfies Record<PanelEvent["type"], keyof ElementEvents>;

/** A channel that one or more elements of the page show, with one connection. */
export interface SharedChannel {
  readonly session: Session;
  readonly event: WatchedEvent;
  readonly users: Set<ChannelUser>;
  /** The element that the viewer used last. */
  actor: ChannelUser | undefined;
}

/** The channels of a page's elements. */
export class Channels {
  readonly #channels = new Map<string, SharedChannel>();
  readonly #tokens = new Map<string, Token>();
  readonly #settings: () => Store<UserSettings>;

  constructor(settings: () => Store<UserSettings>) {
    this.#settings = settings;
  }

  /** The channel at an address, for an element that uses it until `leave`. Throws `TypeError` for an invalid address. */
  join(address: ChannelAddress, user: ChannelUser): SharedChannel {
    const key = keyOf(address);
    const known = this.#channels.get(key);
    const channel = known && !known.event.isClosed() ? known : this.#open(address);
    if (known !== channel) known?.event.stop();
    this.#channels.set(key, channel);
    channel.users.add(user);
    return channel;
  }

  leave(channel: SharedChannel, user: ChannelUser): void {
    channel.users.delete(user);
    if (channel.actor === user) channel.actor = undefined;
    setTimeout(() => this.#closeIfUnused(channel), LINGER_MS);
  }

  /** Signs a site's viewer in or out. Rejoins the site's channels. */
  async setToken(site: string, token: Token, origin: string): Promise<void> {
    this.#tokens.set(siteKey(origin, site), token);
    const channels = [...this.#channels.values()].filter(({ session }) => session.origin === origin && session.clientId === site);
    await Promise.all(channels.map(({ event }) => event.userDidChange()));
  }

  #open({ origin, site, channel: channelId, language }: ChannelAddress): SharedChannel {
    const users = new Set<ChannelUser>();
    const emit = <Name extends keyof ElementEvents>(user: ChannelUser | undefined, name: Name, detail: ElementEvents[Name]) =>
      (user ?? channel.actor ?? first(users))?.emit(name, detail);
    const session = createSession({
      clientId: site,
      origin,
      language,
      delegate: {
        getUserToken: () => currentToken(this.#tokens.get(siteKey(origin, site))),
        onPanelEvent: (event) => emit(undefined, PANEL_EVENTS[event.type], event),
        trackAction: (action) => emit(undefined, "tifo-action", action),
        trackImpression: (impression) =>
          emit(
            [...users].find((user) => user.shows(impression)),
            "tifo-impression",
            impression,
          ),
      },
    });
    const event = watchEvent(session, channelId);
    const channel: SharedChannel = { session, event, users, actor: undefined };
    registerSdkContext({ event, session, settings: this.#settings() });
    return channel;
  }

  #closeIfUnused(channel: SharedChannel): void {
    if (channel.users.size > 0) return;
    channel.event.stop();
    for (const [key, known] of this.#channels) if (known === channel) this.#channels.delete(key);
  }
}

function currentToken(token: Token | undefined): string | null | Promise<string | null> {
  return typeof token === "function" ? token() : (token ?? null);
}

function first<T>(values: ReadonlySet<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}

export function keyOf({ origin, site, channel, language = "" }: ChannelAddress): string {
  return [origin, site, channel, language].join(" ");
}

function siteKey(origin: string, site: string): string {
  return `${origin} ${site}`;
}
