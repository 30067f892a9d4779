import { expect, test } from "vitest";
import { contentOf, readPage } from "./html.ts";
import { toMarkdown } from "./markdown.ts";

function markdown(html: string): string {
  const content = contentOf(readPage("page/index.html", `<main data-pagefind-body>${html}</main>`));
  if (!content) throw new Error("The page has no content.");
  return toMarkdown(content);
}

test("keeps headings, links, emphasis and code", () => {
  expect(markdown('<h2 id="a">Errors</h2><p>See <a href="/errors">the <b>table</b></a> of <code>code</code>.</p>')).toBe(
    "## Errors\n\nSee [the **table**](/errors) of `code`.\n",
  );
});

test("keeps a sample's lines and language, without its copy button", () => {
  const html =
    '<pre data-language="sh"><code><div class="ec-line"><div class="code">npm i</div></div><div class="ec-line"><div class="code">\n</div></div><div class="ec-line"><div class="code">npm start</div></div></code></pre><div class="copy"><button>Copy</button></div>';
  expect(markdown(html)).toBe("```sh\nnpm i\n\nnpm start\n```\n");
});

test("keeps a table, and a pipe in a cell", () => {
  expect(markdown("<table><tr><th>Type</th></tr><tr><td><code>a | b</code></td></tr></table>")).toBe("| Type |\n| - |\n| `a \\| b` |\n");
});

test("nests lists", () => {
  expect(markdown("<ol><li>One<ul><li>Inner</li></ul></li><li>Two</li></ol>")).toBe("1. One\n   - Inner\n2. Two\n");
});

test("escapes what Markdown would take for emphasis or a link", () => {
  expect(markdown("<p>2 * 3 * 4 of <code>rule</code>[0]</p>")).toBe("2 \\* 3 \\* 4 of `rule`\\[0]\n");
});

test("writes terms with their descriptions as paragraphs, and an aside as a quote", () => {
  expect(markdown("<dl><dt><code>id</code> string</dt><dd><p>An id</p></dd></dl><aside><p>Careful</p></aside>")).toBe(
    "`id` string\n\nAn id\n\n> Careful\n",
  );
});

test("renders a diagram as its source", () => {
  expect(markdown('<figure class="diagram" data-source="flowchart LR&#10;A --> B"><svg></svg></figure>')).toBe(
    "```mermaid\nflowchart LR\nA --> B\n```\n",
  );
});

test("starts each tab panel with its tab's name", () => {
  const html =
    '<div><ul role="tablist"><li><a role="tab" id="t1">Swift</a></li></ul><section role="tabpanel" aria-labelledby="t1"><p>Hi</p></section></div>';
  expect(markdown(html)).toBe("**Swift**\n\nHi\n");
});

test("omits the shell", () => {
  expect(markdown("<p>Text</p><footer>Next</footer><div data-pagefind-ignore>Copy</div><script>1</script>")).toBe("Text\n");
});
