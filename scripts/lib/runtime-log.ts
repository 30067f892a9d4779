import { Transform, type TransformCallback } from "node:stream";

/** An error that the runtime reports because a name has no address. */
const UNKNOWN_HOST = /DNS lookup failed\. ?(?:params\.)?host = ([^;]+);/;
/** Addresses in the runtime's own binary, which tell nobody anything. */
const NATIVE_STACK = /^\s*stack: /;

/** The runtime's log without its native stacks; of each host that has no address it says so once. */
export class RuntimeLog extends Transform {
  readonly #reported = new Set<string>();
  #rest = "";
  /** Whether the last line was left out: the blank lines after it go too. */
  #skipping = false;

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#rest !== "") this.#take(this.#rest);
    done();
  }

  #take(line: string): void {
    const host = UNKNOWN_HOST.exec(line)?.[1];
    const shown = host === undefined ? (NATIVE_STACK.test(line) ? undefined : line) : this.#unknown(host);
    const isBlank = line.trim() === "";
    if (shown !== undefined && !(isBlank && this.#skipping)) this.push(`${shown}\n`);
    if (!isBlank) this.#skipping = shown !== line;
  }

  #unknown(host: string): string | undefined {
    if (this.#reported.has(host)) return undefined;
    this.#reported.add(host);
    return `The host ${host} has no address here; calls to it fail. This is said once.`;
  }
}
