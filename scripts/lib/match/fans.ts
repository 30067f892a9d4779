import { Problem } from "../report.mjs";
import { as, bodyOf, type Call, signIn } from "./api.ts";

// The supporters' accounts. Each signs up on its first use.

const PASSWORD = "demo-supporter-pass";
/** A sign-in is valid for ten minutes. */
const RENEW_MS = 8 * 60_000;

/** The supporters who write in the chat; the others are a number. */
const NAMES = [
  ...[
    "Marta Quay",
    "Jonas Brandt",
    "Priya Nair",
    "Old Bill",
    "Kofi Mensah",
    "Sofia Reyes",
    "Tomasz",
    "Hanna B.",
    "DockDave",
    "Lea Fontaine",
  ],
  ...["Mehmet K.", "Aoife Byrne", "Ravi", "Chiara Russo", "North Pier", "Emil Sand", "Yuki Mori", "Gate 7", "Luca Conti", "Zara Ali"],
];

export function nameOf(supporter: number): string {
  return NAMES[supporter] ?? `Supporter ${supporter + 1}`;
}

const signedIn = new Map<number, { call: Call; at: number }>();

/** The API as a supporter. */
export async function supporter(url: string, number: number): Promise<Call> {
  const known = signedIn.get(number);
  if (known && Date.now() - known.at < RENEW_MS) return known.call;
  const call = await signInOrUp(url, number);
  signedIn.set(number, { call, at: Date.now() });
  return call;
}

/** Signs a supporter up, unless they have an account, and in. The other way round, 200 newcomers would be too many failed sign-ins. */
async function signInOrUp(url: string, number: number): Promise<Call> {
  const email = `supporter-${number + 1}@stand.example`;
  const created = await as(url)("POST", "/account/v3", { email, password: PASSWORD, name: nameOf(number) });
  if (created.status !== 409) bodyOf(created);
  const call = await signIn(url, email, PASSWORD);
  if (!call) throw new Problem(`${email} has another password than the demo's`);
  return call;
}
