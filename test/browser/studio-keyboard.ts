import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More than any screen has stops. */
const MAX_STOPS = 150;

/** Somebody who has nothing but a keyboard. Wherever Tab leads on the way, it must be seen what has the focus. */
export class KeyboardUser {
  readonly #page: Page;
  /** Only a page that has just been loaded may begin without a focus. */
  #hasStarted = false;

  constructor(page: Page) {
    this.#page = page;
    page.on("domcontentloaded", () => (this.#hasStarted = false));
  }

  /** Moves the focus with Tab, in the direction of the target, until it is there. */
  async reach(target: Locator): Promise<void> {
    await target.waitFor({ state: "attached" });
    await this.#keepFocus();
    await this.#go(target, (isBehind) => (isBehind ? "Shift+Tab" : "Tab"));
  }

  /** Moves the focus within a menu, a list or a group with an arrow key. */
  async moveTo(target: Locator, arrow: "ArrowDown" | "ArrowRight"): Promise<void> {
    await this.#go(target, () => arrow);
  }

  async #go(target: Locator, keyTo: (isBehind: boolean) => string): Promise<void> {
    for (let stops = 0; stops < MAX_STOPS; stops++) {
      const { place, fault } = await target.evaluate(placeOfFocus);
      if (fault !== undefined) throw new Error(`On the way to ${String(target)}: ${fault}`);
      if (place === "there") return;
      await this.#page.keyboard.press(keyTo(place === "behind"));
    }
    throw new Error(`The keyboard doesn't lead to ${String(target)}`);
  }

  /** What somebody was at may go away, but something has to have the focus then, or they start again from the top of the page. */
  async #keepFocus(): Promise<void> {
    if (this.#hasStarted) await expect.poll(() => this.#page.evaluate(() => document.activeElement !== document.body)).toBe(true);
    this.#hasStarted = true;
  }

  async press(target: Locator, key = "Enter"): Promise<void> {
    await this.reach(target);
    await this.#page.keyboard.press(key);
  }

  /** Replaces the text of a field. */
  async type(field: Locator, text: string): Promise<void> {
    await this.reach(field);
    await this.#page.keyboard.press("ControlOrMeta+a");
    await this.#page.keyboard.type(text);
  }

  /** As `type`, in one go: a code editor closes the brackets and tags that somebody types. */
  async paste(field: Locator, text: string): Promise<void> {
    await this.reach(field);
    await this.#page.keyboard.press("ControlOrMeta+a");
    await this.#page.keyboard.insertText(text);
  }

  /** Chooses the option of a select that begins with these letters. */
  async choose(select: Locator, letters: string): Promise<void> {
    await select.locator("option", { hasText: letters }).first().waitFor({ state: "attached" });
    await this.reach(select);
    await this.#page.keyboard.type(letters);
    await expect.poll(() => select.evaluate((list: HTMLSelectElement) => list.selectedOptions[0]?.label)).toContain(letters);
  }
}

interface Place {
  place: "there" | "before" | "behind";
  /** What is wrong with what has the focus. */
  fault?: string;
}

/** Runs in the page: where the focus is, seen from the target. */
function placeOfFocus(target: Element): Place {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return { place: "before" };
  const isBehind = (focused.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
  const place = target.contains(focused) ? "there" : isBehind ? "behind" : "before";
  // What was just opened has the focus as a whole or at its heading, and a frame shows the focus of its own page.
  if (focused.matches("main, iframe, [role=dialog], h1, h2")) return { place };
  const label = focused.closest("label, .code");
  const shown = [focused, ...(label ? [label, ...label.querySelectorAll("*")] : [])];
  const hasRing = shown.some((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== "none" && outlineWidth !== "0px";
  });
  // What has loaded since it got the focus may have pushed it away.
  focused.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { left, right, top, bottom } = (label ?? focused).getBoundingClientRect();
  const isOnScreen = right > left && bottom > top && right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
  // A part of it suffices (WCAG 2.4.11): a text area that is taller than what is left of the screen shows its first lines.
  const [from, to] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
  const isCovered = [0.1, 0.5, 0.9].every((part) => {
    const over = document.elementFromPoint((Math.max(left, 0) + Math.min(right, innerWidth)) / 2, from + (to - from) * part);
    return over !== null && !over.contains(focused) && !focused.contains(over) && label?.contains(over) !== true;
  });
  const faults = [
    !hasRing && "has no visible focus",
    !isOnScreen && "is off the screen",
    isOnScreen && isCovered && "is covered by something else",
  ];
  const fault = faults.filter((each) => each !== false).join(", ");
  return fault === "" ? { place } : { place, fault: `${focused.outerHTML.slice(0, 200)} ${fault}` };
}
