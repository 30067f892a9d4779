import { expect, test } from "vitest";
import { splitSamples } from "./late-samples.ts";

const TABS =
  '<html><head></head><body><starlight-tabs data-sync-key="language"><div id="a" role="tabpanel"><pre>curl</pre></div><div id="b" role="tabpanel" hidden><pre>fetch &lt;</pre></div><div id="c" role="tabpanel" hidden><pre>go</pre><button data-code="go"></button></div></starlight-tabs><button data-code="after"></button></body></html>';

test("keeps the first language in the page and the others beside it, and no sample twice", () => {
  const { page, samples } = splitSamples(TABS);
  expect(samples).toEqual(["<pre>fetch &lt;</pre>", "<pre>go</pre><button></button>"]);
  expect(page).toBe(
    '<html><head></head><body><starlight-tabs data-sync-key="language"><div id="a" role="tabpanel"><pre>curl</pre></div><div id="b" role="tabpanel" hidden data-late="0"></div><div id="c" role="tabpanel" hidden data-late="1"></div></starlight-tabs><button></button></body></html>',
  );
});

test("leaves tabs of other things as they are", () => {
  const html = TABS.replace('data-sync-key="language"', 'data-sync-key="package"');
  expect(splitSamples(html)).toEqual({ page: html, samples: [] });
});
