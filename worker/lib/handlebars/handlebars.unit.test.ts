import { parse } from "@handlebars/parser";
import fc from "fast-check";
import handlebars from "handlebars";
import { describe, expect, test } from "vitest";
import { parseTemplate } from "./parse.ts";
import { RENDER_LIMITS, renderTemplate } from "./render.ts";
import { TemplateError } from "./scan.ts";

const DATA = {
  name: "Ada <b>&\"'`=",
  zero: 0,
  no: false,
  empty: [],
  nothing: null,
  deep: { er: { est: "bottom" }, name: "inner" },
  items: [
    { label: "one", tags: ["a", "b"] },
    { label: "two", tags: [] },
  ],
  prices: { home: "£10", away: "£12" },
};

const UNPRINTED = "\u0000";

/** A copy whose lists and objects print a character that is removed later, because this renderer prints nothing for them. */
function unprinted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value)
    ? value.map(unprinted)
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unprinted(item)]));
  return Object.defineProperty(copy, "toString", { value: () => UNPRINTED });
}

const render = (template: string, data: Record<string, unknown> = DATA): string => renderTemplate(parseTemplate(template), data);

// Both escape the same characters, but this renderer writes the rarer ones in decimal.
const unified = (html: string): string => html.replaceAll("&#39;", "&#x27;").replaceAll("&#96;", "&#x60;").replaceAll("&#61;", "&#x3D;");

describe("a template", () => {
  test.each([
    ["{{deep.er.est}} {{deep/er/est}} {{this.zero}} {{no}} {{nothing}} {{missing.by.far}}", "bottom bottom 0 false  "],
    ["{{#if items}}yes{{else}}no{{/if}} {{#if empty}}yes{{else}}no{{/if}} {{#if zero}}yes{{/if}}", "yes no "],
    ["{{#if no}}1{{else if nothing}}2{{else if name}}3{{else}}4{{/if}}", "3"],
    ["{{#unless no}}a{{else}}b{{/unless}}{{^if no}}c{{/if}}", "ac"],
    ["{{#with deep}}{{name}} {{../zero}}{{#if name}} {{../zero}}{{/if}}{{/with}}{{#with nothing}}x{{else}}y{{/with}}", "inner 0 0y"],
    ["{{#each items}}{{@index}}{{label}}{{#if @first}}!{{/if}}{{#unless @last}}, {{/unless}}{{/each}}", "0one!, 1two"],
    ["{{#each items}}{{#each tags}}{{this}}{{@../index}}{{../label}} {{else}}none{{/each}}{{/each}}", "a0one b0one none"],
    ["{{#each prices}}{{@key}}={{.}} {{/each}}{{@root.zero}}", "home=£10 away=£12 0"],
    ["a {{~! note ~}} b{{!-- {{#if x}} --}} {{~name.length~}} c", "ab12c"],
    ["\\{{name}} and \\\\{{zero}}", "{{name}} and \\0"],
    ["<ul>\n{{#each items}}\n  <li>{{label}}\n{{/each}}\n</ul>", "<ul>\n  <li>one\n  <li>two\n</ul>"],
  ])("renders %j as Handlebars does", (template, expected) => {
    expect(render(template)).toBe(expected);
    expect(unified(render(template))).toBe(handlebars.compile(template)(DATA));
  });

  test("escapes every value, in three braces too", () => {
    const escaped = "Ada &lt;b&gt;&amp;&quot;&#39;&#96;&#61;";
    expect(render("{{name}}{{{name}}}{{& name}}")).toBe(escaped.repeat(3));
    expect(renderTemplate(parseTemplate("{{name}}"), DATA, { escape: false })).toBe(DATA.name);
  });

  test("accesses only own properties", () => {
    const paths = [
      "constructor",
      "__proto__",
      "items.constructor",
      "name.constructor.name",
      "toString",
      "deep.__proto__.er",
      "@root.constructor",
    ];
    for (const path of paths) expect(render(`[{{${path}}}]{{#with ${path}}}x{{/with}}`), path).toBe("[]");
    const own = Object.fromEntries([
      ["__proto__", "mine"],
      ["constructor", "own"],
    ]);
    expect(render("{{__proto__}} {{constructor}}", own)).toBe("mine own");
  });

  test("prints nothing for lists and objects, whatever their toString", () => {
    expect(render("[{{items}}{{deep}}]", { items: [1], deep: { toString: "x", valueOf: 1 } })).toBe("[]");
  });
});

