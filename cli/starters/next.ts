import { configFile, json, type Starter, STYLES } from "./starter.ts";

/** Next.js with the App Router. */
export const next: Starter = {
  title: "Next.js",
  packages: true,
  next: ["npm install", "npm run dev"],
  files: (site) => ({
    "package.json": json({
      name: site.name,
      private: true,
      scripts: { dev: "next dev", build: "next build", start: "next start" },
      dependencies: { "@tifo/web": site.sdk, next: "^16.0.0", react: "^19.0.0", "react-dom": "^19.0.0" },
      devDependencies: { "@types/node": "^24.0.0", "@types/react": "^19.0.0", typescript: "^5.9.0" },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "ES2022",
        lib: ["ES2022", "DOM", "DOM.Iterable"],
        module: "ESNext",
        moduleResolution: "bundler",
        jsx: "react-jsx",
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        esModuleInterop: true,
        resolveJsonModule: true,
        isolatedModules: true,
        incremental: true,
        allowJs: true,
        plugins: [{ name: "next" }],
      },
      include: ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts", ".next/dev/types/**/*.ts"],
      exclude: ["node_modules"],
    }),
    "tifo.config.ts": configFile(site),
    "app/globals.css": STYLES,
    "app/layout.tsx": `import type { Metadata } from "next";
import type { ReactNode } from "react";
import "@tifo/web/tifo.css";
import "./globals.css";

export const metadata: Metadata = { title: "Match day", icons: "data:," };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`,
    "app/page.tsx": `import { Match } from "./match";

export default function Page() {
  return <Match />;
}
`,
    "app/match.tsx": `"use client";

import { useEffect, useState } from "react";
import { configure, type TifoEventViewModel, userDidStartWatchingEvent } from "@tifo/web";
import { TifoEventProvider, TifoOverlay, TifoPanel } from "@tifo/web/react";
import { CHANNEL_ID, ORIGIN, SITE_ID } from "../tifo.config";

export function Match() {
  const [event, setEvent] = useState<TifoEventViewModel | null>(null);

  useEffect(() => {
    configure({ clientId: SITE_ID, origin: ORIGIN });
    // Pass your player as \`player\` for overlays in sync with the video.
    void userDidStartWatchingEvent({ channelId: CHANNEL_ID }).then(setEvent);
  }, []);

  return (
    <div className="match">
      <div className="stage">
        <video controls playsInline />
        {event && (
          <TifoEventProvider event={event}>
            <TifoOverlay />
          </TifoEventProvider>
        )}
      </div>
      <div className="panel">
        {event && (
          <TifoEventProvider event={event}>
            <TifoPanel />
          </TifoEventProvider>
        )}
      </div>
    </div>
  );
}
`,
    ".gitignore": "node_modules\n.next\nnext-env.d.ts\n",
  }),
};
