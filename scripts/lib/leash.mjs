// Preloaded into the local runtime's process: when the one who started it is gone, however hard it died, this whole
// group of processes goes too. Without it the runtime would live on and hold the port.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
