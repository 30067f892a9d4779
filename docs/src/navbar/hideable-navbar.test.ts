import { expect, test } from "vitest";
import { afterJump, afterScroll, type NavbarState, SHOWN } from "./hideable-navbar.ts";

const HEIGHT = 60;
const SCROLLABLE = 2000;

/** The state after scrolling to these positions. */
function scrolled(...places: number[]): NavbarState {
  return places.reduce((state, at) => afterScroll(state, at, HEIGHT, SCROLLABLE), SHOWN);
}

test("stays visible while the page is scrolled by less than its height", () => {
  expect(scrolled(20, 59).hidden).toBe(false);
});

test("hides when scrolling down and returns when scrolling up", () => {
  expect(scrolled(100, 300).hidden).toBe(true);
  expect(scrolled(100, 300, 280).hidden).toBe(false);
});

test("stays hidden at the page's end, where the page may bounce", () => {
  expect(scrolled(100, 2010, 2000).hidden).toBe(true);
});

test("hides for a jump to an anchor, even one further up, and returns at the next scroll up", () => {
  const jumped = afterScroll(afterJump(scrolled(900)), 400, HEIGHT, SCROLLABLE);
  expect(jumped.hidden).toBe(true);
  expect(afterScroll(jumped, 380, HEIGHT, SCROLLABLE).hidden).toBe(false);
});
