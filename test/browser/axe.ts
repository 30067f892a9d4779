import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface Scope {
  /** A selector of what is checked; the whole page by default. */
  within?: string;
  /** Selectors of what isn't. */
  exclude?: string[];
}

/** What axe finds on a page: each broken rule with the markup that breaks it. */
export async function axeViolations(page: Page, { within = "html", exclude = [] }: Scope = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // What a changed theme or width makes React draw.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  const context = JSON.stringify({ include: [[within]], exclude: exclude.map((selector) => [selector]) });
  // By default, axe also loads the styles a second time, for a rule that isn't enabled.
  const options = JSON.stringify({ resultTypes: ["violations"], preload: { assets: ["media"] } });
  const { violations } = await page.evaluate<Pick<AxeResults, "violations">>(`axe.run(${context}, ${options})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
