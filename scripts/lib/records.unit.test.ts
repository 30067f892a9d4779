import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readRecord } from "#docs/src/components/quality/records.ts";
import { testFigures, writeRecord } from "./records.ts";
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

it("keeps the other figures of a record after a run of some, and none after a run of all", () => {
  const folder = mkdtempSync(join(tmpdir(), "tifo-records-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const shown = (): string[][] => readRecord("soak", folder).map(({ label, value }) => [label, value]);
  const [chat, votes] = [
    { label: "Chat", value: "10 kills" },
    { label: "Votes", value: "20,000" },
  ];
  expect(shown()).toEqual([]);
  writeRecord("soak", [chat, votes], "all", folder);
  writeRecord("soak", [{ ...chat, value: "12 kills" }], "some", folder);
  expect(shown()).toEqual([
    ["Votes", "20,000"],
    ["Chat", "12 kills"],
  ]);
  writeRecord("soak", [chat], "all", folder);
  expect(shown()).toEqual([["Chat", "10 kills"]]);
  const [figure] = readRecord("soak", folder);
  expect(figure?.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect(figure?.commit).toMatch(/^[0-9a-f]{7,}$/);
});
