import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { useSession } from "#studio/session/context.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import type { Screen } from "./screen.ts";
import { SCREENS } from "./screens.ts";
import { plainSearch } from "./search.ts";
import { Shell } from "./shell.tsx";

/** The router is made per session, because another account starts on a screen that its roles allow. */
export function createStudioRouter() {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
  const routes = SCREENS.map((screen) =>
    createRoute({ getParentRoute: () => root, path: screen.path, component: guarded(screen, lazyRouteComponent(screen.load)) }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath: "/studio",
    defaultPreload: "intent",
    defaultPendingComponent: Loading,
    defaultPendingMs: 200,
    defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} retry={reset} />,
    scrollRestoration: true,
    ...plainSearch,
  });
}

function guarded(screen: Screen, Content: ComponentType & { preload?: () => Promise<void> }) {
  function Guarded() {
    const { access } = useSession();
    return screen.allows(access) ? (
      <>
        <title>{`${screen.title} · Tifo Studio`}</title>
        <Content />
      </>
    ) : (
      <NotFound />
    );
  }
  Guarded.preload = Content.preload;
  return Guarded;
}

function NotFound() {
  return (
    <Empty
      title="This page doesn’t exist."
      icon="page"
      action={
        <Link to="/" className="button button-secondary">
          Go to the overview
        </Link>
      }
    >
      It may belong to another site, or your roles don’t include it.
    </Empty>
  );
}
