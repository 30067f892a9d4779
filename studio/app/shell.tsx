import { Link, Outlet } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useSession } from "#studio/session/context.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { SECTIONS, type Section } from "./screen.ts";
import { SCREENS } from "./screens.ts";
import "./shell.css";

// Menus and their popovers are a fifth of what the first screen needs, and nobody opens one at once.
const SiteMenu = lazy(() => import("./site-menu.tsx"));
const AccountMenu = lazy(() => import("./account-menu.tsx"));

/** The frame of every screen: site and account on top, navigation at the side. */
export function Shell() {
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="shell-header">
        <Link to="/" className="shell-brand" aria-label="Studio, overview">
          <img src="/favicon.svg" alt="" width="24" height="24" />
          <span>Studio</span>
        </Link>
        <Suspense>
          <SiteMenu />
          <span className="shell-space" />
          <AccountMenu />
        </Suspense>
      </header>
      <Navigation />
      <main id="main" className="shell-main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

function Navigation() {
  const { access } = useSession();
  const visible = SCREENS.filter((screen) => screen.entry && screen.allows(access));
  const sections = SECTIONS.filter((section) => visible.some(({ entry }) => entry?.section === section));
  return (
    <nav className="shell-navigation" aria-label="Studio">
      {sections.map((section) => (
        <NavigationSection key={section} section={section} />
      ))}
    </nav>
  );
}

function NavigationSection({ section }: { section: Section }) {
  const { access } = useSession();
  const id = `section-${section.toLowerCase()}`;
  return (
    <div className="shell-section">
      <h2 id={id} className="shell-section-title">
        {section}
      </h2>
      <ul aria-labelledby={id}>
        {SCREENS.map(
          (screen) =>
            screen.entry?.section === section &&
            screen.allows(access) && (
              <li key={screen.path}>
                <Link to={screen.path} className="shell-link" activeOptions={{ exact: screen.path === "/" }}>
                  <Icon name={screen.entry.icon} />
                  <span>{screen.title}</span>
                </Link>
              </li>
            ),
        )}
      </ul>
    </div>
  );
}
