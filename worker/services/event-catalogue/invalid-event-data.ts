/** An event's data don't match the catalogue: running the effect again with the same release can't help. */
export class InvalidEventData extends Error {
  override readonly name = "InvalidEventData";
}
