const AWAY = -1;

/** All viewers, with the last frame that each has received. A frame that is missing or repeated is counted, for every viewer. */
export class Audience {
  gaps = 0;
  doubles = 0;
  frames = 0;
  readonly size: number;
  readonly #last: Int32Array;
  readonly #relay: Int16Array;
  readonly #place: Int32Array;
  readonly #members: number[][];

  constructor(size: number, relays: number) {
    this.size = size;
    this.#last = new Int32Array(size).fill(AWAY);
    this.#relay = new Int16Array(size).fill(AWAY);
    this.#place = new Int32Array(size);
    this.#members = Array.from({ length: relays }, () => []);
  }

  isConnected(viewer: number): boolean {
    return this.#relay[viewer] !== AWAY;
  }

  /** The last frame that a viewer has; negative before its first connection. */
  position(viewer: number): number {
    return this.#last[viewer] ?? AWAY;
  }

  count(relay: number): number {
    return this.#members[relay]?.length ?? 0;
  }

  /** Gives a viewer the whole state. */
  restart(viewer: number, head: number): void {
    this.#last[viewer] = head;
  }

  receive(viewer: number, seqs: readonly number[]): void {
    let last = this.#last[viewer] ?? AWAY;
    for (const seq of seqs) {
      if (seq <= last) this.doubles++;
      else if (seq > last + 1) this.gaps++;
      last = Math.max(last, seq);
    }
    this.frames += seqs.length;
    this.#last[viewer] = last;
  }

  receiveAll(relay: number, seqs: readonly number[]): void {
    for (const viewer of this.#members[relay] ?? []) this.receive(viewer, seqs);
  }

  connect(viewer: number, relay: number): void {
    const members = this.#members[relay] ?? [];
    this.#relay[viewer] = relay;
    this.#place[viewer] = members.length;
    members.push(viewer);
  }

  disconnect(viewer: number): void {
    const members = this.#members[this.#relay[viewer] ?? AWAY];
    const last = members?.pop();
    const place = this.#place[viewer] ?? 0;
    if (members && last !== undefined && last !== viewer) {
      members[place] = last;
      this.#place[last] = place;
    }
    this.#relay[viewer] = AWAY;
  }

  /** Disconnects a relay's viewers and returns them. */
  drop(relay: number): number[] {
    const dropped = this.#members[relay] ?? [];
    this.#members[relay] = [];
    for (const viewer of dropped) this.#relay[viewer] = AWAY;
    return dropped;
  }

  /** Connected viewers that don't have this frame, and all that aren't connected. */
  behind(head: number): number {
    let behind = 0;
    for (let viewer = 0; viewer < this.size; viewer++) if (!this.isConnected(viewer) || this.position(viewer) !== head) behind++;
    return behind;
  }
}