describe("a template that can't be parsed", () => {
  test.each([
    ["<p>\n  {{#if a}}\nx", "Line 3, column 2: A block is not closed"],
    ["a\n{{#if a}}{{/each}}", "Line 2, column 4: if doesn't match each"],
    ["{{else}}", "Line 1, column 1: Unexpected {{else}}"],
    ["{{/if}}", "Line 1, column 1: Unexpected {{/"],
    ["x {{}}", "Line 1, column 5: Unexpected }}"],
    ["line\n  {{foo &}}", "Line 2, column 8: Unexpected &"],
    ["line\n  {{foo %}}", 'Line 2, column 9: "%" is not supported in a tag'],
    ["{{a", "Line 1, column 1: This tag is not closed"],
    ["\n {{!-- a }}", "Line 2, column 2: This comment is not closed"],
    ["{{> part}}", "Line 1, column 1: Only variables, #if, #unless, #each, #with and comments are supported"],
    ["{{* decorate}}", "Line 1, column 1: Only variables, #if, #unless, #each, #with and comments are supported"],
    ["{{lookup a b}}", 'Line 1, column 1: There is no helper "lookup"'],
    ["{{a b=c}}", 'Line 1, column 1: There is no helper "a"'],
    ["{{#list}}{{/list}}", 'Line 1, column 1: There is no block "list"; use #if, #unless, #each or #with'],
    ["{{#if a b}}{{/if}}", "Line 1, column 1: #if takes one variable and nothing else"],
    ["{{#if}}{{/if}}", "Line 1, column 1: #if takes one variable and nothing else"],
    ["{{#if 1}}{{/if}}", "Line 1, column 1: #if takes one variable and nothing else"],
    ["{{#if a includeZero=true}}{{/if}}", "Line 1, column 1: #if takes one variable and nothing else"],
    ["{{#each a as |b|}}{{/each}}", "Line 1, column 1: #each takes one variable and nothing else"],
    ['{{a "}}"}}', 'Line 1, column 5: """ is not supported in a tag'],
    ["{{(a)}}", 'Line 1, column 3: "(" is not supported in a tag'],
    ["{{{{raw}}}}x{{{{/raw}}}}", 'Line 1, column 3: "{" is not supported in a tag'],
    ["{{a}}\n b\0", "Line 2, column 3: The character U+0000 is not allowed"],
  ])("%j is rejected with the position of the error", (template, message) => {
    expect(() => parseTemplate(template)).toThrow(new TemplateError(message));
  });

  test.each([
    ["a".repeat(65_537), /65536 characters/],
    ["{{a}}".repeat(501), /column 2501: .* 500 tags/],
    ["\\{{".repeat(501), /500 tags/],
    [`{{${"a".repeat(300)}}}`, /300 characters/],
    [`{{a ${"(a ".repeat(15_000)}${")".repeat(15_000)}}}`, /300 characters/],
    [`{{a "}}" ${"(a ".repeat(10_000)}${")".repeat(10_000)}}}`, /not supported/],
    [`{{#if a}}`.repeat(17) + "{{/if}}".repeat(17), /column 145: .* 16 deep/],
    [`{{#if a}}${"{{else if a}}".repeat(16)}{{/if}}`, /16 deep/],
    [`{{${"../".repeat(10)}a}}`.repeat(200), /2000 names/],
  ])("text %# is rejected before parsing", (template, message) => {
    expect(() => parseTemplate(template)).toThrow(message);
  });
});

