import { and, eq, sql } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { invalid } from "#worker/lib/errors.ts";
import { maskWords, wordFilterOf } from "#worker/services/chat/filtered-words.ts";
import { maskLinks } from "#worker/services/chat/links.ts";
import { normalizeText } from "#worker/services/chat/text.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** What the chat panels of a channel say about texts; the same applies to its questions. */
export interface TextRules {
  filteredWords: string[];
  allowLinks: boolean;
}

/** A question's text as everybody may read it, and the unmasked one if it differs. */
export interface MaskedText {
  text: string;
  original: string | null;
}

/** Normalizes and masks what an account asks; throws a 400 for a text that is blank or too long. Links of moderators stay. */
export function maskQuestion(raw: string, { filteredWords, allowLinks }: TextRules, isModerator: boolean): MaskedText {
  const normalized = normalizeText(raw);
  if (!normalized.ok) throw invalid("text", normalized.message);
  const { text: original } = normalized;
  const withoutLinks = allowLinks || isModerator ? original : maskLinks(original);
  const text = maskWords(withoutLinks, wordFilterOf(filteredWords));
  return { text, original: text === original ? null : original };
}

/** Reads the rules from the chat panels beside a channel's video. */
export async function readTextRules(ctx: Ctx, channelId: string): Promise<TextRules> {
  const rows = await ctx.db
    .select({ renderer: panels.renderer })
    .from(panels)
    .innerJoin(
      pages,
      sql`${pages.siteId} = ${panels.siteId} and exists (select 1 from json_each(${pages.data}, '$.sidebar.panels') where value = ${panels.id})`,
    )
    .where(and(eq(panels.siteId, ctx.siteId), eq(pages.id, channelId), eq(panels.panelType, "chat")));
  const chats = rows.flatMap(({ renderer }) => (renderer.panel_type === "chat" ? [renderer] : []));
  return {
    filteredWords: chats.map((chat) => chat.filtered_words),
    allowLinks: chats.some((chat) => chat.allow_non_admin_links),
  };
}
