const DELAY_MS = 200;
const MINIMUM = 0.08;
const SPEED_MS = 200;
const TRICKLE_MS = 800;

/** The bar's next position after `done`: ever smaller steps, so that it never finishes before the page loads. */
export function trickle(done: number): number {
  return Math.min(0.994, done + (1 - done) * 0.1);
}

/** A progress bar for slow navigations. The new page starts without it. */
export function showProgress(): void {
  const bar = document.createElement("div");
  bar.className = "tifo-progress";
  bar.style.transitionDuration = `${SPEED_MS}ms`;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function advance(done: number): void {
    bar.style.transform = `scaleX(${done})`;
    timer = setTimeout(() => advance(trickle(done)), TRICKLE_MS);
  }
  function start(): void {
    stop();
    timer = setTimeout(() => {
      document.body.append(bar);
      advance(MINIMUM);
    }, DELAY_MS);
  }
  function stop(): void {
    clearTimeout(timer);
    bar.remove();
  }
  document.addEventListener("click", (event) => {
    if (opensPage(event)) start();
  });
  // A page from the browser's back-forward cache, or a cancelled navigation, has no bar.
  addEventListener("pageshow", stop);
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") stop();
  });
}

/** Whether a click loads another page of this site in this tab. */
function opensPage(event: MouseEvent): boolean {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0) return false;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
  if (link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return false;
  return link.pathname !== location.pathname || link.search !== location.search;
}
