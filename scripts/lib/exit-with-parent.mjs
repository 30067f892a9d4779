// Preloaded into the local runtime's process: kills its whole process group when the parent is gone, even if the parent was
// killed. Otherwise the runtime would keep running and hold the port.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
