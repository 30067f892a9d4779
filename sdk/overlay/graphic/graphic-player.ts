/** The calls of a graphic's methods, as OGraf defines them. */
export type GraphicMethod = "load" | "playAction" | "updateAction" | "stopAction" | "customAction" | "dispose";

export interface GraphicCall {
  type: "tifo.graphic";
  /** In the order of the calls. */
  number: number;
  method: GraphicMethod;
  params: Record<string, unknown>;
}

/** What a broadcast has a graphic do once it is shown. */
export type GraphicAction =
  | { type: "play"; delta?: number; goto?: number; skipAnimation?: boolean }
  | { type: "stop"; skipAnimation?: boolean }
  | { type: "custom"; id: string; payload?: unknown; skipAnimation?: boolean };

/** What a broadcast shows. */
export interface GraphicContent {
  broadcastId: string;
  data: Record<string, unknown>;
  actions: readonly GraphicAction[];
}

export interface RenderCharacteristics {
  resolution: { width: number; height: number };
  frameRate: number;
  accessToPublicInternet: boolean;
}

/**
 * Turns broadcasts into calls of one graphic: the first loads and plays it, each later one with other data updates it, and all perform their
 * actions. Once it is stopped, the next broadcast plays it from its first step.
 */
export class GraphicPlayer {
  readonly #send: (call: GraphicCall) => void;
  #sent = 0;
  #shown: GraphicContent | undefined;
  /** A broadcast repeats the actions of an earlier one that wasn't known to be rendered, as the same objects. */
  readonly #performed = new WeakSet<GraphicAction>();
  #stopped = false;

  constructor(send: (call: GraphicCall) => void) {
    this.#send = send;
  }

  /** The number of the call after which the graphic is visible; undefined before the first broadcast. */
  playedBy: number | undefined;

  load(content: GraphicContent, characteristics: RenderCharacteristics, still: boolean): void {
    this.#call("load", { data: content.data, renderType: "realtime", renderCharacteristics: characteristics });
    this.playedBy = this.#play({}, still);
    this.#shown = content;
    this.#perform(content.actions, still);
  }

  /** Shows another broadcast of the same graphic. Returns whether that took any calls. */
  show(content: GraphicContent, still: boolean): boolean {
    const before = this.#shown;
    if (!before || (before.broadcastId === content.broadcastId && !this.#stopped)) return false;
    const sent = this.#sent;
    if (JSON.stringify(before.data) !== JSON.stringify(content.data))
      this.#call("updateAction", { data: content.data, ...skipping(still) });
    if (this.#stopped) this.#play({ goto: 0 }, still);
    this.#stopped = false;
    this.#shown = content;
    this.#perform(content.actions, still);
    return this.#sent > sent;
  }

  stop(still: boolean): void {
    if (!this.#shown || this.#stopped) return;
    this.#stopped = true;
    this.#call("stopAction", skipping(still));
  }

  dispose(): void {
    if (this.#shown) this.#call("dispose", {});
    this.#shown = undefined;
  }

  #perform(actions: readonly GraphicAction[], still: boolean): void {
    for (const action of actions) {
      if (this.#performed.has(action)) continue;
      this.#performed.add(action);
      const skips = still || action.skipAnimation === true;
      if (action.type === "play") this.#play({ delta: action.delta, goto: action.goto }, skips);
      else if (action.type === "stop") this.#call("stopAction", skipping(skips));
      else this.#call("customAction", { id: action.id, payload: action.payload, ...skipping(skips) });
    }
  }

  #play(params: { delta?: number; goto?: number }, still: boolean): number {
    return this.#call("playAction", { ...params, ...skipping(still) });
  }

  #call(method: GraphicMethod, params: Record<string, unknown>): number {
    const number = ++this.#sent;
    this.#send({ type: "tifo.graphic", number, method, params });
    return number;
  }
}

function skipping(still: boolean): { skipAnimation?: true } {
  return still ? { skipAnimation: true } : {};
}
