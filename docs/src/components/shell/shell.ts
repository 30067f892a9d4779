import { fillCredentials } from "../key/fill-samples.ts";
import { showActivityOfSandbox } from "../sandbox/activity-loader.ts";
import { loadSearchWhenWanted } from "../search/search-loader.ts";
import { defineAnnouncement } from "./announcement-element.ts";
import { defineDropdown } from "./dropdown.ts";
import { defineHeader } from "./header-element.ts";
import { defineHelpful } from "./helpful-element.ts";
import { defineMenu } from "./menu.ts";
import { definePageActions } from "./page-actions-element.ts";
import { disablePreloadOnSlowConnections } from "./preload.ts";
import { showProgress } from "./progress.ts";
import { makeWideTablesFocusable } from "./scrollable.ts";
import { defineThemeSwitch } from "./theme-element.ts";
import { followSystem, watchSystem } from "./theme.ts";

/** Starts every part of the shell; called once per page. */
export function startShell(): void {
  defineAnnouncement();
  defineHeader();
  defineDropdown();
  defineMenu();
  loadSearchWhenWanted();
  defineThemeSwitch();
  definePageActions();
  defineHelpful();
  watchSystem();
  showProgress();
  disablePreloadOnSlowConnections();
  makeWideTablesFocusable();
  fillCredentials();
  showActivityOfSandbox();
  document.querySelector("[data-follow-system]")?.addEventListener("click", followSystem);
}
