import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type {
  InspectionLimits,
  InspectionReply,
  InspectionRequest,
} from "./inspection-protocol.ts";
import { readProcessUsage } from "./process-usage.ts";

const CHILD = fileURLToPath(new URL("child/main.ts", import.meta.url));
const WATCH_INTERVAL_MS = 20;
/**
 * Maximum time of an inspection without a `progress` message. It is longer than the limit on processor time, because a
 * child process may wait for the processor on a busy machine.
 */
const MAX_WALL_MS = 60_000;
/**
 * Share of the memory limit above which an idle inspection process is replaced, so that the next file has enough
 * memory.
 */
const MAX_IDLE_MEMORY_SHARE = 0.55;

/**
 * How an inspection ended.
 * - `exhausted`: the file exceeded a limit or crashed the child process.
 * - `gone`: the child process was killed or lost for a reason that is not in the file.
 */
export type InspectionEnd =
  | Extract<InspectionReply, { kind: "done" | "failed" }>
  | { readonly kind: "exhausted"; readonly what: "time" | "memory" | "crash" }
  | { readonly kind: "gone" };

/**
 * A child process that inspects one file after another. The parent watches its memory and time from outside, because the
 * memory of native image libraries cannot be limited from inside the process.
 */
export class InspectionProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #killedFor: InspectionEnd | undefined;

  constructor() {
    this.#child = spawn(
      process.execPath,
      ["--max-semi-space-size=1", "--max-old-space-size=96", CHILD],
      {
        // The child process gets no environment variables of its parent, because they include secrets. Two malloc
        // arenas keep its memory from becoming fragmented.
        env: { MALLOC_ARENA_MAX: "2", VIPS_CONCURRENCY: "1", UV_THREADPOOL_SIZE: "2" },
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      },
    );
    this.#exited = once(this.#child, "exit").catch(() => undefined);
  }

  get isUsable(): boolean {
    return this.#child.connected && this.#killedFor === undefined;
  }

  /** Inspects one media file; only one call of `run` may be pending. The promise never rejects. */
  async run(request: InspectionRequest): Promise<InspectionEnd> {
    const replies = this.#listen();
    const watch = this.#watch(request.limits, replies.progressCount);
    try {
      this.#child.send(request, () => undefined);
      return await replies.end;
    } finally {
      clearInterval(watch);
      replies.stop();
    }
  }

  /** Whether the inspection process can inspect another file. */
  async isFit(memoryBytes: number): Promise<boolean> {
    if (!this.isUsable || this.#child.pid === undefined) return false;
    const usage = await readProcessUsage(this.#child.pid);
    return usage === undefined || usage.memoryBytes < memoryBytes * MAX_IDLE_MEMORY_SHARE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill({ kind: "gone" });
    await this.#exited;
  }

  #kill(reason: InspectionEnd): void {
    this.#killedFor ??= reason;
    this.#child.kill("SIGKILL");
  }

  #listen() {
    const { promise, resolve } = Promise.withResolvers<InspectionEnd>();
    let progress = 0;
    const onMessage = (reply: InspectionReply) => {
      if (reply.kind === "progress") progress += 1;
      else resolve(reply);
    };
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
      resolve(this.#killedFor ?? endOfSignal(signal));
    const onError = () => resolve({ kind: "gone" });
    this.#child.on("message", onMessage).once("exit", onExit).once("error", onError);
    return {
      end: promise,
      progressCount: () => progress,
      stop: () => this.#child.off("message", onMessage).off("exit", onExit).off("error", onError),
    };
  }

  #watch({ memoryBytes, timeMs }: InspectionLimits, progressCount: () => number): NodeJS.Timeout {
    let last = { progress: -1, cpuMs: 0, wallMs: 0 };
    const look = async (): Promise<void> => {
      const { pid } = this.#child;
      const usage = pid === undefined ? undefined : await readProcessUsage(pid);
      const wallMs = performance.now();
      const now = { progress: progressCount(), cpuMs: usage?.cpuMs ?? wallMs, wallMs };
      if (now.progress !== last.progress) last = now;
      if (usage !== undefined && usage.memoryBytes > memoryBytes) {
        this.#kill({ kind: "exhausted", what: "memory" });
      } else if (now.cpuMs - last.cpuMs > timeMs) {
        this.#kill({ kind: "exhausted", what: "time" });
      } else if (wallMs - last.wallMs > MAX_WALL_MS) this.#kill({ kind: "gone" });
    };
    return setInterval(() => void look(), WATCH_INTERVAL_MS);
  }
}

/**
 * Returns how an inspection ended whose process a signal ended. This class did not send the signal: SIGKILL or SIGTERM
 * come from the kernel or an operator, and any other signal is a crash.
 */
function endOfSignal(signal: NodeJS.Signals | null): InspectionEnd {
  return signal === "SIGKILL" || signal === "SIGTERM"
    ? { kind: "gone" }
    : { kind: "exhausted", what: "crash" };
}
