import { expect, test } from "vitest";
import { changelogFeed } from "./changelog-feed.ts";

const CHANGELOG =
  "# Changes\n\n## 2.0.0, 2026-11-20\n\n### Content & sales\n\n- [Polls](/polls) with `null` < 1\n\n## 1.0.0\n\n### Realtime\n\n- First\n";

test("the feed has an entry for each part of each version, with its date and escaped HTML", () => {
  const feed = changelogFeed(CHANGELOG, "https://tifo.example", "2026-11-23");
  expect(feed.match(/<title>[^<]*<\/title>/g)).toEqual([
    "<title>Tifo changelog</title>",
    "<title>2.0.0, 2026-11-20: Content &amp; sales</title>",
    "<title>1.0.0: Realtime</title>",
  ]);
  expect(feed).toContain("<updated>2026-11-20T00:00:00Z</updated>");
  expect(feed).toContain(
    "&lt;a href=&quot;https://tifo.example/polls&quot;&gt;Polls&lt;/a&gt; with &lt;code&gt;null&lt;/code&gt; &amp;lt; 1",
  );
  expect(feed).toContain("<id>https://tifo.example/changelog#content--sales</id>");
});
