import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useMemo, useState, useSyncExternalStore } from "react";
import { done } from "#sdk/client/index.ts";
import { SiteContext, type SiteControl } from "#studio/session/context.tsx";
import { connectionTo, type SiteConnection } from "#studio/session/session.ts";
import { currentSite, knownSites, rememberCurrentSite, rememberSites, type Storages } from "#studio/session/sites.ts";
import { Loading } from "#studio/ui/states.tsx";
import { Toaster } from "#studio/ui/toast.tsx";
import { entranceOf, withoutIntent } from "./entrance.ts";
import { Queries } from "./queries.ts";

const SetUp = lazy(() => import("#studio/sign-in/set-up.tsx"));
const Join = lazy(() => import("#studio/sign-in/join.tsx"));
const IntentEntrance = lazy(() => import("#studio/sign-in/intent.tsx"));
const Reset = lazy(() => import("#studio/sign-in/reset.tsx"));
const SignIn = lazy(() => import("#studio/sign-in/sign-in.tsx"));
/** Everything behind the sign-in, loaded once somebody has signed in. */
const SignedIn = lazy(() => import("./signed-in.tsx"));

const storages: Storages = { tab: sessionStorage, browser: localStorage };

export function App() {
  const [siteId, setSiteId] = useState(() => currentSite(storages, new URL(location.href)));
  const connection = siteId === null ? null : connectionTo(siteId);
  const accountId = useSyncExternalStore(connection?.tokens.subscribe ?? neverChanges, () => connection?.accountId() ?? null);
  const queries = useMemo(() => queriesOf(siteId, accountId), [siteId, accountId]);
  const site = useSiteControl(connection, siteId, setSiteId);
  const [entrance, setEntrance] = useState(() => entranceOf(new URL(location.href)));
  const query = new URLSearchParams(location.search);
  const token = query.get("token") ?? "";
  const leave = () => {
    // The link works once, so it is of no further use in the address or the history.
    history.replaceState(null, "", "/studio");
    setEntrance(null);
  };
  const enter = (entered: string) => {
    leave();
    site.switchTo(entered);
  };
  const { switchTo } = site;
  const leaveIntent = useCallback(() => {
    history.replaceState(null, "", withoutIntent(new URL(location.href)));
    if (siteId !== null) switchTo(siteId);
    setEntrance(null);
  }, [siteId, switchTo]);
  return (
    <QueryClientProvider client={queries}>
      <SiteContext value={site}>
        <Suspense fallback={<Loading />}>
          {entrance === "setup" ? (
            <SetUp token={location.hash.slice(1)} onEntered={enter} />
          ) : entrance === "join" ? (
            <Join siteId={siteId} token={token} onEntered={enter} />
          ) : entrance === "reset" || entrance === "reset-global" ? (
            <Reset siteId={siteId} token={token} isGlobal={entrance === "reset-global"} onDone={leave} />
          ) : entrance === "intent" ? (
            <IntentEntrance siteId={siteId} intent={query.get("intent") ?? ""} onDone={leaveIntent} />
          ) : connection && accountId !== null ? (
            <SignedIn key={`${connection.siteId}:${accountId}`} connection={connection} accountId={accountId} />
          ) : (
            <SignIn siteId={siteId} onSignedIn={site.switchTo} onSites={(sites) => rememberSites(storages, sites)} />
          )}
        </Suspense>
        <Toaster />
      </SiteContext>
    </QueryClientProvider>
  );
}

function useSiteControl(connection: SiteConnection | null, siteId: string | null, setSiteId: (id: string | null) => void): SiteControl {
  return useMemo(
    () => ({
      siteId,
      sites: knownSites(storages),
      switchTo(next) {
        if (next !== null) rememberCurrentSite(storages, next);
        // Addresses name channels and other things of the previous site.
        if (next !== siteId) history.replaceState(null, "", "/studio");
        setSiteId(next);
      },
      rememberSite: (visited) => rememberSites(storages, [visited]),
      async signOut(everywhere = false) {
        if (everywhere && connection) {
          // If the server can't be reached, the other sessions go on, so this one must not seem to have ended them.
          await done(connection.client.api.POST("/auth/v2/logout", { params: { query: { everywhere } } }));
          connection.tokens.set(null);
        } else {
          await connection?.client.signOut();
        }
        history.replaceState(null, "", "/studio");
      },
    }),
    [connection, siteId, setSiteId],
  );
}

/** A cache per account: nothing that one account has read is shown to the next. */
function queriesOf(_siteId: string | null, _accountId: string | null): Queries {
  return new Queries();
}

function neverChanges(): () => void {
  return () => undefined;
}
