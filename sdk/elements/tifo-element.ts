import type { ReactNode } from "react";
import type { SdkContext } from "../core/sdk-context.ts";
import type { Store } from "../core/store.ts";
import { webAddress } from "../core/web-address.ts";
import type { TifoConfiguration, UserSettings } from "../model/configuration.ts";
import type { Rendered } from "../model/core.ts";
import type { TrackedImpression } from "../model/event-delegate.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { ConnectionState } from "../model/state.ts";
import { mount } from "../react/mount.tsx";
import { type ChannelAddress, type Channels, type ChannelUser, type ElementEvents, keyOf, type SharedChannel } from "./channels.ts";
import { addStyles } from "./styles.ts";

/** What the elements of a page share. */
export interface ElementsContext {
  channels: Channels;
  settings: () => Store<UserSettings>;
  /** Origin of the script. */
  origin: string | undefined;
}

/** What distinguishes one kind of element from the others. */
export interface ElementKind {
  /** Its own attributes. */
  attributes: readonly string[];
  /** Its default look, which the page's own rules override. */
  css: string;
  /** The components to render; null if a required attribute is missing. Rendered again when one of the attributes has changed. */
  content(element: Element): ReactNode;
  /** Whether the element shows this. */
  shows(element: Element, impression: TrackedImpression): boolean;
  /** Called when the element begins to show a channel, or its attributes have changed; returns what undoes it. */
  joined?(element: Element, event: TifoEventViewModel): () => void;
}

/** Attributes of every element. */
const COMMON_ATTRIBUTES = ["site", "channel", "origin", "language", "mode"];
/** Events by which a viewer uses an element. */
const USES = ["pointerdown", "keydown", "focusin"];

/** An element that renders a part of a channel into its shadow tree, as long as it is in the page and its attributes say which one. */
export abstract class TifoElement extends HTMLElement implements ChannelUser {
  readonly #kind: ElementKind;
  readonly #context: ElementsContext;
  readonly #contents = document.createElement("div");
  #queued = false;
  #styledFor: string | undefined;
  #channel: SharedChannel | undefined;
  #key = "";
  #rendered: Rendered | undefined;
  #stops: (() => void)[] = [];
  #connection: ConnectionState | undefined;

  constructor(kind: ElementKind, context: ElementsContext) {
    super();
    this.#kind = kind;
    this.#context = context;
    this.#contents.className = "tifo-contents";
    this.attachShadow({ mode: "open" }).append(this.#contents);
    for (const use of USES) this.addEventListener(use, () => this.#channel && (this.#channel.actor = this), { capture: true });
  }

  /** The event's view model; null while the element isn't in a page, or lacks an attribute. */
  get event(): TifoEventViewModel | null {
    return this.#channel?.event ?? null;
  }

  connectedCallback(): void {
    this.#queueUpdate();
  }

  /** Also called when the element is moved: the update finds it in the page again, and keeps everything. */
  disconnectedCallback(): void {
    this.#queueUpdate();
  }

  attributeChangedCallback(): void {
    this.#queueUpdate();
  }

  emit<Name extends keyof ElementEvents>(name: Name, detail: ElementEvents[Name]): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  shows(impression: TrackedImpression): boolean {
    return this.#kind.shows(this, impression);
  }

  /** Several changes in one task take effect together. */
  #queueUpdate(): void {
    if (this.#queued) return;
    this.#queued = true;
    queueMicrotask(() => {
      this.#queued = false;
      this.#update();
    });
  }

  #update(): void {
    const address = this.isConnected ? this.#address() : null;
    const content = address && this.#kind.content(this);
    if (!address || content === null) return this.#leave();
    const key = JSON.stringify([keyOf(address), ...this.#attributes()]);
    const isCurrent = key === this.#key && this.#channel?.event.isClosed() === false;
    if (isCurrent) return;
    const previous = this.#channel;
    const channel = this.#join(address);
    if (!channel) return this.#leave();
    this.#unmount();
    if (previous && previous !== channel) this.#release(previous);
    this.#channel = channel;
    this.#key = key;
    this.#show(channel, address, content);
  }

  #join(address: ChannelAddress): SharedChannel | undefined {
    try {
      return this.#context.channels.join(address, this);
    } catch (error) {
      console.warn(`Tifo: <${this.localName}> shows nothing`, error);
      return undefined;
    }
  }

  #show({ session, event }: SharedChannel, { origin }: ChannelAddress, content: ReactNode): void {
    const context: SdkContext = { event, session: { ...session, mode: modeOf(this) }, settings: this.#context.settings() };
    this.#style(origin);
    this.#rendered = mount(this.#contents, context, content);
    this.#stops = [event.subscribe(() => this.#reportConnection())];
    const stop = this.#kind.joined?.(this, event);
    if (stop) this.#stops.push(stop);
    this.#reportConnection();
  }

  /** Hidden until it has its styles. */
  #style(origin: string): void {
    const { shadowRoot } = this;
    if (this.#styledFor === origin || !shadowRoot) return;
    this.#styledFor = origin;
    this.#contents.hidden = true;
    void addStyles(shadowRoot, origin, this.#kind.css).finally(() => (this.#contents.hidden = false));
  }

  #reportConnection(): void {
    const { connection: state, reason } = this.#channel?.event.getSnapshot() ?? {};
    if (state === undefined || state === this.#connection) return;
    this.#connection = state;
    this.dispatchEvent(new CustomEvent("tifo-connection", { detail: { state, reason } }));
  }

  #leave(): void {
    const channel = this.#channel;
    this.#unmount();
    this.#channel = undefined;
    this.#key = "";
    this.#connection = undefined;
    if (channel) this.#release(channel);
  }

  #release(channel: SharedChannel): void {
    this.#context.channels.leave(channel, this);
  }

  #unmount(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#rendered?.unmount();
    this.#rendered = undefined;
  }

  #address(): ChannelAddress | null {
    const site = this.getAttribute("site");
    const channel = this.getAttribute("channel");
    const origin = webAddress(this.getAttribute("origin") ?? this.#context.origin ?? location.origin)?.origin;
    if (!site || !channel || origin === undefined) return null;
    return { origin, site, channel, language: this.getAttribute("language") ?? undefined };
  }

  #attributes(): (string | null)[] {
    return [...COMMON_ATTRIBUTES, ...this.#kind.attributes].map((name) => this.getAttribute(name));
  }
}

function modeOf(element: Element): NonNullable<TifoConfiguration["mode"]> {
  const mode = element.getAttribute("mode");
  return mode === "light" || mode === "dark" ? mode : "system";
}

/** Registers a kind of element under a name, unless the page has one already. */
export function defineElement(name: string, kind: ElementKind, context: ElementsContext): void {
  if (customElements.get(name)) return;
  class DefinedElement extends TifoElement {
    static readonly observedAttributes = [...COMMON_ATTRIBUTES, ...kind.attributes];

    constructor() {
      super(kind, context);
    }
  }
  customElements.define(name, DefinedElement);
}
