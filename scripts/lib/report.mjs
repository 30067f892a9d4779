// What our scripts tell the one who runs them.

/** Something that the user can mend: told in its own sentence, without a stack trace. */
export class Problem extends Error {}

/**
 * Prints a line.
 * @param {string} line
 */
export function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Announces a piece of work, does it, and says how long it took.
 * @template Result
 * @param {string} title
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function step(title, work) {
  say(`${title} …`);
  const started = Date.now();
  const ticking = setInterval(() => say(`  still at it after ${seconds(started)}`), 10_000);
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
 * Runs a script's whole work: a problem ends it with its sentence, anything else with its stack, both with exit code 1.
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
