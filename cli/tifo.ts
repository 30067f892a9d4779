import { terminal } from "./lib/terminal.ts";
import { run } from "./run.ts";

// Exits explicitly: a keep-alive connection would keep the process for seconds.
const io = terminal();
const exitCode = await run(process.argv.slice(2), io);
await io.flushed();
process.exit(exitCode);
