export interface EmbedTarget {
  origin: string;
  siteId: string;
  channelId: string;
}

/** The lines that show a channel's overlays on a page, over its video. */
export function embedCode({ origin, siteId, channelId }: EmbedTarget): string {
  return `<link rel="stylesheet" href="${origin}/sdk/tifo.css" />
<div style="position: relative; aspect-ratio: 16 / 9">
  <!-- Your player goes here. -->
  <div id="tifo-overlay" style="position: absolute; inset: 0; pointer-events: none"></div>
</div>
<script src="${origin}/sdk/tifo.js"></script>
<script type="module">
  Tifo.configure({ clientId: "${siteId}" });
  await Tifo.userDidStartWatchingEvent({ channelId: "${channelId}" });
  Tifo.renderOverlay(document.querySelector("#tifo-overlay"));
</script>`;
}
