import { DurableObject } from "cloudflare:workers";

export class PollCounter extends DurableObject<Env> {}
