import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readProcessUsage } from "#src/operations/process-usage.ts";
import type { CheckLimits, CheckReply, CheckRequest } from "./inspection-protocol.ts";

const WORKER = fileURLToPath(new URL("inspection-child.ts", import.meta.url));
const WATCH_MS = 20;
/** On a busy machine a check may get little of the processor, which is no fault of the file. */
const MAX_WALL_MS = 60_000;
/** A process that keeps more than this once it rests is replaced, so that the next file finds all of the memory. */
const MAX_RESTING_SHARE = 0.55;

/** `exhausted`: the file took more time or memory than a check may, or broke the process. `gone`: something else ended it. */
export type CheckEnd =
  | Extract<CheckReply, { kind: "done" | "failed" }>
  | { readonly kind: "exhausted"; readonly what: "time" | "memory" | "crash" }
  | { readonly kind: "gone" };

/** A process that checks one file after another, watched from outside: memory of native libraries cannot be bounded inside. */
export class CheckProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #killedFor: CheckEnd | undefined;

  constructor() {
    this.#child = spawn(
      process.execPath,
      ["--max-semi-space-size=1", "--max-old-space-size=96", WORKER],
      {
        // None of our environment: it holds secrets. One arena keeps what threads have freed from piling up.
        env: { MALLOC_ARENA_MAX: "2", VIPS_CONCURRENCY: "1", UV_THREADPOOL_SIZE: "2" },
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      },
    );
    this.#exited = once(this.#child, "exit").catch(() => undefined);
  }

  get isUsable(): boolean {
    return this.#child.connected && this.#killedFor === undefined;
  }

  /** Checks one file; at most one call at a time. Never rejects. */
  async run(request: CheckRequest): Promise<CheckEnd> {
    const replies = this.#listen();
    const watch = this.#watch(request.limits, replies.progressAt);
    try {
      this.#child.send(request, () => undefined);
      return await replies.end;
    } finally {
      clearInterval(watch);
      replies.stop();
    }
  }

  /** Whether another file may be given to it. */
  async isFit(memoryBytes: number): Promise<boolean> {
    if (!this.isUsable || this.#child.pid === undefined) return false;
    const usage = await readProcessUsage(this.#child.pid);
    return usage === undefined || usage.memoryBytes < memoryBytes * MAX_RESTING_SHARE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill({ kind: "gone" });
    await this.#exited;
  }

  #kill(reason: CheckEnd): void {
    this.#killedFor ??= reason;
    this.#child.kill("SIGKILL");
  }

  #listen() {
    const { promise, resolve } = Promise.withResolvers<CheckEnd>();
    let progress = 0;
    const onMessage = (reply: CheckReply) => {
      if (reply.kind === "progress") progress += 1;
      else resolve(reply);
    };
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
      resolve(this.#killedFor ?? endOf(signal));
    const onError = () => resolve({ kind: "gone" });
    this.#child.on("message", onMessage).once("exit", onExit).once("error", onError);
    return {
      end: promise,
      progressAt: () => progress,
      stop: () => this.#child.off("message", onMessage).off("exit", onExit).off("error", onError),
    };
  }

  #watch({ memoryBytes, timeMs }: CheckLimits, progressAt: () => number): NodeJS.Timeout {
    let seen = { progress: -1, cpuMs: 0, wallMs: 0 };
    const look = async (): Promise<void> => {
      const { pid } = this.#child;
      const usage = pid === undefined ? undefined : await readProcessUsage(pid);
      const wallMs = performance.now();
      const now = { progress: progressAt(), cpuMs: usage?.cpuMs ?? wallMs, wallMs };
      if (now.progress !== seen.progress) seen = now;
      if (usage !== undefined && usage.memoryBytes > memoryBytes) {
        this.#kill({ kind: "exhausted", what: "memory" });
      } else if (now.cpuMs - seen.cpuMs > timeMs) {
        this.#kill({ kind: "exhausted", what: "time" });
      } else if (wallMs - seen.wallMs > MAX_WALL_MS) this.#kill({ kind: "gone" });
    };
    return setInterval(() => void look(), WATCH_MS);
  }
}

/** SIGKILL that was not ours is the kernel's or an operator's; anything else the file has done. */
function endOf(signal: NodeJS.Signals | null): CheckEnd {
  return signal === "SIGKILL" || signal === "SIGTERM"
    ? { kind: "gone" }
    : { kind: "exhausted", what: "crash" };
}
