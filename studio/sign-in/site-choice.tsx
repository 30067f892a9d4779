import type { KnownSite } from "#studio/session/sites.ts";
import { Button } from "#studio/ui/button.tsx";

/** The sites of a global account. */
export function SiteChoice({ sites, onChoose }: { sites: KnownSite[]; onChoose: (site: KnownSite) => void }) {
  if (sites.length === 0) return <p>Your global account isn't linked to a site yet.</p>;
  return (
    <section aria-labelledby="choose-site" className="site-choice">
      <h2 id="choose-site">Choose a site</h2>
      {sites.map((site) => (
        <Button key={site.siteId} onPress={() => onChoose(site)}>
          {site.name}
        </Button>
      ))}
    </section>
  );
}
