import { expect, test } from "vitest";
import { withLightCode } from "./full-text.ts";

test("gives the code of a page a low weight in the full-text index, and leaves the rest as it is", () => {
  const page = `<p>Use <code>tifo</code>, &lt;pre>.</p><pre class="wrap"><code>1</code></pre><pre>2</pre><preface>`;
  expect(withLightCode(page)).toBe(
    `<p>Use <code>tifo</code>, &lt;pre>.</p><pre data-pagefind-weight="0.25" class="wrap"><code>1</code></pre>` +
      `<pre data-pagefind-weight="0.25">2</pre><preface>`,
  );
});
