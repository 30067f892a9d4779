export interface StarterSite {
  origin: string;
  siteId: string;
  channelId: string;
  /** URL of the deployment's SDK package. */
  sdk: string;
  /** The project's name for package.json. */
  name: string;
}

/** A small project that shows a channel. */
export interface Starter {
  title: string;
  /** Whether it is built from npm packages. */
  packages: boolean;
  /** What to do after `init`, in its folder. */
  next: readonly string[];
  /** Paths and contents. */
  files(site: StarterSite): Record<string, string>;
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The one file that names the site. */
export function configFile({ origin, siteId, channelId }: StarterSite): string {
  return `// Which channel the page shows. None of this is secret; never put a developer key into a page.
export const ORIGIN = "${origin}";
export const SITE_ID = "${siteId}";
export const CHANNEL_ID = "${channelId}";
`;
}

export const STYLES = `body { margin: 0; background: #0b0b12; }
.match { display: grid; grid-template-columns: 1fr 360px; height: 100vh; }
.stage { position: relative; align-self: center; aspect-ratio: 16 / 9; background: #12482f; }
.stage video { display: block; width: 100%; height: 100%; }
.stage .overlay { position: absolute; inset: 0; pointer-events: none; }
.panel { height: 100vh; }
`;
