import { useQuery } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useMemo } from "react";
import { ok, TifoProblem } from "#sdk/client/index.ts";
import { accessOf } from "#studio/session/access.ts";
import { SessionContext, useSite } from "#studio/session/context.tsx";
import type { Session, SiteConnection } from "#studio/session/session.ts";
import { Button } from "#studio/ui/button.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { createStudioRouter } from "./router.tsx";

interface Props {
  connection: SiteConnection;
  accountId: string;
}

/** Reads the signed-in account, whose roles decide what is shown, and opens the screen of the address. */
export default function SignedIn({ connection: { siteId, client, tokens }, accountId }: Props) {
  const { signOut } = useSite();
  const account = useQuery({
    queryKey: ["own-account"],
    queryFn: async () => {
      try {
        return await ok(client.api.GET("/account/v3/{id}", { params: { path: { id: accountId } } }));
      } catch (error) {
        // The session was ended from elsewhere, or the account has been deleted.
        if (error instanceof TifoProblem && (error.status === 401 || error.status === 404)) tokens.set(null);
        throw error;
      }
    },
    // A changed role shows without a reload.
    refetchInterval: 60_000,
  });
  const session = useMemo<Session | null>(
    () => (account.data ? { siteId, client, account: account.data, access: accessOf(account.data.roles) } : null),
    [siteId, client, account.data],
  );
  const router = useMemo(() => createStudioRouter(), []);
  if (session === null) return account.isError ? <ErrorState error={account.error} retry={() => void account.refetch()} /> : <Loading />;
  if (!session.access.isAdmin && !session.access.isModerator) {
    return (
      <Empty title="Your account has no role on this site." action={<Button onPress={() => void signOut()}>Sign out</Button>}>
        An admin of the site can give {session.account.email} a role.
      </Empty>
    );
  }
  return (
    <SessionContext value={session}>
      <RouterProvider router={router} />
    </SessionContext>
  );
}
