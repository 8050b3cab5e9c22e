import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { childExit, endChild } from "#src/child-exit.ts";
import { environment } from "#src/config.ts";
import { findStablePorts } from "#src/free-port.ts";
import { guardProcess, unguardProcess } from "#src/guardian.ts";
import { ensureKafkaJars, type JavaEnvironment, javaProgram } from "#src/kafka-jars.ts";
import { brokerProperties } from "#src/kafka-properties.ts";
import { poll } from "#src/poll.ts";

const run = promisify(execFile);

/** A Kafka broker of our own. Disposing of it stops the broker and keeps its data. */
export interface EmbeddedKafka extends AsyncDisposable {
  readonly brokers: readonly string[];
  readonly pid: number;
  readonly port: number;
  /** Resolves when the broker has ended, whoever ended it, with how. */
  readonly exited: Promise<string>;
}

/** How to start it. */
export interface KafkaOptions {
  /** Where its data is, or is to be. */
  readonly dataDir: string;
  /** A free one is chosen when absent. */
  readonly port?: number;
  /** Where it writes its messages; `<dataDir>.log` when absent. */
  readonly logFile?: string;
  /** Finds Java and Maven. */
  readonly env?: JavaEnvironment;
}

const jvmFlags = [
  "-Xms128m",
  "-Xmx512m",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-Djava.awt.headless=true",
  "-Dorg.apache.logging.log4j.level=WARN",
];

const startTimeoutMs = 60_000;

/**
 * Starts one Apache Kafka broker (KRaft) on the loopback address; formats its folder first where that is new.
 *
 * @throws Error in one line: Java or Maven is missing, or what the broker itself said.
 */
export async function startKafka(options: KafkaOptions): Promise<EmbeddedKafka> {
  const dataDir = resolve(options.dataDir);
  const env = options.env ?? javaEnvironment();
  const classPath = await ensureKafkaJars(env);
  const [spare = 0, controllerPort = 0] = await findStablePorts(2);
  const port = options.port ?? spare;
  const java = { program: javaProgram(env), env, flags: [...jvmFlags, "-cp", classPath] };
  const properties = join(dataDir, "server.properties");
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(
    properties,
    brokerProperties({ port, controllerPort, logDir: join(dataDir, "log") }),
  );
  await format(java, dataDir, properties);
  const child = await startBroker(java, {
    properties,
    port,
    logFile: options.logFile ?? `${dataDir}.log`,
  });
  return running(child, port);
}

/** The variables of our own environment that Java and Maven need. */
export function javaEnvironment(env: NodeJS.ProcessEnv = environment): JavaEnvironment {
  return {
    PATH: env.PATH,
    HOME: env.HOME,
    JAVA_HOME: env.JAVA_HOME,
    MAVEN_OPTS: env.MAVEN_OPTS,
  };
}

interface Java {
  readonly program: string;
  readonly env: JavaEnvironment;
  readonly flags: readonly string[];
}

async function format(java: Java, dataDir: string, properties: string): Promise<void> {
  const done = join(dataDir, "formatted");
  if (existsSync(done)) {
    return;
  }
  rmSync(join(dataDir, "log"), { recursive: true, force: true });
  // A leading dash would be read as an option.
  const clusterId = `P${randomBytes(16).toString("base64url").slice(1)}`;
  const tool = ["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", properties];
  try {
    await run(java.program, [...java.flags, ...tool], { env: java.env });
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(`Kafka could not format ${dataDir}: ${text}`, { cause: error });
  }
  writeFileSync(done, `${clusterId}\n`);
}

async function startBroker(
  java: Java,
  { properties, port, logFile }: { properties: string; port: number; logFile: string },
): Promise<ChildProcess> {
  const log = openSync(logFile, "a", 0o600);
  const before = readFileSync(logFile).length;
  // Its own process group: a Ctrl-C in the terminal must not stop the broker before its clients.
  const child = spawn(java.program, [...java.flags, "kafka.Kafka", properties], {
    detached: true,
    env: java.env,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.once("error", () => {});
  const listening = await poll(
    async () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
        return false;
      }
      return (await accepts(port)) ? true : undefined;
    },
    { everyMs: 50, timeoutMs: startTimeoutMs },
  );
  if (listening === true) {
    return child;
  }
  child.kill("SIGKILL");
  const said = readFileSync(logFile).subarray(before).toString().trim();
  throw new Error(`Kafka did not start on port ${port}: ${said.split("\n").slice(-5).join("\n")}`);
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

function running(child: ChildProcess, port: number): EmbeddedKafka {
  const pid = child.pid ?? 0;
  guardProcess(pid, "TERM");
  const exited = childExit(child).then(async (how) => {
    await unguardProcess(pid);
    return how;
  });
  return {
    brokers: [`127.0.0.1:${port}`],
    pid,
    port,
    exited,
    async [Symbol.asyncDispose]() {
      await endChild(child, [
        ["SIGTERM", 10_000],
        ["SIGKILL", 1_000],
      ]);
      await exited;
    },
  };
}
