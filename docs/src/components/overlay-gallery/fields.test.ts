import { expect, test } from "vitest";
import { findKitTemplate } from "./catalogue.ts";
import { fieldsOf, typeOf } from "./fields.ts";

test("variables have the types that the API accepts, in a reader's words", () => {
  const types = (name: string) => Object.fromEntries(fieldsOf(findKitTemplate(name).variables).map((field) => [field.name, typeOf(field)]));
  expect(types("scorebug")).toMatchObject({
    ...{ homeName: "text", homeScore: "number or text", homeColor: "colour, such as #0b5fff", homeCrest: "URL" },
    ...{ clockSeconds: "number", clockRunning: "true or false", clockDirection: "up, down" },
  });
  expect(types("goal")).toMatchObject({ moment: "number or text", image: "URL" });
});
