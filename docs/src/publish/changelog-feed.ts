import { inline } from "../components/operation/inline.ts";

const DATED = /\d{4}-\d{2}-\d{2}/;

/** An Atom feed with an entry for each version and its parts. A version without a date of its own is as new as the build (`today`). */
export function changelogFeed(markdown: string, origin: string, today: string): string {
  const versions = markdown.split(/^## /m).slice(1);
  const entries = versions.flatMap((version) => entriesOf(version, origin, today));
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    "<title>Tifo changelog</title>",
    `<id>${origin}/changelog</id>`,
    `<link href="${origin}/changelog"/>`,
    `<link rel="self" type="application/atom+xml" href="${origin}/changelog.xml"/>`,
    `<updated>${today}T00:00:00Z</updated>`,
    "<author><name>Tifo</name></author>",
    ...entries,
    "</feed>",
    "",
  ].join("\n");
}

function entriesOf(version: string, origin: string, today: string): string[] {
  const [title = ""] = version.split("\n");
  const date = DATED.exec(title)?.[0] ?? today;
  return version
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const [name = "", ...lines] = part.split("\n");
      const id = `${origin}/changelog#${name
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-")}`;
      const items = lines.filter((line) => line.startsWith("- ")).map((line) => `<li>${htmlOf(line.slice(2), origin)}</li>`);
      return [
        "<entry>",
        `<title>${inline(`${title}: ${name}`)}</title>`,
        `<id>${id}</id>`,
        `<link href="${id}"/>`,
        `<updated>${date}T00:00:00Z</updated>`,
        `<content type="html">${inline(`<ul>${items.join("")}</ul>`)}</content>`,
        "</entry>",
      ].join("\n");
    });
}

/** HTML of a line whose markup is links and inline code. */
function htmlOf(markdown: string, origin: string): string {
  return inline(markdown).replaceAll(/\[([^\]]+)\]\((\/[^)]*)\)/g, `<a href="${origin}$2">$1</a>`);
}
