// Crockford's base 32: no characters that are easily confused when read or spoken.
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A receipt number for customers: "R-<year>-" and eight random characters. */
export function newReceiptNumber(now: number): string {
  const characters = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => ALPHABET[byte % 32]);
  return `R-${new Date(now).getUTCFullYear()}-${characters.join("")}`;
}
