import fc from "fast-check";
import { expect, test } from "vitest";
import { iframeSource, iframeTag } from "./iframe.ts";

test.for<[html: string, src: string]>([
  ['<iframe src="https://stats.example/live"></iframe>', "https://stats.example/live"],
  ["<IFRAME SRC=https://stats.example/live>", "https://stats.example/live"],
  ["<iframe src='https://stats.example/?a=1&amp;b=%22'>", "https://stats.example/?a=1&b=%22"],
  [
    '<div style="x"><p><iframe width="1" src=" https://stats.example/ "></iframe></p></div><script src="https://evil.example"></script>',
    "https://stats.example/",
  ],
  ['<iframe onload="alert(1)" srcdoc="<script>alert(1)</script>" src="https://stats.example/"></iframe>', "https://stats.example/"],
  ['<iframe src="https://one.example/"></iframe><iframe src="https://two.example/"></iframe>', "https://one.example/"],
  ['<iframe src="https://one.example/" src="javascript:alert(1)"></iframe>', "https://one.example/"],
])("iframeSource finds the URL in %s", ([html, src]) => {
  expect(iframeSource(html)).toBe(src);
});

test.for([
  "",
  "https://stats.example/",
  "<iframe></iframe>",
  '<iframe src=""></iframe>',
  '<iframe src="http://stats.example/"></iframe>',
  '<iframe src="//stats.example/"></iframe>',
  '<iframe src="/page"></iframe>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe src="java\nscript:alert(1)"></iframe>',
  '<iframe src="data:text/html,<script>alert(1)</script>"></iframe>',
  '<iframe src="https://user:secret@stats.example/"></iframe>',
  '<iframe srcdoc="<iframe src=https://stats.example/>"></iframe>',
  '<!-- <iframe src="https://stats.example/"></iframe> -->',
  '<textarea><iframe src="https://stats.example/"></iframe></textarea>',
  '<iframe data-src="https://stats.example/"></iframe>',
  '<embed src="https://stats.example/">',
])("iframeSource finds no URL in %s", (html) => {
  expect(iframeSource(html)).toBeUndefined();
});

test("iframeTag writes a tag that parses to the same URL and contains nothing else", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (path) => {
      const src = new URL(`https://stats.example/${path}`).href;
      const tag = iframeTag(src);
      expect(iframeSource(tag)).toBe(src);
      expect(tag.match(/[<>]/g)).toHaveLength(4);
    }),
  );
});

test("iframeSource accepts any text without throwing", () => {
  fc.assert(fc.property(fc.string({ maxLength: 500 }), (html) => void iframeSource(`<iframe ${html}`)));
  expect(iframeSource("<b>".repeat(1600))).toBeUndefined();
});
