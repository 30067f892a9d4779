// Output of the project's scripts.

/** A problem that the user can fix. Only its message is printed, without a stack trace. */
export class Problem extends Error {}

/**
 * Prints a line.
 * @param {string} line
 */
export function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Prints a title, runs the work, and prints how long it took.
 * @template Result
 * @param {string} title
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function step(title, work) {
  say(`${title} …`);
  const started = Date.now();
  const ticking = setInterval(() => say(`  still running after ${seconds(started)}`), 10_000);
  try {
    const result = await work();
    say(`  done in ${seconds(started)}`);
    return result;
  } finally {
    clearInterval(ticking);
  }
}

/** @param {number} since milliseconds since 1970 */
function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

/**
 * Runs a script's work. A problem is printed as its message, any other error with its stack; both set exit code 1.
 * @param {() => Promise<void>} work
 */
export async function guard(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
