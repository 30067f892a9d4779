import { expect, test } from "vitest";
import { readPage } from "./html.ts";
import { linkFaults } from "./link-check.ts";

const files = new Set(["a/index.html", "b/index.html", "logo.svg"]);
const other = readPage("b/index.html", '<h2 id="there">There</h2>');

function faults(html: string): string[] {
  return linkFaults([readPage("a/index.html", html), other], files, "http://localhost:8787");
}

test("accepts links to pages, anchors, files and other hosts", () => {
  expect(faults('<a href="/b">b</a><a href="/b/#there">there</a><a href="#x" id="x">x</a><img src="/logo.svg" alt="">')).toEqual([]);
  expect(faults('<a href="https://example.com/">out</a><a href="mailto:a@example.com">mail</a>')).toEqual([]);
});

test.each([
  ['<a href="/c">c</a>', "/c leads nowhere"],
  ['<a href="/B">case</a>', "/B leads nowhere"],
  ['<a href="http://localhost:8787/c">c</a>', "leads nowhere"],
  ['<a href="/b#here">b</a>', "there is no #here"],
  ['<a href="#gone">gone</a>', "there is no #gone"],
  ['<img src="/none.png" alt="">', "/none.png leads nowhere"],
  ['<img src="/logo.svg">', "without alt"],
  ['<script src="https://cdn.example.com/x.js"></script>', "another host"],
  ['<link rel="stylesheet" href="//fonts.example.com/x.css">', "another host"],
])("finds the fault of %s", (html, fault) => {
  const [found] = faults(html);
  expect(found).toContain(fault);
  expect(found).toMatch(/, on \/a$/);
});
