import { recall, forget, remember } from "./storage.ts";

/** One version of the docs; the site has only the current one. */
export interface DocsVersion {
  name: string;
  label: string;
  /** Base path of its pages. */
  path: string;
  docs: { id: string; path: string; sidebar?: string }[];
  sidebars: Record<string, { label: string; path: string } | undefined>;
  mainDocId: string;
  draftIds: string[];
}

/** Version of the OpenAPI document that the site documents. */
export const DOCUMENT_VERSION = "2.0.0";

export const CURRENT = { name: "current", label: DOCUMENT_VERSION, path: "/" } as const;

const PREFERRED = "docs-preferred-version-default";

/** The version that the reader chose earlier; a version that no longer exists is deleted. */
export function preferredVersion(names: readonly string[]): string | null {
  const name = recall(PREFERRED);
  if (name === null || names.includes(name)) return name;
  forget(PREFERRED);
  return null;
}

/** Stores the reader's choice for later visits. */
export function preferVersion(name: string): void {
  remember(PREFERRED, name);
}
