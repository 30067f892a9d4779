import type { ApiExcerpt } from "#studio/api/schema.ts";
import type { ComponentType } from "react";
import type { Section } from "#studio/app/screen.ts";
import type { Access } from "#studio/session/access.ts";
import type { IconName } from "#studio/ui/icon.tsx";

/** Something of the API that a generic table lists and a generic form edits. */
export interface Resource {
  /** Its address below `/studio`. */
  path: string;
  title: string;
  /** One of them, in a sentence: "channel". */
  singular: string;
  /** Several of them, in a sentence; by default the title. */
  plural?: string;
  /** What they are for, for whoever has none yet. */
  about: string;
  section: Section;
  icon: IconName;
  /** The ids of its operations in the OpenAPI document. */
  operations: { list: string; read: string; create?: string; update?: string; remove?: string };
  load: () => Promise<{ default: ApiExcerpt }>;
  /** Paths of the table's columns within an item; the first one names it. */
  columns: readonly string[];
  /** Query parameters that narrow the list down. */
  filters?: readonly string[];
  /** For lists of what happens at a time: the query parameters that name the period, and the field of the time. */
  period?: { start: string; end: string; sortBy: string };
  /** What every new one has, which the form doesn't ask for. */
  preset?: Readonly<Record<string, unknown>>;
  /** What the form of a new one starts with. */
  initial?: (now: number) => Record<string, unknown>;
  /** A time of the form that keeps its distance to another one when that one is changed. */
  follows?: { field: string; after: string; unlessSet: number };
  /** Properties of the body that Studio leaves as they are. */
  hidden?: readonly string[];
  /** A screen made for it, instead of the generic form. */
  editor?: () => Promise<{ default: ComponentType }>;
  /** Properties that come first in the form; by default those that the API names first, and free objects last. */
  order?: readonly string[];
  /** Screens about all of them, and about one. */
  links?: readonly { path: string; text: string }[];
  itemLinks?: readonly { path: string; text: string }[];
  allows: (access: Access) => boolean;
  canCreate: (access: Access) => boolean;
  canChange: (access: Access, id: string) => boolean;
  canRemove: (access: Access, id: string) => boolean;
}

export function pluralOf({ plural, title }: Pick<Resource, "plural" | "title">): string {
  return plural ?? title.toLowerCase();
}

/** A value within an item, by the path of a column. */
export function valueAt(item: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), item);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function idOf(item: unknown): string {
  const id = valueAt(item, "_id");
  return typeof id === "string" ? id : "";
}

/** What an item is called: its first column, or another text that is its own. Ids are for machines. */
export function nameOf({ columns, singular }: Pick<Resource, "columns" | "singular">, item: unknown): string {
  const names = [columns[0] ?? "", "email", "slug", "sku"].map((path) => valueAt(item, path));
  return names.find((name) => typeof name === "string" && name !== "")?.toString() ?? `Unnamed ${singular}`;
}
