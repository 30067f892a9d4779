import { wrongUsage } from "./failure.ts";

const ID = /^[0-9a-f]{24}$/;
// URL normalises addresses, so that this also covers 127.1 and 0x7f.0.0.1.
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The origin of a deployment. Rejects http except on this machine, because credentials would be sent unencrypted. */
export function parseOrigin(text: string): string {
  if (!URL.canParse(text)) throw wrongUsage(`"${text}" isn't an origin. Write it with its scheme, such as https://tifo.example.com.`);
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw wrongUsage(`"${text}" isn't an origin. Write it with its scheme, such as https://tifo.example.com.`);
  }
  if (url.username !== "" || url.password !== "" || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw wrongUsage(`An origin has no path, query or credentials: ${url.origin}`);
  }
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    throw wrongUsage(`${url.origin} would receive your credentials unencrypted. Use https; http is accepted only for this machine.`);
  }
  return url.origin;
}

/** An id of 24 hexadecimal digits. `what` names it in the message. */
export function parseId(text: string, what: string): string {
  if (!ID.test(text)) throw wrongUsage(`"${text}" isn't an id. The ${what}'s id has 24 digits from 0-9 and a-f.`);
  return text;
}
