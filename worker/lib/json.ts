/** What the text says, undefined where it isn't JSON: for answers of outside systems, whose shape is checked anyway. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
