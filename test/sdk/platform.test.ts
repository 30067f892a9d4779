import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// Of TV browsers that run ES2022, none has these.
const TOO_YOUNG =
  /\bURL\.(parse|canParse)\b|\b(Map|Object)\.groupBy\b|\.to(Sorted|Reversed|Spliced)\(|\.checkVisibility\(|\bPromise\.(withResolvers|try)\b|\bArray\.fromAsync\b|\bAbortSignal\.(any|timeout)\b|\.findLast(Index)?\(/;

test.each(globSync("sdk/{core,model,react,script}/**/*.{ts,tsx}"))("%s uses nothing younger than ES2022", (path) => {
  expect(TOO_YOUNG.exec(readFileSync(path, "utf8"))?.[0]).toBeUndefined();
});
