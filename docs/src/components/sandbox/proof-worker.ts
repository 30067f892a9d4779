import { type Challenge, solve } from "./proof-of-work.ts";

addEventListener("message", ({ data }: MessageEvent<Challenge>) => {
  postMessage(solve(data));
});
