import { describe, expect, test } from "vitest";
import { operations } from "./document.ts";

/** Each example of the reference, by where it is shown. */
const examples = operations.flatMap(({ operationId, body, responses }) => [
  ...(body ? [{ place: `${operationId}, body`, example: body.example }] : []),
  ...responses.flatMap(({ status, bodies }) => bodies.map(({ example }) => ({ place: `${operationId}, ${status}`, example }))),
]);

/** Pairs of times, the earlier one first. */
const IN_ORDER = [
  ...["endsAt", "ended"].map((later) => ["startsAt", later]),
  ...[
    ["startTime", "endTime"],
    ["start_time", "end_time"],
    ["startTimestamp", "endTimestamp"],
    ["start", "end"],
    ["validFrom", "validUntil"],
    ["dateGranted", "dateCancelled"],
    ["dateGranted", "dateRefunded"],
  ],
  ...["modified", "completed", "settled", "claimed", "expires", "dateCancelled", "validUntil"].map((later) => ["created", later]),
];

/** Fields of ids whose name says a role instead of a kind, and what they identify. */
const KINDS: Record<string, string> = {
  ...{ mentions: "account", senderaccount: "account", creator: "account", except: "account", entrants: "account" },
  ...{ template: "overlay", target: "overlay", correctanswer: "answer", rules: "rule", owner: "site", site_id: "site", siteslugor: "site" },
  ...{ page: "channel", panels: "panel", channels: "channel", pages: "channel", templates: "template" },
};

function fieldsIn(value: unknown, path: string[] = []): { path: string[]; value: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => fieldsIn(item, path));
  if (typeof value !== "object" || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) => fieldsIn(inner, [...path, name]));
}

function objectsIn(value: unknown): object[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

describe("the examples of the reference", () => {
  test("end after they start, and change after they are created", () => {
    const wrong = examples.flatMap(({ place, example }) =>
      objectsIn(example).flatMap((object) =>
        IN_ORDER.flatMap(([earlier = "", later = ""]) => {
          const from: unknown = Reflect.get(object, earlier);
          const to: unknown = Reflect.get(object, later);
          return typeof from === "number" && typeof to === "number" && to <= from ? [`${place}: ${later} is not after ${earlier}`] : [];
        }),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("have one id for one kind of thing", () => {
    const kinds = new Map<string, Set<string>>();
    for (const { path, value } of examples.flatMap(({ example }) => fieldsIn(example))) {
      const name = (path.at(-1) ?? "").replace(/I[dD]s?$/, "").toLowerCase();
      // An own id says nothing about its kind here; `believable.test.ts` does. A Durable Object's name is the id of what it is about.
      if (typeof value !== "string" || !/^[0-9a-f]{24}$/.test(value) || /^(_?id|name|)$/.test(name)) continue;
      kinds.set(value, (kinds.get(value) ?? new Set()).add(KINDS[name] ?? name));
    }
    // In the demo's data, too, the first account and the first overlay have the same id.
    const shared = [...kinds].filter(([id, of]) => of.size > 1 && id !== "5eed0000000000000000a001");
    expect(shared.map(([id, of]) => `${id}: ${[...of].join(", ")}`)).toEqual([]);
  });

  test("contain values, not descriptions of them", () => {
    const prose = examples.flatMap(({ place, example }) =>
      fieldsIn(example).flatMap(({ path, value }) =>
        typeof value === "string" && /\bone of\b|^(true|false|null|string|number)$/i.test(value) && path.at(-1) !== "type"
          ? [`${place}: ${path.join(".")} is "${value}"`]
          : [],
      ),
    );
    expect(prose).toEqual([]);
  });

  test("don't have times of 1970", () => {
    const wrong = examples.flatMap(({ place, example }) =>
      fieldsIn(example).flatMap(({ path, value }) =>
        /[a-z]At$/.test(path.at(-1) ?? "") && value === 1 ? [`${place}: ${path.join(".")}`] : [],
      ),
    );
    expect(wrong).toEqual([]);
  });
});
