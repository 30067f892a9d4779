import { describe, expect, test } from "vitest";
import { readPage } from "./html.ts";
import { searchIndex } from "./search-index.ts";
import { buildIndex, wordsOf } from "./text-index.ts";

const page = readPage(
  "guides/one/index.html",
  `<meta name="description" content="All of one."><main data-pagefind-body><h1>One</h1><p>Before.</p>
   <h2 id="first">First part</h2><p>Overlays <b>everywhere</b>.</p><footer>Next</footer></main>`,
);
const hidden = readPage("search/index.html", "<main><h1>Search</h1></main>");

describe("the published search index", () => {
  const [titles, headings, descriptions, keywords, contents] = searchIndex([page, hidden], () => ["Guides"]);

  test("contains titles, headings, descriptions, keywords and contents, each with its index", () => {
    expect(titles?.documents).toEqual([{ i: 1, t: "One", u: "/guides/one", b: ["Guides"] }]);
    expect(headings?.documents).toEqual([{ i: 4, t: "First part", u: "/guides/one", h: "#first", p: 1 }]);
    expect(descriptions?.documents).toEqual([{ i: 2, t: "All of one.", s: "One", u: "/guides/one", p: 1 }]);
    expect(keywords?.documents).toEqual([]);
    expect(contents?.documents).toEqual([
      { i: 3, t: "Before.", s: "One", u: "/guides/one", p: 1 },
      { i: 5, t: "Overlays everywhere .", s: "First part", u: "/guides/one", h: "#first", p: 1 },
    ]);
    expect(contents?.index.invertedIndex.map(([term]) => term)).toEqual(["before", "everywhere", "overlays"]);
  });
});

describe("an index of texts", () => {
  test("lists its terms in order, each with its number and documents", () => {
    const { invertedIndex, fieldVectors } = buildIndex([
      { i: 1, t: "Clear the overlay" },
      { i: 2, t: "Overlay types" },
    ]);
    expect(invertedIndex).toEqual([
      ["clear", { _index: 0, t: { "1": {} } }],
      ["overlay", { _index: 1, t: { "1": {}, "2": {} } }],
      ["types", { _index: 2, t: { "2": {} } }],
    ]);
    expect(fieldVectors.map(([id]) => id)).toEqual(["t/1", "t/2"]);
  });

  test("weights a rare word higher than one that every document contains", () => {
    const [first] = buildIndex([
      { i: 1, t: "Clear overlay" },
      { i: 2, t: "Overlay types" },
    ]).fieldVectors;
    const [, [, clear = 0, , overlay = 0]] = first ?? ["", []];
    expect(clear).toBeGreaterThan(overlay);
  });

  test("contains words without punctuation and no stop words", () => {
    expect(wordsOf("The `magic-link` (of {token}).")).toEqual(["magic", "link", "token"]);
  });
});
