/** A syntax error in CSV; `row` counts from 1, including the header. */
export class CsvError extends Error {
  readonly row: number;

  constructor(row: number, message: string) {
    super(message);
    this.row = row;
  }
}

const MAX_ROW_LENGTH = 64 * 1024;

/**
 * Reads CSV (RFC 4180) row by row from chunks of any size: quoted fields with commas, line breaks and doubled quotes; CRLF, LF or CR. Skips
 * empty lines. Keeps one row of at most 64k characters in memory. Throws CsvError.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const reader = new RowReader();
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield* reader.read(decoder.decode(chunk, { stream: true }));
  yield* reader.read(decoder.decode());
  yield* reader.end();
}

/** The state of the reader: before a field, in a bare one, in quotes, or after a quote that may have closed them. */
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
      const row = this.#readCharacter(character);
      if (row) yield row;
    }
  }

  *end(): Generator<string[]> {
    if (this.#state === "quoted") throw new CsvError(this.#row, "A quote is never closed");
    const row = this.#endRow();
    if (row) yield row;
  }

  #readCharacter(character: string): string[] | undefined {
    const secondOfLineEnd = this.#afterReturn && character === "\n";
    this.#afterReturn = false;
    if (secondOfLineEnd) return undefined;
    if ((this.#size += character.length) > MAX_ROW_LENGTH) throw new CsvError(this.#row, `Longer than ${MAX_ROW_LENGTH} characters`);
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
    this.#addToField(character);
    return undefined;
  }

  #addToField(character: string): void {
    if (character === '"') {
      if (this.#state === "bare") throw new CsvError(this.#row, "A quote in a field that doesn't start with one");
      // A doubled quote is a literal quote.
      if (this.#state === "closed") this.#field += character;
      this.#state = "quoted";
      return;
    }
    if (this.#state === "closed") throw new CsvError(this.#row, "Text after a closing quote");
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

/** One line of CSV (RFC 4180), including its line ending. Numbers stay numbers: the sign of a negative one is no formula. */
export function csvLine(fields: (string | number | boolean)[]): string {
  return `${fields.map((field) => (typeof field === "number" ? String(field) : csvField(String(field)))).join(",")}\r\n`;
}

/** Quotes a field if necessary, and escapes text that a spreadsheet would treat as a formula. */
export function csvField(text: string): string {
  const escaped = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
