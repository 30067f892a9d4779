import { expect, test } from "vitest";
import { isSlow } from "./preload.ts";

test.each([{ saveData: true }, { effectiveType: "2g" }, { effectiveType: "slow-2g" }, { saveData: true, effectiveType: "4g" }])(
  "preloads nothing on %o",
  (connection) => {
    expect(isSlow(connection)).toBe(true);
  },
);

test.each([{}, { effectiveType: "4g" }, { effectiveType: "3g", saveData: false }])("preloads on %o", (connection) => {
  expect(isSlow(connection)).toBe(false);
});
