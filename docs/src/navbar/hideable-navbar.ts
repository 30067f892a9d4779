/** The state of a navbar that hides on scroll. */
export interface NavbarState {
  hidden: boolean;
  /** The last scroll position, in px. */
  at: number;
  /** Whether the next scroll is a jump to an anchor. */
  jumping: boolean;
}

export const SHOWN: NavbarState = { hidden: false, at: 0, jumping: false };

/** The state after a scroll to `at`: hidden on the way down, shown on the way up, but not by the bounce at the end of the page. */
export function afterScroll(state: NavbarState, at: number, navbarHeight: number, scrollable: number): NavbarState {
  if (state.jumping) return { ...state, at, jumping: false };
  if (at < navbarHeight) return { hidden: false, at, jumping: false };
  if (at > state.at) return { hidden: true, at, jumping: false };
  return { hidden: at >= scrollable ? state.hidden : at === state.at && state.hidden, at, jumping: false };
}

/** The state after a jump to an anchor; the navbar must not cover its target. */
export function afterJump(state: NavbarState): NavbarState {
  return { ...state, hidden: true, jumping: true };
}
