import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readProcessUsage, type ReadProcessUsage, trackProcess } from "./child-processes.ts";
import { findInspectionProgram } from "./inspection-program.ts";
import {
  deliveryBytesOf,
  type Inspection,
  type InspectionEnd,
  type InspectionLimits,
} from "./inspection-protocol.ts";
import { parseEnd } from "./parse-end.ts";
import { UnnamedFile } from "./unnamed-file.ts";
import { UsageWatch } from "./usage-watch.ts";

/** The JavaScript of the process may read these folders and `COMPILE_CACHE`, and no others. */
const CODE = ["../../", "../../../../node_modules/"].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);
/** Where Node keeps compiled modules, in the local stack and in tests. */
const COMPILE_CACHE = getCompileCacheDir();
const WATCH_INTERVAL_MS = 20;
/**
 * Whatever the process reports: one that a hostile file has taken over could report progress for
 * ever and keep other files waiting. The longest inspections of valid files take some seconds.
 */
const MAX_INSPECTION_MS = 180_000;

export interface InspectionProcessOptions {
  readonly program?: string | undefined;
  readonly maxMs?: number | undefined;
  readonly readUsage?: ReadProcessUsage | undefined;
}

/**
 * A child process that inspects one file. The parent watches its memory and time from outside,
 * because the memory of native image libraries cannot be limited from inside the process.
 *
 * A hostile file may take over the image library of its process. Its code can then reach:
 * - Everywhere: no secret in its environment, and no other file among its descriptors. JavaScript
 *   can open only its own code, and can start no process (`--permission`); native code is not bound
 *   by that.
 * - In the inspector of compose.yaml and Kubernetes: no secret in the container, and no network (in
 *   compose only one that it shares with media). The kernel lets it read neither memory nor
 *   environment of another process, because no user may read the program `node` of our images. It
 *   can still end these processes, and use up CPU and disk, until its inspection ends. The
 *   container starts again if it leaves a process behind (`child-processes.ts`).
 * - Elsewhere, for example on a laptop: everything that the user may read who started the service.
 */
