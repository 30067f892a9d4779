import fc from "fast-check";
import { expect, test } from "vitest";
import { fillVariables, renderVariables } from "./template.ts";

test.for([
  ["{{a}} {{ a }} {{{a}}} {{{ a }}}", "1 1 1 1"],
  ["{{a.b}} {{a-b}} {{_a}}", "2 3 4"],
  ["{{missing}}{{toString}}{{__proto__}}", ""],
  ["{{}} {{ }} {{1}} {{#if a}} {{a b}} {a} {{a", "{{}} {{ }} {{1}} {{#if a}} {{a b}} {a} {{a"],
  ["{{html}}", "{{a}}"],
  ["$& $1 {{dollar}}", "$& $1 $&amp;$1"],
])("renders %j as %j", ([html, rendered]) => {
  const variables = { a: 1, "a.b": 2, "a-b": 3, _a: 4, html: "{{a}}", dollar: "$&$1" };
  expect(renderVariables(html ?? "", variables, 1_000)).toBe(rendered);
});

test("no value can break out of its placeholder", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "`", "=", "&", "{", "}", "a", " ") }), (value) => {
      const inside = /^<i title="([^]*)">([^]*)<\/i>$/.exec(renderVariables('<i title="{{v}}">{{{v}}}</i>', { v: value }, 1_000) ?? "");
      expect(inside?.[1]).not.toMatch(/[<>"'`=]/);
      expect(inside?.[2]).toBe(inside?.[1]);
    }),
  );
});

test("rendering returns null if the result is too long, however often a value is repeated", () => {
  expect(renderVariables("<{{a}}>", { a: "&" }, 7)).toBe("<&amp;>");
  expect(renderVariables("<{{a}}>", { a: "&" }, 6)).toBeNull();
  expect(renderVariables("{{a}}".repeat(13_000), { a: "x".repeat(10_000) }, 131_072)).toBeNull();
});

test("filling cuts the result, and a value that is too long, between characters", () => {
  const filled = (text: string, limit: number) => fillVariables(text, new Map([["a", "x😀"]]), limit);
  expect([filled("{{a}}", 3), filled("{{a}}", 2), filled("y{{a}}", 3), filled("y{{a}}", 4)]).toEqual(["x😀", "x", "yx", "yx😀"]);
});
