import { expect, test } from "vitest";
import { MAX_LENGTH, problemsOf } from "./problems.ts";

function marked(html: string): [string, string][] {
  return problemsOf(html).map(({ from, to, message }) => [html.slice(from, to), message]);
}

test("html that is shown as it is written has no problems", () => {
  const html = `<!-- note --><style>.a { color: red } @media (width > 1em) { .a{b:c} }</style>
    <p class="a">{{name}} {{{ own.value }}} &amp; <br><img src="https://x.example/a.png"><ul><li>1<li>2</ul><p>
    <svg><path d="M0"/></svg><img src="/media/v1/0123456789abcdef01234567"> 1 < 2 { }`;
  expect(marked(html)).toEqual([]);
  expect(marked("")).toEqual([]);
});

test("what an overlay's frame removes or blocks is named where it is written", () => {
  expect(marked(`<script>alert(1)</script><img src=x onerror="a()"><iframe src="https://x.example"></iframe>`)).toEqual([
    ["<script>", "Scripts don't run in an overlay"],
    [`onerror="a()"`, "Scripts don't run in an overlay, so “onerror” does nothing"],
    [`<iframe src="https://x.example">`, "<iframe> is removed before the overlay is shown"],
  ]);
  expect(marked(`<link rel="stylesheet" href="a.css"><a HREF='/x'>y</a><form></form><img src="http://x.example/a.png">`)).toEqual([
    [`<link rel="stylesheet" href="a.css">`, "<link> is removed before the overlay is shown"],
    ["HREF='/x'", "Links do nothing in an overlay: give it a call to action instead"],
    ["<form>", "A form can't be sent from an overlay"],
    [`src="http://x.example/a.png"`, "Only https addresses are loaded"],
  ]);
});

test("tags that aren't closed, or close nothing, are named where they are written", () => {
  expect(marked("<div><b>x</div></i>")).toEqual([
    ["<b>", "<b> is never closed"],
    ["</i>", "</i> closes nothing that is open"],
  ]);
  expect(marked("<p>a <b")).toEqual([["<b", "This tag has no end: write >"]]);
  expect(marked("<b>x</b")).toEqual([["</b", "This tag has no end: write >"]]);
});

test("braces that aren't a variable are named, as viewers would see them", () => {
  const message = (text: string) => `${text} isn't a variable: write {{name}}, with letters, digits, “_”, “.” and “-”`;
  const wrong = ["{{#if goal}}", "{{1st}}", "{{first name}}", "{{open", "{{name}"];
  expect(marked(wrong.join("\n"))).toEqual(wrong.map((text) => [text, message(text)]));
});

test("text beyond the limit is a problem, and no more than fifty others are listed", () => {
  const html = `${"<b>".repeat(60)}${"x".repeat(MAX_LENGTH)}`;
  expect(problemsOf(html)).toHaveLength(51);
  expect(problemsOf(html)[0]).toEqual({ from: MAX_LENGTH, to: html.length, message: "Too long by 180 characters: at most 65,536" });
});
