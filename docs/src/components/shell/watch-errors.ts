// In the head of every page, so that it also sees the shell's own scripts fail (docs/integrations/error-watcher.ts). What judges and shows
// an error is loaded when there is one.
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => void import("./crash.ts").then(({ showCrash }) => showCrash(event)), true);

export {};
