import type { TifoCore } from "#sdk/model/core.ts";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import { broadcastDemoOverlay, DEMO, isDemoServer } from "../live-channel/demo.ts";
import { demoViewerToken } from "./demo-viewer.ts";
import { loadSdk } from "./load-sdk.ts";

/** An example that the reader starts: the SDK on the demo channel, with overlays, panels or the state of the event. */
export class LiveExample extends HTMLElement {
  #tifo: TifoCore | undefined;

  connectedCallback(): void {
    this.#button.addEventListener("click", () => void this.#start());
  }

  disconnectedCallback(): void {
    this.#tifo?.userDidStopWatchingEvent(DEMO.channelId);
  }

  get #button(): HTMLButtonElement {
    return part(this, "button", HTMLButtonElement);
  }

  #showMessage(text: string): void {
    part(this, "p", HTMLElement).textContent = text;
  }

  async #start(): Promise<void> {
    const button = this.#button;
    button.disabled = true;
    this.#showMessage("Loading the SDK…");
    try {
      if (!(await isDemoServer()))
        throw new Error("This server doesn’t run the demo site. Start Tifo on your machine and open this page there.");
      this.#tifo = await loadSdk();
      const mode = document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
      this.#tifo.configure({ clientId: DEMO.clientId, mode, delegate: { getUserToken: demoViewerToken } });
      await this.#show(this.#tifo);
    } catch (error) {
      this.#showMessage(error instanceof Error ? error.message : String(error));
      button.textContent = "Retry";
      button.disabled = false;
    }
  }

  async #show(tifo: TifoCore): Promise<void> {
    const event = await tifo.userDidStartWatchingEvent({ channelId: DEMO.channelId });
    const place = part(this, ".place", HTMLElement);
    place.hidden = false;
    event.subscribe(() => this.#showStatus(event));
    this.#showStatus(event);
    if (this.dataset["show"] === "overlay") {
      tifo.renderOverlay(place);
      this.#offerBroadcast();
      return;
    }
    this.#button.remove();
    if (this.dataset["show"] === "panel") showPolls(tifo, event, place);
    else showState(event, place);
  }

  #showStatus(event: TifoEventViewModel): void {
    const { connection, reason, concurrents } = event.getSnapshot();
    this.#showMessage(`${connection}${reason === undefined ? "" : `: ${reason}`} · viewers: ${concurrents}`);
  }

  /** The button that started the example becomes the broadcast button. */
  #offerBroadcast(): void {
    const broadcastButton = part(this, "button", HTMLButtonElement).cloneNode();
    if (!(broadcastButton instanceof HTMLButtonElement)) return;
    broadcastButton.textContent = "Broadcast the demo overlay";
    broadcastButton.disabled = false;
    broadcastButton.addEventListener("click", () => {
      broadcastDemoOverlay().catch((error: unknown) => this.#showMessage(error instanceof Error ? error.message : String(error)));
    });
    this.#button.replaceWith(broadcastButton);
  }
}

/** The event's panels; opens the poll panel once the panels are loaded. */
function showPolls(tifo: TifoCore, event: TifoEventViewModel, place: HTMLElement): void {
  tifo.renderPanel(place);
  const end = event.subscribe(() => {
    if (event.getPanels().length === 0) return;
    end();
    event.openPanel({ kind: "quick_pick" });
  });
}

/** The complete state as text, updated after every change. */
function showState(event: TifoEventViewModel, place: HTMLElement): void {
  const text = document.createElement("pre");
  text.tabIndex = 0;
  text.ariaLabel = "State of the event";
  place.append(text);
  const write = () => (text.textContent = JSON.stringify(event.getSnapshot(), null, 2));
  event.subscribe(write);
  write();
}

function part<T extends Element>(root: Element, selector: string, kind: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`The example has no ${selector}`);
  return found;
}
