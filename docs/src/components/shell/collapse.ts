const MIN_MS = 40;
const MAX_MS = 190;
const SCREENFUL_PX = 300;

/** How long a part of `height` px takes to open or close, in ms: from 40 for a small one to 190 for a full screen; 1 with reduced motion. */
export function collapseMs(height: number, reducedMotion: boolean): number {
  if (reducedMotion) return 1;
  return Math.round(MIN_MS + (MAX_MS - MIN_MS) * (1 - Math.exp(-height / SCREENFUL_PX)));
}

function isReduced(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Slides `part` open or closed, and calls `done` at the end. */
export function slide(part: HTMLElement, open: boolean, done: () => void = () => undefined): void {
  const height = part.scrollHeight;
  const steps = [{ height: "0px" }, { height: `${height}px` }];
  const motion = part.animate(open ? steps : steps.reverse(), { duration: collapseMs(height, isReduced()), easing: "ease-in-out" });
  part.style.overflow = "hidden";
  motion.addEventListener("finish", () => {
    part.style.overflow = "";
    done();
  });
}

/** Animates the groups of a sidebar. Without this they open and close instantly. */
export function slideDetails(root: ParentNode): void {
  for (const details of root.querySelectorAll("details")) {
    const part = details.querySelector<HTMLElement>(":scope > ul");
    if (!part) continue;
    details.querySelector(":scope > summary")?.addEventListener("click", (event) => {
      if (!details.open) {
        details.addEventListener("toggle", () => slide(part, true), { once: true });
        return;
      }
      event.preventDefault();
      slide(part, false, () => (details.open = false));
    });
  }
}
