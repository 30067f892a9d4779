import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts, userProfiles } from "#db/schema/accounts.ts";
import { type ChatSettingsRow, chatBans, chatRooms, chatSettings } from "#db/schema/engagement/chat.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { sites } from "#db/schema/sites.ts";
import type { AccountRole } from "#db/types.ts";
import type { RoomSettings, SenderFacts } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { managesPage, moderatesChannel } from "#worker/lib/roles.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { counts, selectPaying } from "#worker/services/leaderboards/paying.ts";
import { hashOfDevice } from "#worker/services/realtime/device-hash.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { givesAccess } from "#worker/services/subscriptions/entitlements.ts";
import { ownRows } from "#worker/services/core/context.ts";
import type { Ban } from "./admission.ts";
import { type WordFilter, wordFilterOf } from "./filtered-words.ts";
import { protectedLooks } from "./names.ts";
import { DEFAULT_EMOJI } from "./schemas.ts";

// What a room reads from the database.

/** Staff whose names are protected; a site has far fewer. */
const MAX_STAFF = 500;

/** Everything that a room follows, as of one moment. */
export interface RoomConfig {
  settings: Omit<RoomSettings, "pinned">;
  pinnedMessageId: string | null;
  allowLinks: boolean;
  filter: WordFilter;
  /** What names of viewers may not look like. */
  looks: ReadonlySet<string>;
  /** The sender of the site's own messages. */
  systemName: string;
  /** By account. */
  bans: Map<string, Ban>;
  mutes: Map<string, Ban>;
  /** Whether the deployment's automatic moderator checks messages: it and the translator cost money, and anybody can create a sandbox. */
  usesModerator: boolean;
  /** Whether leaderboards pay for likes. */
  paysLikes: boolean;
  /** By the device's hash. */
  devices: Map<string, Ban>;
}

const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));

/** The configuration of a room; null if the site has no such channel. Registers the room on its first use. */
export async function readRoomConfig(env: Env, siteId: string, channelId: string, now: number): Promise<RoomConfig | null> {
  const db = siteDb(env, siteId);
  const [[page], [row], chatPanels, bans, staff, boards, [site]] = await db.batch([
    db
      .select({ id: pages.id })
      .from(pages)
      .where(and(eq(pages.siteId, siteId), eq(pages.id, channelId), eq(pages.type, "channel"))),
    db
      .select()
      .from(chatSettings)
      .where(and(eq(chatSettings.siteId, siteId), eq(chatSettings.id, channelId))),
    db
      .select({ renderer: panels.renderer })
      .from(panels)
      .where(
        and(
          eq(panels.panelType, "chat"),
          ownRows(
            { siteId },
            panels,
            sql`(select json_extract(${pages.data}, '$.sidebar.panels') from ${pages} where ${pages.siteId} = ${siteId} and ${pages.id} = ${channelId})`,
          ),
        ),
      ),
    db
      .select({
        accountId: chatBans.accountId,
        deviceId: chatBans.deviceId,
        kind: chatBans.kind,
        until: chatBans.until,
        reason: chatBans.reason,
      })
      .from(chatBans)
      .where(
        and(eq(chatBans.siteId, siteId), inArray(chatBans.channelId, ["", channelId]), or(isNull(chatBans.until), gt(chatBans.until, now))),
      ),
    db
      .select({ name: accounts.name })
      .from(accounts)
      .where(and(eq(accounts.siteId, siteId), sql`${accounts.roles} <> '[]'`))
      .limit(MAX_STAFF),
    selectPaying(db, siteId, "message.liked"),
    db.select({ name: sites.name }).from(sites).where(eq(sites.id, siteId)),
    db
      .insert(chatRooms)
      .select(
        sql`select id, site_id from ${pages} where ${pages.siteId} = ${siteId} and ${pages.id} = ${channelId}
      and ${pages.type} = 'channel'`,
      )
      .onConflictDoNothing(),
  ]);
  if (!page || !site) return null;
  const inSandbox = await isSandbox(env, siteId);
  const renderers = chatPanels.flatMap(({ renderer }) => (renderer.panel_type === "chat" ? [renderer] : []));
  const ofAccounts = bans.flatMap(({ accountId, ...ban }) => (accountId === "" ? [] : [{ ...ban, target: accountId }]));
  const system = renderers.find(({ system_name }) => system_name !== undefined) ?? renderers[0];
  return {
    settings: {
      ...settingsOf(channelId, row),
      ...(inSandbox && { languages: [] }),
      system: {
        name: system?.system_name ?? null,
        image: system?.system_image ?? null,
        welcomeMessage: system?.system_welcome_message ?? null,
      },
    },
    pinnedMessageId: row?.pinnedMessageId ?? null,
    allowLinks: renderers.length > 0 && renderers.every(({ allow_non_admin_links }) => allow_non_admin_links),
    filter: wordFilterOf(renderers.map(({ filtered_words }) => filtered_words)),
    looks: protectedLooks([...renderers.flatMap(({ system_name }) => system_name ?? []), ...staff.map(({ name }) => name)]),
    usesModerator: !inSandbox,
    paysLikes: boards.some((board) => counts(board, [channelId])),
    systemName: system?.system_name ?? site.name,
    bans: longestOf(ofAccounts.filter(({ kind }) => kind === "ban")),
    mutes: longestOf(ofAccounts.filter(({ kind }) => kind === "mute")),
    devices: longestOf(
      bans.flatMap(({ deviceId, ...ban }) => (deviceId === "" ? [] : [{ ...ban, target: hashOfDevice(siteId, deviceId) }])),
    ),
  };
}

