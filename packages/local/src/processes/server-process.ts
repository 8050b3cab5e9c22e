import { connect } from "node:net";
import { poll } from "#src/processes/poll.ts";
import { startChild, toPart } from "#src/processes/start-child.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";

export interface ServerProcessOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  readonly logFile: string;
  readonly graceMs: number;
}

const startTimeoutMs = 150_000;

/** @throws Error that ends with the last output of the server. */
export async function startServerProcess(options: ServerProcessOptions): Promise<RunningPart> {
  const { name, program, args, port, graceMs, ...others } = options;
  // The server runs in a separate process group: Ctrl-C in the terminal must not stop it before its
  // clients.
  const started = startChild(program, args, { ...others, detached: true });
  const { child } = started;
  child.once("error", () => {});
  const listening = await poll(
    async () => {
      if (child.pid === undefined || started.hasEnded()) return false;
      return (await accepts(port)) ? true : undefined;
    },
    { everyMs: 50, timeoutMs: startTimeoutMs },
  );
  if (listening === true) return toPart(started, ["SIGTERM", graceMs], ["SIGKILL", 1_000]);

  child.kill("SIGKILL");
  const last = started.said().split("\n").slice(-5).join("\n");
  throw new Error(`${name} did not start on port ${port}: ${last}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
