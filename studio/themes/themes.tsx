import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ok } from "#sdk/client/index.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { CardSkeleton } from "#studio/ui/card-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Empty, ErrorState } from "#studio/ui/states.tsx";
import type { Theme } from "./model.ts";
import "./themes.css";

const MOST = 100;

/** The site's themes, and those of the deployment that every site can use. */
export default function Themes() {
  const { client, access } = useSession();
  const own = useQuery({
    queryKey: ["/content/themes", "list"],
    queryFn: () => ok(client.api.GET("/themes/v1/custom", { params: { query: { limit: MOST } } })),
  });
  const shared = useQuery({
    queryKey: ["themes", "default"],
    queryFn: () => ok(client.api.GET("/themes/v1/default", { params: { query: { limit: MOST } } })),
    staleTime: 300_000,
  });
  return (
    <>
      <PageHeader
        title="Themes"
        description="The colours, fonts and logo of overlays and panels. A channel or landing page chooses its theme."
      >
        {access.writesSite && (
          <Link className="button button-primary button-regular" to="/content/themes/new">
            New theme
          </Link>
        )}
      </PageHeader>
      {own.data ? (
        <ThemeCards themes={own.data.themes} />
      ) : own.isError ? (
        <ErrorState error={own.error} retry={() => void own.refetch()} />
      ) : (
        <CardSkeleton label="Loading the themes…" />
      )}
      {own.data && own.data.totalCount > MOST && <p className="soft">The {MOST} that were changed last are shown.</p>}
      {shared.data && shared.data.themes.length > 0 && (
        <section className="theme-shared" aria-labelledby="theme-shared">
          <h2 id="theme-shared">Ready-made</h2>
          <p className="soft">Every site of this deployment can use these. Open one to make your own of it.</p>
          <ThemeCards themes={shared.data.themes} />
        </section>
      )}
    </>
  );
}

function ThemeCards({ themes }: { themes: readonly Theme[] }) {
  const { access } = useSession();
  if (themes.length === 0)
    return (
      <Empty
        title="The site has no themes yet."
        icon="theme"
        action={
          access.writesSite && (
            <Link className="button button-secondary" to="/content/themes/new">
              Create the first theme
            </Link>
          )
        }
      >
        Overlays have Tifo’s own look until a page has a theme.
      </Empty>
    );
  return (
    <ul className="theme-cards">
      {themes.map((theme) => (
        <ThemeCard key={theme._id} theme={theme} />
      ))}
    </ul>
  );
}

function ThemeCard({ theme: { _id, name, mode, colors, warnings, modified } }: { theme: Theme }) {
  return (
    <li>
      <Link className="card card-link theme-card" to={`/content/themes/${_id}`}>
        <span className="theme-sample" data-mode={mode} style={{ backgroundColor: colors.surface1 }} aria-hidden="true">
          <span style={{ backgroundColor: colors.surface2 }}>
            <i style={{ backgroundColor: colors.accent }} />
            <b style={{ backgroundColor: colors.text100 }} />
            <b style={{ backgroundColor: colors.text200 }} />
          </span>
          <em style={{ backgroundColor: colors.highlight }} />
        </span>
        <strong className="theme-name">{name}</strong>
        <span className="theme-about">
          <span className="badge">{mode === "dark" ? "Dark" : "Light"}</span>
          {warnings.length > 0 && <span className="badge theme-warned">Hard to read</span>}
          <span className="soft">{timeText(modified)}</span>
        </span>
      </Link>
    </li>
  );
}
