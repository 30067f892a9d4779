import { developerScreens } from "#studio/developers/screens.ts";
import { homeScreen } from "#studio/home/screen.ts";
import { insightsScreen } from "#studio/insights/screen.ts";
import { moderateScreen } from "#studio/moderate/screen.ts";
import { peopleScreens } from "#studio/people/screens.ts";
import { resourceScreens } from "#studio/resources/screens.ts";
import { runChannelsScreen, runScreen } from "#studio/run/screen.ts";
import { ruleScreens } from "#studio/rules/screens.ts";
import { scheduleScreen } from "#studio/schedule/screen.ts";
import { themeScreens } from "#studio/themes/screens.ts";
import type { Screen } from "./screen.ts";

/** Every screen, in the order of the navigation. A new one is a line here. */
export const SCREENS: readonly Screen[] = [
  homeScreen,
  runChannelsScreen,
  runScreen,
  moderateScreen,
  ...resourceScreens,
  ...themeScreens,
  ...ruleScreens,
  scheduleScreen,
  ...peopleScreens,
  insightsScreen,
  ...developerScreens,
];
