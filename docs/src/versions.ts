import { recall, forget, remember } from "./storage.ts";

/** One version of the docs; the site has the current one alone. */
export interface DocsVersion {
  name: string;
  label: string;
  /** Its pages are below this. */
  path: string;
  docs: { id: string; path: string; sidebar?: string }[];
  sidebars: Record<string, { label: string; path: string } | undefined>;
  mainDocId: string;
  draftIds: string[];
}

/** Version of the OpenAPI document that the site describes. */
export const DOCUMENT_VERSION = "2.0.0";

export const CURRENT = { name: "current", label: DOCUMENT_VERSION, path: "/" } as const;

const PREFERRED = "docs-preferred-version-default";

/** The version that the reader chose before; a choice that no longer exists is dropped. */
export function preferredVersion(names: readonly string[]): string | null {
  const name = recall(PREFERRED);
  if (name === null || names.includes(name)) return name;
  forget(PREFERRED);
  return null;
}

/** Keeps the reader's choice for later visits. */
export function preferVersion(name: string): void {
  remember(PREFERRED, name);
}
