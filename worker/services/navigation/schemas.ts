import { z } from "@hono/zod-openapi";
import { NAVIGATION_ENTRY_TYPES, NAVIGATION_TYPES } from "#db/enums.ts";
import type { NavigationRow } from "#db/schema/navigation.ts";
import type { NavigationEntry } from "#db/types.ts";
import { Id, LinkUrl, Tracked } from "#worker/lib/schemas/common.ts";

const Name = z.string().trim().min(1).max(200);

const entry = {
  type: z.enum(NAVIGATION_ENTRY_TYPES),
  pageId: Id.optional().describe("The page of the site that the entry links to; required for a channel or landing entry"),
  name: Name.optional().describe("Required for a folder; for a page, shown instead of the page's own name"),
  private: z
    .boolean()
    .default(false)
    .describe("Returned, with everything below it, only to developer keys, site admins and viewers who pass the gate of its page"),
};

function checkEntry({ type, pageId, name }: NavigationEntry, issues: z.core.$RefinementCtx): void {
  const reject = (path: string, message: string): void => issues.addIssue({ code: "custom", path: [path], message });
  if (type === "folder") {
    if (name === undefined) reject("name", "Required for a folder");
    if (pageId !== undefined) reject("pageId", "A folder can't link to a page");
  } else if (pageId === undefined) reject("pageId", `Required for a ${type}`);
}

function entriesOf<T extends z.ZodType>(item: T) {
  return z.array(item).max(200);
}

// Four levels with a schema each instead of recursion: anything deeper is an unknown field, however deep the input is.
const Level4 = z.strictObject(entry).superRefine(checkEntry).openapi("NavigationEntryLevel4");
const Level3 = z
  .strictObject({ ...entry, children: entriesOf(Level4).optional() })
  .superRefine(checkEntry)
  .openapi("NavigationEntryLevel3");
const Level2 = z
  .strictObject({ ...entry, children: entriesOf(Level3).optional() })
  .superRefine(checkEntry)
  .openapi("NavigationEntryLevel2");
const Level1 = z
  .strictObject({ ...entry, children: entriesOf(Level2).optional() })
  .superRefine(checkEntry)
  .openapi("NavigationEntry");

const editable = {
  name: Name.openapi({ example: "Match day" }),
  type: z.enum(NAVIGATION_TYPES).describe("A site has one default; setting a new default turns the old one into a custom one"),
  parents: entriesOf(Level1).describe("The menu's entries, nested up to four levels"),
  externalLinks: z.array(z.strictObject({ name: Name, url: LinkUrl })).max(100),
};

export const Navigation = z.object({ _id: Id, siteId: Id, ...editable, ...Tracked }).openapi("Navigation");

export const NavigationInput = z
  .strictObject({ siteId: Id.describe("Must equal Tifo-Client-Id"), ...editable })
  .openapi("NavigationInput", {
    example: {
      siteId: "5eed00000000000000000001",
      name: "Match day",
      type: "default",
      parents: [
        { type: "channel", pageId: "5eed0000000000000000c001" },
        { type: "folder", name: "Behind the scenes", children: [{ type: "channel", pageId: "5eed0000000000000000c002", private: true }] },
      ],
      externalLinks: [{ name: "Tickets", url: "https://demo.example/tickets" }],
    },
  });

export const NavigationFilters = {
  type: z.enum(NAVIGATION_TYPES).optional(),
  name: z.string().max(200).optional().describe("Exactly this name, ignoring case and accents"),
};

export const ApplyNavigation = z.strictObject({ pageId: Id }).openapi("ApplyNavigation");

export type NavigationInput = z.output<typeof NavigationInput>;

export function toNavigation(row: NavigationRow): z.output<typeof Navigation> {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    type: row.type,
    parents: row.parents,
    externalLinks: row.externalLinks,
    created: row.created,
    modified: row.modified,
  };
}
