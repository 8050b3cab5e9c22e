import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { environment } from "#src/config.ts";
import { ensureKafkaJars, type JavaEnvironment, javaProgram } from "#src/kafka/kafka-jars.ts";
import { brokerProperties, type BrokerPlace } from "#src/kafka/kafka-properties.ts";
import { findStablePorts } from "#src/processes/free-port.ts";
import type { RunningPart } from "#src/processes/running-part.ts";
import { startServerProcess } from "#src/processes/server-process.ts";

const run = promisify(execFile);

/** A running embedded Kafka broker. Disposing of it stops the broker and keeps its data. */
export interface EmbeddedKafka extends RunningPart {
  readonly brokers: readonly string[];
  readonly port: number;
}

/** Options for the start of the embedded Kafka broker. */
export interface KafkaOptions {
  /** Folder of the Kafka broker's data, which is created unless it exists. */
  readonly dataDir: string;
  /** Port on which the Kafka broker listens; default: a free one. */
  readonly port?: number;
  /** File for the messages of the Kafka broker; default: `<dataDir>.log`. */
  readonly logFile?: string;
  /** Additional properties of the Kafka broker, which override the built-in ones. */
  readonly properties?: (place: BrokerPlace) => Readonly<Record<string, string>>;
  /** Environment in which Java and Maven are found. */
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

/**
 * Starts one Apache Kafka broker (KRaft) on the loopback address. If its data folder is new, it is formatted first.
 *
 * @throws Error in one line when Java or Maven is missing, or with the broker's own message.
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
  const place = { port, controllerPort, logDir: join(dataDir, "log") };
  writeFileSync(properties, brokerProperties(place, options.properties?.(place)));
  await format(java, dataDir, properties);
  const broker = await startServerProcess({
    name: "Kafka",
    program: java.program,
    args: [...java.flags, "kafka.Kafka", properties],
    env: java.env,
    port,
    logFile: options.logFile ?? `${dataDir}.log`,
    graceMs: 10_000,
  });
  return { ...broker, brokers: [`127.0.0.1:${port}`], port };
}

/** The variables of the environment `env` that Java and Maven need. */
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
  if (existsSync(done)) return;

  rmSync(join(dataDir, "log"), { recursive: true, force: true });
  // The Kafka cluster id starts with the letter P, because the tool would parse an id that starts with a dash as an
  // option.
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