function settingsOf(channelId: string, row: ChatSettingsRow | undefined): Omit<RoomSettings, "pinned" | "system"> {
  return {
    channelId,
    mode: row?.mode ?? "open",
    slowSeconds: row?.slowSeconds ?? 0,
    premoderate: row?.premoderate ?? false,
    skus: row?.skus ?? [],
    emoji: row?.emoji ?? DEFAULT_EMOJI,
    languages: row?.languages ?? [],
    version: row?.version ?? 0,
    created: row?.created ?? null,
    modified: row?.modified ?? null,
  };
}

/** The ban that lasts longest, of those of the site and of the channel. */
function longestOf(bans: ({ target: string } & Ban)[]): Map<string, Ban> {
  const longest = new Map<string, Ban>();
  for (const { target, until, reason } of bans) {
    const known = longest.get(target);
    if (!known || (known.until !== null && (until === null || until > known.until))) longest.set(target, { until, reason });
  }
  return longest;
}

/** What the room needs to know about these accounts; those that no longer exist are missing. One round trip for any number. */
export async function readSenders(
  env: Env,
  { siteId, channelId, skus }: { siteId: string; channelId: string; skus: string[] },
  accountIds: string[],
  now: number,
): Promise<Map<string, SenderFacts>> {
  const { sku } = accountEntitlements;
  const rows = await siteDb(env, siteId)
    .select({
      id: accounts.id,
      name: sql<string>`coalesce(${userProfiles.name}, ${accounts.name})`.as("shown_name"),
      roles: sql<string>`${effectiveRoles}`.as("effective_roles"),
      isMember: sql<number>`exists (select 1 from ${accountEntitlements} where ${accountEntitlements.siteId} = ${siteId}
        and ${accountEntitlements.accountId} = ${accounts.id} and ${givesAccess(now)}
        and ${sku} in (select value from json_each(${JSON.stringify(skus)})))`.as("is_member"),
    })
    .from(accounts)
    .leftJoin(userProfiles, and(eq(userProfiles.siteId, siteId), eq(userProfiles.accountId, accounts.id)))
    .where(ownRows({ siteId }, accounts, accountIds));
  return new Map(
    rows.map(({ id, name, roles, isMember }) => [id, factsOf(name, Roles.parse(JSON.parse(roles)), channelId, isMember === 1)]),
  );
}

function factsOf(name: string, roles: AccountRole[], channelId: string, isMember: boolean): SenderFacts {
  const isAdmin = managesPage(roles, channelId, "write");
  const isExempt = moderatesChannel(roles, "Chat_Moderator", channelId, "write");
  const badges: SenderFacts["roles"] = isAdmin ? ["admin"] : isExempt ? ["moderator"] : [];
  return { name, roles: badges, isExempt, moderator: moderatesChannel(roles, "Chat_Moderator", channelId, "read"), isMember };
}
