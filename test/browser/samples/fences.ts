import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#scripts/lib/root.mjs";

/** A block of code on a page of the site. */
export interface Fence {
  /** Path of the page's source from the root. */
  page: string;
  /** Of its first line, from 1. */
  line: number;
  language: string;
  /** What follows the language: `signature`, `norun="why"`, a title. */
  meta: string;
  code: string;
}

const PAGES = "docs/src/content/docs/**/*.{md,mdx}";
const ALIASES: Record<string, string> = { bash: "sh", shell: "sh", javascript: "js", py: "python", typescript: "ts", kt: "kotlin" };

/** Every fence of every page. */
export function allFences(): Fence[] {
  return globSync(PAGES, { cwd: ROOT })
    .sort()
    .flatMap((page) => fencesOf(page, readFileSync(join(ROOT, page), "utf8")));
}

/** The fences of one page, without the indent that a list or a component around them gives. */
export function fencesOf(page: string, text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { fence: Fence; indent: number; mark: string; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, space = "", mark = "", info = ""] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (!open && mark !== "") {
      const [, name = "", meta = ""] = /^\s*(\S*)\s*(.*)$/.exec(info) ?? [];
      const fence = { page, line: index + 2, language: ALIASES[name] ?? name, meta: meta.trim(), code: "" };
      open = { fence, indent: space.length, mark, lines: [] };
    } else if (open && mark.startsWith(open.mark) && info.trim() === "") {
      fences.push({ ...open.fence, code: open.lines.join("\n") });
      open = undefined;
    } else open?.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
  }
  if (open) throw new Error(`${page}:${open.fence.line - 1}: the fence is never closed`);
  return fences;
}

/** Why a fence is not run, if it says so. */
export function unrun({ meta }: Fence): string | undefined {
  return /\bnorun="([^"]+)"/.exec(meta)?.[1];
}

/** What a shell fence says that it prints, `*` standing for anything: `prints="404 404"`. */
export function promisedOutput({ meta }: Fence): RegExp | undefined {
  const text = /\bprints="([^"]+)"/.exec(meta)?.[1];
  return text === undefined ? undefined : new RegExp(`^${text.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&").replaceAll("*", ".*")}$`);
}

/** Whether a fence shows requests that the API rejects. */
export function showsErrors(fence: Fence): boolean {
  return /\brefused\b/.test(fence.meta) || promisedOutput(fence) !== undefined;
}

/** Fences of some languages that are to be run or parsed. */
export function fencesIn(fences: Fence[], ...languages: string[]): Fence[] {
  return fences.filter((fence) => languages.includes(fence.language) && unrun(fence) === undefined);
}

/** Where a fence stands, for a message. */
export function place({ page, line }: Fence): string {
  return `${page}:${line}`;
}
