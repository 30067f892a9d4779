/** Everything outside the process that commands use; tests pass their own. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the result to standard output. */
  out(line: string): void;
  /** Writes a note for people to standard error. */
  note(line: string): void;
  /** Shows the state of something that takes long; replaced by the next one. Shown only on a terminal. */
  progress(line: string): void;
  /** Whether a person can be asked. */
  interactive: boolean;
  ask(question: string): Promise<string>;
  /** Asks without showing what is typed. */
  askSecret(question: string): Promise<string>;
  readStdin(): Promise<string>;
  fetch(request: Request): Promise<Response>;
  sleep(milliseconds: number): Promise<void>;
  now(): number;
  /** Aborted by Ctrl+C. */
  signal: AbortSignal;
}

/** For delays between attempts: a tenth of those of viewers, because a person waits, and there is no crowd to spread out. */
export function impatientRandom(): number {
  return Math.random() / 10;
}

// Control characters and marks that change the direction of text: what viewers wrote must not control the terminal.
const CONTROL = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text from the server on one line, safe to show on a terminal. */
export function plain(text: string): string {
  return text.replaceAll(CONTROL, " ");
}

/** One line of JSON, in which every control character is escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
