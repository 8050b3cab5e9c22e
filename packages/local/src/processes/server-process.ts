import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { endChild } from "#src/processes/child-exit.ts";
import { guardChild } from "#src/processes/guardian.ts";
import { poll } from "#src/processes/poll.ts";
import type { RunningPart } from "#src/processes/running-part.ts";

/** Options for the start of a third-party server, for example a Kafka broker. */
export interface ServerProcessOptions {
  /** Name of the third-party server in error messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Port of the loopback address on which the third-party server listens when it is ready. */
  readonly port: number;
  /** File to which the output of the third-party server is appended. */
  readonly logFile: string;
  /** How long the third-party server may take to stop after SIGTERM before it is killed. */
  readonly graceMs: number;
}

const startTimeoutMs = 60_000;

/**
 * Starts a server and waits until it accepts connections.
 *
 * @throws Error that ends with the last output of the server.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<RunningPart> {
  const { name, program, port, logFile } = options;
  const log = openSync(logFile, "a", 0o600);
  const before = readFileSync(logFile).length;
  // The server runs in a separate process group: Ctrl-C in the terminal must not stop it before its clients.
  const child = spawn(program, options.args, {
    detached: true,
    env: options.env,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const exited = guardChild(child, "TERM");
  child.once("error", () => {});
  const listening = await poll(
    async () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
        return false;

      return (await accepts(port)) ? true : undefined;
    },
    { everyMs: 50, timeoutMs: startTimeoutMs },
  );
  if (listening === true) return running(child, exited, options.graceMs);

  child.kill("SIGKILL");
  const said = readFileSync(logFile).subarray(before).toString().trim();
  throw new Error(
    `${name} did not start on port ${port}: ${said.split("\n").slice(-5).join("\n")}`,
  );
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

function running(child: ChildProcess, exited: Promise<string>, graceMs: number): RunningPart {
  return {
    pid: child.pid ?? 0,
    exited,
    async [Symbol.asyncDispose]() {
      await endChild(child, [
        ["SIGTERM", graceMs],
        ["SIGKILL", 1_000],
      ]);
      await exited;
    },
  };
}
