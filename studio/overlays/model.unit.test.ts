import { expect, test } from "vitest";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";
import { ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { fieldsOf, labelOf, localTime, parsed } from "./kit-schema.ts";
import { askedOf, newDraft, newElement, shownElement, typedValue, withValue } from "./model.ts";

const kit = listKit();

test("every template of the kit starts with values that viewers could be shown", () => {
  for (const template of kit) {
    const shown = shownElement(newElement(template), kit, "preview");
    expect(ShownKitElement.safeParse(shown).success, template.name).toBe(true);
  }
});

test("the preview fills in html as the server does, with values escaped", () => {
  const html = {
    kind: "html" as const,
    html: "<b>{{ name }}</b>{{unknown}}",
    position: "center" as const,
    variables: { name: "<i>Ada</i>" },
  };
  expect(shownElement(html, [], "k")).toEqual({ kind: "html", html: "<b>&lt;i&gt;Ada&lt;/i&gt;</b>", position: "center" });
});

test("a value that is one placeholder becomes the variable itself, so that a number stays one", () => {
  const goal = kit.find(({ name }) => name === "goal");
  const variables = { playerName: "{{scorer}}", moment: "{{minute}}", scorer: "Ada", minute: 17 };
  expect(shownElement({ kind: "kit", template: "goal", variables }, goal ? [goal] : [], "k")).toMatchObject({
    variables: { playerName: "Ada", moment: 17 },
  });
});

test("a variable that the template requires has its sample until it is given", () => {
  expect(shownElement({ kind: "kit", template: "goal", variables: {} }, kit, "k")).toMatchObject({
    variables: { playerName: "Ada Moreno" },
  });
});

test("asks for the variables that the text names, each once", () => {
  expect(askedOf({ kind: "html", html: "{{a}} {{b}} {{ a }}", position: "center" })).toEqual(["a", "b"]);
  expect(askedOf({ kind: "kit", template: "goal", variables: { playerName: "{{who}}", moment: 3, detail: "by {{who}}" } })).toEqual([
    "who",
  ]);
  expect(newDraft(null).contents.flatMap(askedOf)).toEqual(["headline", "text"]);
});

test("a value keeps its type while it is typed, and an empty one is left out", () => {
  expect([typedValue("18", 17), typedValue("", 17), typedValue("18", "17"), typedValue("x", 17)]).toEqual([18, "", "18", "x"]);
  expect([withValue({ a: 1 }, "b", 2), withValue({ a: 1 }, "a", ""), withValue(undefined, "a", 0)]).toEqual([{ a: 1, b: 2 }, {}, { a: 0 }]);
});

test("the form of a template asks for what it requires first, by the kind of its values", () => {
  const fields = new Map(kit.flatMap((template) => fieldsOf(template).map((field) => [field.name, field.kind])));
  expect(Object.fromEntries(fields)).toMatchObject({
    ...{ homeName: "text", homeScore: "score", clockSeconds: "number", clockRunning: "switch", look: "choice" },
    ...{ homeColor: "color", homeCrest: "image", endsAt: "time", players: "lines", pollId: "poll" },
  });
  const [scorebug] = kit;
  const order = scorebug ? fieldsOf(scorebug).map(({ name }) => name) : [];
  expect([order.slice(0, 4), order.slice(-2)]).toEqual([
    ["homeName", "awayName", "homeScore", "awayScore"],
    ["accentColor", "look"],
  ]);
  expect([labelOf("homeName"), labelOf("pollId"), labelOf("name")]).toEqual(["Home name", "Poll", "Name"]);
});

test("what was typed becomes what the template wants, and a placeholder stays a text", () => {
  expect([
    parsed("score", "2"),
    parsed("score", "128/4"),
    parsed("number", "1.5"),
    parsed("number", "x"),
    parsed("switch", "false"),
  ]).toEqual([...[2, "128/4", 1.5, "x"], false]);
  expect([parsed("text", "007"), parsed("number", "{{minute}}"), parsed("score", "")]).toEqual(["007", "{{minute}}", ""]);
  const time = Date.parse("2026-11-23T15:00:00Z");
  expect(parsed("time", localTime(time))).toBe(time);
});
