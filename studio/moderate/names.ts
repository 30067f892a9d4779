import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";

// A ban names an account by its id, and moderators can't read accounts: what they know of one is the name of its messages.
const seen = new Map<string, string>();

export function rememberNames(messages: readonly { accountId: string | null; name: string }[]): void {
  for (const { accountId, name } of messages) if (accountId !== null) seen.set(accountId, name);
}

/** The account's name as far as this screen has seen it; site admins look it up. */
export function useAccountName(accountId: string | null): string | null {
  const { client, access } = useSession();
  const known = accountId === null ? undefined : seen.get(accountId);
  const account = useQuery({
    queryKey: ["account-name", accountId],
    queryFn: () => ok(client.api.GET("/account/v3/{id}", { params: { path: { id: accountId ?? "" } } })),
    enabled: accountId !== null && known === undefined && access.isSiteAdmin,
    staleTime: 60_000,
  });
  return known ?? account.data?.name ?? null;
}
