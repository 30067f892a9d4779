import type { AccountRole } from "#db/types.ts";

export type Action = "read" | "write";

/** A developer key acts as site admin, limited to its roles: "*", "<area>:read" or "<area>:write" (which includes read). */
export function keyAllows(roles: string[], area: string, action: Action): boolean {
  return roles.includes("*") || roles.includes(`${area}:write`) || (action === "read" && roles.includes(`${area}:read`));
}

/** Scope `*` without pages is a site admin; `write: false` makes it read-only. */
export function isSiteAdmin(roles: AccountRole[], action: Action): boolean {
  return roles.some((role) => role.scope === "*" && role.pageId.length === 0 && (action === "read" || role.write));
}

/** Scope `*` with pages is an admin of those channels, a creator. */
export function isCreator(roles: AccountRole[], action: Action): boolean {
  return roles.some((role) => role.scope === "*" && role.pageId.length > 0 && (action === "read" || role.write));
}

/** Whether the roles include this page: those of a site admin, and those of a creator that list it. */
export function managesPage(roles: AccountRole[], pageId: string, action: Action): boolean {
  return (
    isSiteAdmin(roles, action) ||
    roles.some((role) => role.scope === "*" && role.pageId.includes(pageId) && (action === "read" || role.write))
  );
}

/** The channels that the roles administer, also if they only read: all for a site admin, otherwise those that a creator's roles list. */
export function managedChannels(roles: AccountRole[]): "all" | string[] {
  return isSiteAdmin(roles, "read") ? "all" : roles.flatMap(({ scope, pageId }) => (scope === "*" ? pageId : []));
}

/** Who moderates: "Chat_Moderator" the chat, "Question_Answer_Moderator" the Q&A. */
export type ModeratorScope = Exclude<AccountRole["scope"], "*">;

/** Where the roles moderate: on all channels, or on those listed. Admins moderate wherever they are admins. */
export function moderatedChannels(roles: AccountRole[], scope: ModeratorScope, action: Action): "all" | string[] {
  const moderating = roles.filter((role) => (role.scope === "*" || role.scope === scope) && (action === "read" || role.write));
  if (moderating.some((role) => role.pageId.length === 0)) return "all";
  return [...new Set(moderating.flatMap((role) => role.pageId))];
}

/** Whether the roles moderate this channel. */
export function moderatesChannel(roles: AccountRole[], scope: ModeratorScope, channelId: string, action: Action): boolean {
  const channels = moderatedChannels(roles, scope, action);
  return channels === "all" || channels.includes(channelId);
}

/** Whether `after` allows anything that `before` doesn't. */
export function addsRoles(before: AccountRole[], after: AccountRole[]): boolean {
  return after.flatMap(byPage).some((role) => !before.flatMap(byPage).some((held) => covers(held, role)));
}

/** A role for each page of a role, or the same one if it is for the whole site. */
function byPage(role: AccountRole): AccountRole[] {
  return role.pageId.length === 0 ? [role] : role.pageId.map((id) => ({ ...role, pageId: [id] }));
}

/** Both are for one page or the whole site. Scope `*` includes the moderators of the same channels. */
function covers(held: AccountRole, role: AccountRole): boolean {
  const includesPage = held.pageId.length === 0 || held.pageId[0] === role.pageId[0];
  return (held.scope === "*" || held.scope === role.scope) && includesPage && (held.write || !role.write);
}
