import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withLateScripts } from "./script-priorities.ts";

const script = (name: string, priority = "") => `<script type="module" ${priority}src="/_astro/${name}.a1b2.js"></script>`;

test("scripts that only add to a page have a low priority, and the page's frame keeps its own", () => {
  const page = ["ec", "TableOfContents.astro_astro_type_script_index_0_lang", "page", "page-frame", "Page"]
    .map((name) => script(name))
    .join("");
  expect(withLateScripts(page)).toBe(
    [
      script("ec", 'fetchpriority="low" '),
      script("TableOfContents.astro_astro_type_script_index_0_lang", 'fetchpriority="low" '),
      script("page"),
      script("page-frame"),
      script("Page"),
    ].join(""),
  );
});

test("a script in a sample stays as it is", () => {
  const sample = "<code>&lt;script type=&quot;module&quot; src=&quot;/_astro/ec.a1b2.js&quot;&gt;</code>";
  expect(withLateScripts(sample)).toBe(sample);
});

test.each(["docs/api-reference/createPoll", "guides/data-providers", "sdk/web/core-sdk/configure"])("in the built page /%s", (page) => {
  const html = readFileSync(`docs/dist/${page}/index.html`, "utf8");
  const scripts = [...html.matchAll(/<script type="module"([^>]*) src="\/_astro\/([\w-]+)/g)].map(([, priority = "", name = ""]) => [
    name,
    priority.trim(),
  ]);
  expect(Object.fromEntries(scripts)).toMatchObject({
    "page-frame": "",
    TableOfContents: 'fetchpriority="low"',
    ec: 'fetchpriority="low"',
  });
});