export class InspectionProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #maxMs: number;
  readonly #readUsage: ReadProcessUsage;
  readonly #input = new UnnamedFile(tmpdir());
  readonly #output = new UnnamedFile(tmpdir());
  #killedFor: InspectionEnd | undefined;
  #running: Promise<unknown> | undefined;
  #disposed: Promise<void> | undefined;

  /** Only tests replace these. */
  constructor({
    program = findInspectionProgram(),
    maxMs = MAX_INSPECTION_MS,
    readUsage = readProcessUsage,
  }: InspectionProcessOptions = {}) {
    this.#maxMs = maxMs;
    this.#readUsage = readUsage;
    this.#child = spawn(process.execPath, [...nodeOptions(), program], {
      // No variable of the parent, because they include secrets. Two malloc arenas keep memory from
      // becoming fragmented.
      env: {
        MALLOC_ARENA_MAX: "2",
        VIPS_CONCURRENCY: "1",
        UV_THREADPOOL_SIZE: "2",
        ...(COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: dirname(COMPILE_CACHE) }),
      },
      // File descriptors 0 to 5 of the child.
      stdio: ["ignore", "ignore", "ignore", "ipc", this.#input.fd, this.#output.fd],
    });
    const forget = trackProcess(this.#child.pid);
    this.#exited = once(this.#child, "exit")
      .catch(() => undefined)
      .then(forget);
  }

  get isUsable(): boolean {
    return this.#child.connected && this.#killedFor === undefined;
  }

  /** May be called once. The promise never rejects. */
  async run(inspection: Inspection): Promise<InspectionEnd> {
    const running = this.#inspect(inspection);
    this.#running = running;
    return await running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    await this.#disposed;
  }

  async #inspect({ request, open, receive }: Inspection): Promise<InspectionEnd> {
    const replies = this.#listen();
    let watch: NodeJS.Timeout | undefined;
    try {
      await this.#input.write(open());
      watch = this.#watch(request.limits, replies.progressCount);
      this.#child.send(request, () => undefined);
      const end = await replies.end;
      await this.#deliver(end, receive);
      return end;
    } catch (error) {
      return this.#killedFor ?? { kind: "failed", message: messageOf(error) };
    } finally {
      clearInterval(watch);
      replies.stop();
    }
  }

  async #dispose(): Promise<void> {
    this.#kill({ kind: "gone" });
    await this.#exited;
    await this.#running;
    this.#input[Symbol.dispose]();
    this.#output[Symbol.dispose]();
  }

  #kill(reason: InspectionEnd): void {
    this.#killedFor ??= reason;
    this.#child.kill("SIGKILL");
  }

  async #deliver(end: InspectionEnd, receive: Inspection["receive"]): Promise<void> {
    const bytes = deliveryBytesOf(end);
    if (bytes === undefined) return;
    const written = this.#output.bytes;
    if (written !== bytes)
      throw new Error(`the inspection reports ${bytes} bytes and wrote ${written}`);
    await receive(end, { bytes, content: this.#output.read() });
  }

  #listen() {
    const { promise, resolve } = Promise.withResolvers<InspectionEnd>();
    let progress = 0;
    const onMessage = (message: unknown) => {
      if (isProgress(message)) progress += 1;
      // A process that says something else was taken over by its file.
      else resolve(parseEnd(message, this.#input.bytes) ?? { kind: "exhausted", what: "crash" });
    };
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) => {
      // A process that has not loaded, for example because a module is missing, has read no file.
      const end: InspectionEnd = progress === 0 ? { kind: "gone" } : endOfSignal(signal);
      resolve(this.#killedFor ?? end);
    };
    const onError = () => resolve({ kind: "gone" });
    this.#child.on("message", onMessage).once("exit", onExit).once("error", onError);
    return {
      end: promise,
      progressCount: () => progress,
      stop: () => this.#child.off("message", onMessage).off("exit", onExit).off("error", onError),
    };
  }

  #watch({ memoryBytes, timeMs }: InspectionLimits, progressCount: () => number): NodeJS.Timeout {
    const limits = { memoryBytes, timeMs, fileBytes: this.#input.bytes, maxMs: this.#maxMs };
    const watch = new UsageWatch(limits, performance.now());
    const look = async (): Promise<void> => {
      const { pid } = this.#child;
      const usage = pid === undefined ? undefined : await this.#readUsage(pid);
      const end = watch.look({ usage, progress: progressCount(), wallMs: performance.now() });
      if (end !== undefined) this.#kill(end);
    };
    return setInterval(() => void look(), WATCH_INTERVAL_MS);
  }
}

function nodeOptions(): readonly string[] {
  const permissions = [
    "--permission",
    "--allow-addons",
    ...CODE.map((folder) => `--allow-fs-read=${folder}`),
    // Node uses the cache only if the process may also write to it.
    ...(COMPILE_CACHE === undefined
      ? []
      : [
          `--allow-fs-read=${dirname(COMPILE_CACHE)}`,
          `--allow-fs-write=${dirname(COMPILE_CACHE)}`,
        ]),
  ];
  // The process starts the garbage collector itself, because V8 notices too late how much memory
  // images use outside of its heap.
  return ["--max-semi-space-size=1", "--max-old-space-size=96", "--expose-gc", ...permissions];
}

function isProgress(message: unknown): boolean {
  const isObject = typeof message === "object" && message !== null;
  return isObject && "kind" in message && message.kind === "progress";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * This class did not send the signal: SIGKILL or SIGTERM come from the kernel or an operator, and
 * any other signal is a crash.
 */
function endOfSignal(signal: NodeJS.Signals | null): InspectionEnd {
  return signal === "SIGKILL" || signal === "SIGTERM"
    ? { kind: "gone" }
    : { kind: "exhausted", what: "crash" };
}
