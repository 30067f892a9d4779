/** A fault of the CSV itself; `row` counts from 1, the header included. */
export class CsvError extends Error {
  readonly row: number;

  constructor(row: number, message: string) {
    super(message);
    this.row = row;
  }
}

const MOST_IN_ROW = 64 * 1024;

/**
 * Reads CSV as RFC 4180 has it, row by row, however the chunks fall: quoted fields with commas, line ends and doubled quotes; CRLF,
 * LF or CR. Empty lines are left out. Holds one row at a time, of at most 64k characters. Throws CsvError.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const reader = new RowReader();
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield* reader.read(decoder.decode(chunk, { stream: true }));
  yield* reader.read(decoder.decode());
  yield* reader.end();
}

/** Where the reader stands: before a field, within a bare one, within quotes, after a quote that may have closed them. */
type State = "start" | "bare" | "quoted" | "closed";

class RowReader {
  #state: State = "start";
  #field = "";
  #fields: string[] = [];
  #size = 0;
  #row = 1;
  #afterReturn = false;

  *read(text: string): Generator<string[]> {
    for (const character of text) {
      const row = this.#take(character);
      if (row) yield row;
    }
  }

  *end(): Generator<string[]> {
    if (this.#state === "quoted") throw new CsvError(this.#row, "A quote is never closed");
    const row = this.#endRow();
    if (row) yield row;
  }

  #take(character: string): string[] | undefined {
    const secondOfLineEnd = this.#afterReturn && character === "\n";
    this.#afterReturn = false;
    if (secondOfLineEnd) return undefined;
    if ((this.#size += character.length) > MOST_IN_ROW) throw new CsvError(this.#row, `Longer than ${MOST_IN_ROW} characters`);
    if (this.#state === "quoted") {
      if (character === '"') this.#state = "closed";
      else this.#field += character;
      return undefined;
    }
    if (character === ",") {
      this.#endField();
      return undefined;
    }
    if (character === "\r" || character === "\n") {
      this.#afterReturn = character === "\r";
      return this.#endRow();
    }
    this.#takeInField(character);
    return undefined;
  }

  #takeInField(character: string): void {
    if (character === '"') {
      if (this.#state === "bare") throw new CsvError(this.#row, "A quote within a field that does not begin with one");
      // A second quote right after one stands for a quote.
      if (this.#state === "closed") this.#field += character;
      this.#state = "quoted";
      return;
    }
    if (this.#state === "closed") throw new CsvError(this.#row, "Text after a closed quote");
    this.#state = "bare";
    this.#field += character;
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = "";
    this.#state = "start";
  }

  #endRow(): string[] | undefined {
    const empty = this.#fields.length === 0 && this.#state === "start";
    this.#endField();
    const fields = this.#fields;
    this.#fields = [];
    this.#size = 0;
    this.#row += 1;
    return empty ? undefined : fields;
  }
}

/** One line of CSV (RFC 4180) with its line end. */
export function csvLine(fields: (string | number | boolean)[]): string {
  return `${fields.map((field) => csvField(String(field))).join(",")}\r\n`;
}

/** Quoted where it must be; a spreadsheet shall not take what begins like a formula for one. */
export function csvField(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
