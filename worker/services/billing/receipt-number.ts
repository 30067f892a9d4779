// Crockford's alphabet: nothing that is misread on paper or over the telephone.
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** What a customer names a payment by: "R-<year>-" and eight random characters. */
export function newReceiptNumber(now: number): string {
  const characters = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => ALPHABET[byte % 32]);
  return `R-${new Date(now).getUTCFullYear()}-${characters.join("")}`;
}
