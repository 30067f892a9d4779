import { Transform, type TransformCallback } from "node:stream";

/** The runtime's error for a host that can't be resolved. */
const UNKNOWN_HOST = /DNS lookup failed\. ?(?:params\.)?host = ([^;]+);/;
/** Addresses in the runtime's binary, which are of no use to readers. */
const NATIVE_STACK = /^\s*stack: /;

/** The runtime's log without native stack traces, with one line per host that can't be resolved. */
export class RuntimeLog extends Transform {
  readonly #reported = new Set<string>();
  #rest = "";
  /** Whether the last line was skipped, so that the blank lines after it are too. */
  #skipping = false;

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#write(line);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#rest !== "") this.#write(this.#rest);
    done();
  }

  #write(line: string): void {
    const host = UNKNOWN_HOST.exec(line)?.[1];
    const shown = host === undefined ? (NATIVE_STACK.test(line) ? undefined : line) : this.#unknown(host);
    const isBlank = line.trim() === "";
    if (shown !== undefined && !(isBlank && this.#skipping)) this.push(`${shown}\n`);
    if (!isBlank) this.#skipping = shown !== line;
  }

  #unknown(host: string): string | undefined {
    if (this.#reported.has(host)) return undefined;
    this.#reported.add(host);
    return `The host ${host} can't be resolved here, so calls to it fail. This is logged once per host.`;
  }
}
