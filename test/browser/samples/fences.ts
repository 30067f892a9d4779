import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#scripts/lib/root.mjs";

/** A block of code on a page of the site. */
export interface Fence {
  /** Path of the page's source from the root. */
  page: string;
  /** Number of its first line, from 1. */
  line: number;
  language: string;
  /** The text after the language: `signature`, `norun="why"`, a title. */
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

/** The fences of one page, without the indentation of a surrounding list or component. */
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

/** The stated reason why a fence isn't run. */
export function skipReason({ meta }: Fence): string | undefined {
  return /\bnorun="([^"]+)"/.exec(meta)?.[1];
}

/** The output that a shell fence declares, for example `prints="404 404"`; `*` matches anything. */
export function expectedOutput({ meta }: Fence): RegExp | undefined {
  const text = /\bprints="([^"]+)"/.exec(meta)?.[1];
  return text === undefined ? undefined : new RegExp(`^${text.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&").replaceAll("*", ".*")}$`);
}

/** Whether a fence shows requests that the API rejects. */
export function showsErrors(fence: Fence): boolean {
  return /\brejected\b/.test(fence.meta) || expectedOutput(fence) !== undefined;
}

/** The fences in these languages that are run or parsed. */
export function fencesIn(fences: Fence[], ...languages: string[]): Fence[] {
  return fences.filter((fence) => languages.includes(fence.language) && skipReason(fence) === undefined);
}

/** A fence's location, for messages. */
export function place({ page, line }: Fence): string {
  return `${page}:${line}`;
}
