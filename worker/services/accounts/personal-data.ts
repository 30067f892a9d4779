import { and, eq } from "drizzle-orm";
import { accountLinks, accounts, sessions, signInFailures, signInPlaces, userProfiles } from "#db/schema/accounts.ts";
import { registerInvites } from "#db/schema/invites.ts";
import { ownRow } from "#worker/services/core/context.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";

const area = "account";

export const accountData: PersonalData[] = [
  rowsOf(
    { name: "account", area, description: "The account itself" },
    {
      table: accounts,
      of: (ctx, { accountId }) => ownRow(ctx, accounts, accountId),
      columns: {
        _id: accounts.id,
        email: accounts.email,
        name: accounts.name,
        roles: accounts.roles,
        tags: accounts.tags,
        thirdPartyAuthProviders: accounts.thirdPartyAuthProviders,
        globalAccountID: accounts.globalAccountId,
        emailVerified: accounts.emailVerified,
        marketingOptin: accounts.marketingOptin,
        leaderboardHidden: accounts.leaderboardHidden,
        lastLogin: accounts.lastLogin,
        created: accounts.created,
        modified: accounts.modified,
      },
    },
  ),
  rowsOf(
    { name: "profile", area, description: "The public profile" },
    {
      table: userProfiles,
      of: ({ siteId }, { accountId }) => and(eq(userProfiles.siteId, siteId), eq(userProfiles.accountId, accountId)),
      columns: { name: userProfiles.name, created: userProfiles.created, modified: userProfiles.modified },
    },
  ),
  rowsOf(
    { name: "sessions", area, description: "Sign-ins that haven't expired" },
    {
      table: sessions,
      of: ({ siteId }, { accountId }) => and(eq(sessions.audience, siteId), eq(sessions.accountId, accountId)),
      columns: { created: sessions.created, expires: sessions.expires, revoked: sessions.revoked },
    },
  ),
  rowsOf(
    { name: "signInPlaces", area, description: "When the account last signed in from each network or device, which are stored as hashes" },
    {
      table: signInPlaces,
      of: ({ siteId }, { accountId }) => and(eq(signInPlaces.audience, siteId), eq(signInPlaces.accountId, accountId)),
      columns: { seen: signInPlaces.seen },
    },
  ),
  rowsOf(
    { name: "signInFailures", area, description: "Failed sign-ins of the last minutes, without the address of whoever attempted them" },
    {
      table: signInFailures,
      of: ({ siteId }, { accountId }) => and(eq(signInFailures.siteId, siteId), eq(signInFailures.accountId, accountId)),
      columns: { reason: signInFailures.reason, minute: signInFailures.minute, attempts: signInFailures.attempts },
    },
  ),
  rowsOf(
    { name: "signInProviders", area, description: "Sign-ins at other providers" },
    {
      table: accountLinks,
      of: ({ siteId }, { accountId }) => and(eq(accountLinks.siteId, siteId), eq(accountLinks.accountId, accountId)),
      columns: { provider: accountLinks.provider, accountId: accountLinks.thirdPartyAccountId },
    },
  ),
  rowsOf(
    { name: "invitations", area, description: "Invitations by email that the account accepted" },
    {
      table: registerInvites,
      of: ({ siteId }, { accountId }) => and(eq(registerInvites.siteId, siteId), eq(registerInvites.accountId, accountId)),
      columns: { email: registerInvites.email, targetRoles: registerInvites.targetRoles, created: registerInvites.created },
    },
  ),
];
