import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import { PATHS_WITH_KEYWORDS } from "../../search-keywords/index.ts";
import { MORE_QUESTIONS } from "./more-questions.ts";
import { QUESTIONS } from "./questions.ts";
import { Ranking } from "./ranking.ts";

const DIST = "docs/dist";
const MAX_BYTES = 120_000;
const TOP = 3;
/** Of the 100 questions of each list. */
const AT_LEAST = 95;

const Entry = z.object({
  i: z.number().exactOptional(),
  t: z.string().exactOptional(),
  u: z.string().exactOptional(),
  h: z.string().exactOptional(),
  b: z.array(z.string()).exactOptional(),
  p: z.number().exactOptional(),
});
const SearchFile = z.array(z.object({ documents: z.array(Entry), index: z.array(z.string()) }));

const files = readdirSync(DIST).filter((name) => /^search-index-(.+-)?[0-9a-f]{8}\.json$/.test(name));

function read(name: string): string {
  return readFileSync(`${DIST}/${name}`, "utf8");
}

let ranking: Ranking;

beforeAll(() => {
  const [site = ""] = files.filter((name) => /^search-index-[0-9a-f]{8}\.json$/.test(name));
  ranking = new Ranking(SearchFile.parse(JSON.parse(read(site))));
});

/** Whether a result leads to a page: with an anchor only to this entry of the page. */
function leadsTo(url: string, page: string): boolean {
  return url === page || (!page.includes("#") && url.split("#")[0] === page);
}

describe("the index of the search box", () => {
  test.each(files)("%s is at most 120 kB compressed and contains five lists", (name) => {
    const text = read(name);
    expect(gzipSync(text).length).toBeLessThanOrEqual(MAX_BYTES);
    expect(SearchFile.parse(JSON.parse(text))).toHaveLength(5);
  });

  test("exists once for the site and once per section", () => {
    expect(files.length).toBe(9);
  });

  test("has the right page among the first three results for 95 of 100 plain questions", () => {
    const missed = QUESTIONS.filter(([question, ...pages]) => {
      const first = ranking.search(question, TOP).map(({ url }) => url);
      return !first.some((url) => pages.some((page) => leadsTo(url, page)));
    });
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(100);
    expect(missed.map(([question]) => question).slice(5)).toEqual([]);
  });

  test.each(Object.entries(MORE_QUESTIONS))("has it for 95 of 100 questions of the list %s", (_, questions) => {
    const found = questions.filter(([question, ...pages]) => {
      const first = ranking.search(question, TOP).map(({ url }) => url);
      return first.some((url) => pages.some((page) => leadsTo(url, page)));
    });
    expect(questions).toHaveLength(100);
    expect(found.length).toBeGreaterThanOrEqual(AT_LEAST);
  });

  test("corrects typing errors, and reads words that are joined or split", () => {
    expect(ranking.search("boradcast overlay", TOP).map(({ url }) => url)).toContain("/docs/api-reference/broadcastOverlay");
    expect(ranking.search("slowmode", TOP).map(({ url }) => url)).toEqual(ranking.search("slow mode", TOP).map(({ url }) => url));
    expect(ranking.search("change log", TOP).map(({ url }) => url)).toContain("/changelog");
  });

  test("has keywords only for pages that exist", () => {
    expect(PATHS_WITH_KEYWORDS.filter((path) => !path.includes("#") && !existsSync(`${DIST}${path}/index.html`))).toEqual([]);
  });

  test("finds an operation by its id, its request and its name with hyphens", () => {
    for (const query of [
      "replacePollAnswers",
      "PUT /poll/v3/{id}/answers",
      "put https://tifo.example.com/poll/v3/5eed0000000000000000b001/answers",
      "replace-poll-answers",
    ]) {
      expect(ranking.search(query, 1)[0]?.url, query).toBe("/docs/api-reference/replacePollAnswers");
    }
    expect(ranking.search("/poll/v3/:id/answers", 2).map(({ url }) => url)).toEqual(
      expect.arrayContaining(["/docs/api-reference/replacePollAnswers", "/docs/api-reference/listPollAnswers"]),
    );
  });

  test("finds a header, a frame and a variable by their names", () => {
    expect(ranking.search("Idempotency-Key", 1)[0]?.url).toContain("/concepts/idempotency");
    expect(ranking.search("overlay.show", TOP).map(({ url }) => url.split("#")[0])).toContain("/concepts/realtime");
    expect(ranking.search("TIFO_ALERT_URL", TOP).map(({ url }) => url.split("#")[0])).toContain("/guides/operations");
  });

  test("finds an error by its code and by its status", () => {
    expect(ranking.search("already_answered", 1)[0]?.url).toBe("/errors#already_answered");
    expect(ranking.search("412", TOP).map(({ url }) => url)).toContain("/errors#precondition_failed");
  });

  test("takes a question that is a page's keyword word for word for the name of that page", () => {
    expect(ranking.search("what is new", 1)[0]?.url).toBe("/changelog");
    expect(ranking.search("if this then that", 1)[0]?.url).toBe("/docs/api-reference/createAutomationRule");
    expect(ranking.search("  Which   key do I use?", 1)[0]?.url).toBe("/api/key");
  });

  test("takes a single word that is a page's keyword for the name of that page", () => {
    expect(ranking.search("logs", 1)[0]?.url).toBe("/guides/operations");
    expect(ranking.search("emergency stop", TOP).map(({ url }) => url)).toContain("/docs/api-reference/clearBroadcasts");
    expect(ranking.search("server logs", TOP).map(({ url }) => url)).toContain("/guides/operations");
    expect(ranking.search("export personal data", TOP).map(({ url }) => url)).toContain("/docs/api-reference/exportAccount");
  });

  test("lists changelogs after the pages on the same subject", () => {
    expect(ranking.search("web sdk", TOP).map(({ url }) => url)).not.toContain("/sdk/web/getting-started/CHANGELOG");
  });

  test("returns nothing for stop words and for words that no page has", () => {
    expect(ranking.search("how to do the", TOP)).toEqual([]);
    expect(ranking.search("xyzzyplugh", TOP)).toEqual([]);
  });
});
