// Examples of responses are built from their schemas, where every id and every time has the same example.

const ID = /^[0-9a-f]{24}$/;
/** The example of every id that has none of its own. */
const ANY_ID = "5eed0000000000000000c001";
const SITE_ID = "5eed00000000000000000001";
const NOON = 1795166400000;
const HOUR = 3_600_000;

/** Times that come after others, in hours. */
const LATER: Record<string, number> = {
  modified: 26,
  completed: 1,
  ended: 2,
  endsAt: 2,
  endTime: 2,
  endTimestamp: 2,
  end_time: 2,
  end: 2,
  settled: 2,
  claimed: 3,
  expires: 72,
  expirationTime: 72,
  validUntil: 72,
  dateCancelled: 48,
  dateRefunded: 49,
};

/** What ids identify whose field is named after their role. */
const ROLES: Record<string, string> = { mention: "account", except: "account", entrant: "account" };

/** The example with ids that differ by what they identify, and times in their order. `owner` is what the example is, such as "Poll". */
export function believable(example: unknown, owner = ""): unknown {
  if (Array.isArray(example)) return example.map((item: unknown) => believable(item, owner));
  if (typeof example !== "object" || example === null) return example;
  return Object.fromEntries(Object.entries(example).map(([name, value]: [string, unknown]) => [name, inField(name, value, owner)]));
}

function inField(name: string, value: unknown, owner: string): unknown {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.map((item) => inField(name, item, owner));
  if (typeof value === "object") return believable(value, name === "results" ? owner : name);
  if (typeof value === "string" && value === ANY_ID && ID.test(value)) return idOf(name === "_id" || name === "id" ? owner : name);
  const hours = LATER[name];
  // Without an example, a time is a 1 like any number.
  if (value === 1 && /[a-z]At$/.test(name)) return NOON + (hours ?? 0) * HOUR;
  return typeof value === "number" && value > 1e12 && hours !== undefined ? value + hours * HOUR : value;
}

/** Always the same id for the same kind of thing; the channel keeps the demo's. */
function idOf(kind: string): string {
  const named = kind
    .replace(/I[dD]s?$/, "")
    .replace(/(?<=.)(AsRead|Response|Result|Row|Item|s)$/, "")
    .toLowerCase();
  const thing = ROLES[named] ?? named;
  if (thing === "site") return SITE_ID;
  if (thing === "" || /^(channel|page|results?)$/.test(thing)) return ANY_ID;
  const digest = [...thing].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 0xffffff, 7);
  return `5eed000000000000${"c0"}${digest.toString(16).padStart(6, "0")}`;
}
