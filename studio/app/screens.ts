import { developerScreens } from "#studio/developers/screens.ts";
import { homeScreen } from "#studio/home/screen.ts";
import { resourceScreens } from "#studio/resources/screens.ts";
import { runChannelsScreen, runScreen } from "#studio/run/screen.ts";
import type { Screen } from "./screen.ts";

/** Every screen, in the order of the navigation. A new one is a line here. */
export const SCREENS: readonly Screen[] = [homeScreen, runChannelsScreen, runScreen, ...resourceScreens, ...developerScreens];