describe("a hostile template", () => {
  const items = Array.from({ length: 100 }, () => ({ text: "<".repeat(1000) }));
  const nested = (levels: number, body: string): string =>
    `{{#each items}}${"{{#each @root.items}}".repeat(levels - 1)}${body}${"{{/each}}".repeat(levels)}`;

  test("fails once it exceeds its steps, whatever it does in them", () => {
    for (const body of ["{{a}}", "", "{{a.a.a.a}}", "{{#if a}}{{/if}}", "{{../../../x}}"]) {
      expect(() => render(nested(8, body), { items }), body).toThrow(`more than ${RENDER_LIMITS.steps} steps`);
    }
  });

  test("fails once it exceeds its output size, including escapes", () => {
    expect(() => render(nested(1, "{{text}}"), { items })).toThrow(`more than ${RENDER_LIMITS.output} characters`);
    expect(() => render(nested(2, "x".repeat(1000)), { items })).toThrow(`more than ${RENDER_LIMITS.output} characters`);
  });

  test("renders if it stays below the limits", () => {
    expect(render(nested(2, "abc"), { items })).toBe("abc".repeat(10_000));
  });
});

// From one syntax tree: releases of the parser differ in the spaces around `else if`.
test("any template of the subset renders as Handlebars does", () => {
  const name = fc.constantFrom(
    "a",
    "b",
    "list",
    "this",
    "../a",
    "../../b",
    "@index",
    "@key",
    "@first",
    "a.b",
    "list.length",
    "@../index",
    "this.b",
  );
  const space = fc.constantFrom("", " ", "\n", "  \n", "x\n", "<p> ", "y");
  const tilde = fc.constantFrom("", "~");
  const value = fc.tuple(tilde, name, tilde).map(([open, path, close]) => `{{${open}${path}${close}}}`);
  const comment = fc.constantFrom("{{! note }}", "{{!-- }} --}}", "{{~! x ~}}");
  const { template } = fc.letrec<{ template: string; block: string }>((tie) => ({
    template: fc
      .array(fc.oneof({ depthSize: "small", maxDepth: 3 }, space, value, comment, tie("block")), { maxLength: 5 })
      .map((parts) => parts.join("")),
    block: fc
      .tuple(
        fc.constantFrom("if", "unless", "each", "with"),
        name,
        tie("template"),
        fc.option(fc.tuple(name, tie("template"))),
        fc.option(tie("template")),
        tilde,
      )
      .map(([kind, path, body, other, otherwise, strip]) =>
        [
          `{{#${kind} ${path}${strip}}}${body}`,
          other ? `{{${strip}else if ${other[0]}}}${other[1]}` : "",
          otherwise === null ? "" : `{{else}}${otherwise}`,
          `{{/${kind}}}`,
        ].join(""),
      ),
  }));
  // No null and no values that are equal by ==: Handlebars then miscounts '../', and `this` becomes an empty object.
  const leaf = fc.constantFrom("text", "<&>", 2, 7, true, false);
  const record = fc.record({
    a: leaf,
    b: leaf,
    list: fc.array(leaf, { maxLength: 2 }),
  });
  const data = fc.record({ a: fc.oneof(leaf, record), b: leaf, list: fc.array(record, { maxLength: 3 }) });
  fc.assert(
    fc.property(template, data, (source, variables) => {
      expect(unified(render(source, variables))).toBe(handlebars.compile(parse(source))(unprinted(variables)).replaceAll(UNPRINTED, ""));
    }),
    { numRuns: 500 },
  );
});

test("any text is either rendered or rejected with a TemplateError", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "{",
    "}",
    "#if a",
    "/if",
    "else",
    "!",
    "--",
    "~",
    "a",
    " ",
    "\n",
    "\0",
    "\\",
    "(",
    '"',
    "[",
    "]",
    "as |x|",
    "@",
    "../",
    "&",
    ">",
    "*",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        expect(typeof render(pieces.join(""))).toBe("string");
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 3000 },
  );
});
