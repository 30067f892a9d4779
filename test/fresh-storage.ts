/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { reset } from "cloudflare:test";

// Files share a Worker, but none finds what another has stored, nor an object that still runs.
await reset();
