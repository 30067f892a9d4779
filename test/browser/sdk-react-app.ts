import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "#scripts/lib/root.mjs";
import { SITE } from "./sdk-page.ts";

/** The script of a host app that renders in its effects, with React's development build, which logs warnings. */
export async function reactApp(origin: string, channelId: string): Promise<string> {
  const contents = `
    import { StrictMode, useEffect, useLayoutEffect, useRef } from "react";
    import { createRoot } from "react-dom/client";
    import { createTifo } from "./core/core.ts";
    import * as renderer from "./react/mount.tsx";

    const tifo = createTifo(renderer, ${JSON.stringify(origin)});
    tifo.configure({ clientId: ${JSON.stringify(SITE)} });
    const channelId = ${JSON.stringify(channelId)};
    function useRendered(useSomeEffect) {
      const container = useRef(null);
      useSomeEffect(() => {
        void tifo.userDidStartWatchingEvent({ channelId });
        const rendered = tifo.renderPanel(container.current, { channelId });
        return () => rendered.unmount();
      }, []);
      return <div ref={container} />;
    }
    const InEffect = () => useRendered(useEffect);
    const InLayoutEffect = () => useRendered(useLayoutEffect);
    const app = document.createElement("div");
    app.id = "app";
    document.body.append(app);
    const root = createRoot(app);
    window.show = (shown) => root.render(<StrictMode>{shown && <><InEffect /><InLayoutEffect /></>}</StrictMode>);
    window.show(true);`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(ROOT, "sdk"), loader: "tsx" },
    ...{ bundle: true, write: false, jsx: "automatic", define: { "process.env.NODE_ENV": '"development"', TIFO_SDK_VERSION: '"1.0.0"' } },
  });
  return outputFiles[0]?.text ?? "";
}
