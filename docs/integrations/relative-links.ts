import { existsSync } from "node:fs";
import { defineMdastPlugin } from "satteri";

/** Warns about relative links to missing Markdown files. The build checks links to pages. */
export const relativeLinks = defineMdastPlugin({
  name: "tifo-relative-links",
  link(node, context) {
    const file = /^\.{1,2}\/[^#?]+\.mdx?/.exec(node.url)?.[0];
    if (file === undefined || !context.fileURL || existsSync(new URL(file, context.fileURL))) return;
    console.warn(`[links] ${context.fileURL.pathname}: there is no ${node.url}`);
  },
});
