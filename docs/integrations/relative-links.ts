import { existsSync } from "node:fs";
import { defineMdastPlugin } from "satteri";

/** Warns of a relative link to a Markdown file that does not exist. Links to pages are checked where they fail the build. */
export const relativeLinks = defineMdastPlugin({
  name: "tifo-relative-links",
  link(node, context) {
    const file = /^\.{1,2}\/[^#?]+\.mdx?/.exec(node.url)?.[0];
    if (file === undefined || !context.fileURL || existsSync(new URL(file, context.fileURL))) return;
    console.warn(`[links] ${context.fileURL.pathname}: there is no ${node.url}`);
  },
});
