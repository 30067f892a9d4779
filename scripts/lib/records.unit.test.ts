import { join } from "node:path";
import { expect, it } from "vitest";
import { testFigures } from "./records.ts";
import { ROOT } from "./root.mjs";

it("counts the passed tests of a run by kind", () => {
  const passed = { status: "passed" };
  const file = (name: string, ...assertionResults: { status: string }[]) => ({ name: join(ROOT, name), assertionResults });
  const figures = testFigures([
    file("test/browser/samples.test.ts", passed, passed, { status: "skipped" }),
    file("test/browser/site-shell.test.ts", passed),
    file("test/isolated/poll-model.test.ts", passed),
  ]);
  expect(figures.map(({ value }) => value)).toEqual(["4", "3", "2", "1"]);
});
