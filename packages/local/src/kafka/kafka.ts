import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { TOPICS } from "@postrider/shared/bus/topics";
import { Kafka, logLevel } from "kafkajs";
import { environment } from "#src/config.ts";
import { ensureKafkaJars, type JavaEnvironment, javaProgram } from "#src/kafka/kafka-jars.ts";
import { findStablePorts } from "#src/processes/free-port.ts";
import { poll } from "#src/processes/poll.ts";
import { startServerProcess } from "#src/processes/server-process.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";
import { databaseServices } from "#src/stack/services.ts";

const run = promisify(execFile);

export interface EmbeddedKafka extends RunningPart {
  readonly brokers: readonly string[];
  readonly port: number;
}

export interface KafkaOptions {
  readonly dataDir: string;
  readonly port?: number;
  readonly logFile?: string;
  /** The same for all brokers of a cluster; a new one if it is left out. */
  readonly clusterId?: string;
  readonly properties?: (place: BrokerPlace) => Readonly<Record<string, string>>;
  readonly env?: JavaEnvironment;
}

const jvmFlags = [
  "-Xms128m",
  "-Xmx512m",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  // To verify the byte code of Kafka's own jars takes a fifth of the processor time of a start.
  "-XX:+UnlockDiagnosticVMOptions",
  "-XX:-BytecodeVerificationRemote",
  "-Djava.awt.headless=true",
  "-Dorg.apache.logging.log4j.level=WARN",
];

/** @throws Error in one line when Java or Maven is missing, or with the broker's own message. */
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
  await format(java, { dataDir, properties, clusterId: options.clusterId ?? newClusterId() });
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

/** It starts with the letter P, because the tool would parse a leading dash as an option. */
function newClusterId(): string {
  return `P${randomBytes(16).toString("base64url").slice(1)}`;
}

async function format(
  java: Java,
  {
    dataDir,
    properties,
    clusterId,
  }: Readonly<Record<"dataDir" | "properties" | "clusterId", string>>,
): Promise<void> {
  const done = join(dataDir, "formatted");
  if (existsSync(done)) return;

  rmSync(join(dataDir, "log"), { recursive: true, force: true });
  const tool = ["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", properties];
  try {
    await run(java.program, [...java.flags, ...tool], { env: java.env });
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(`Kafka could not format ${dataDir}: ${text}`, { cause: error });
  }
  writeFileSync(done, `${clusterId}\n`);
}

export interface BrokerPlace {
  readonly port: number;
  readonly controllerPort: number;
  readonly logDir: string;
}

/**
 * `server.properties` of a single KRaft node on the loopback address.
 *
 * The two delays for consumer groups are 0: with the broker's defaults, a consumer would wait 3 s
 * to join a group, and every offset commit would wait 5 to 10 ms. Topics are not created
 * automatically, so that a misspelt topic is an error as in production.
 */
export function brokerProperties(
  { port, controllerPort, logDir }: BrokerPlace,
  others: Readonly<Record<string, string>> = {},
): string {
  const properties = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": logDir,
    "auto.create.topics.enable": "false",
    "num.partitions": "12",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.coordinator.append.linger.ms": "0",
    "log.retention.hours": "336",
    "log.segment.bytes": "67108864",
    "log.cleaner.dedupe.buffer.size": "4194304",
    // A Kafka broker that starts after a kill waits until its own old registration expires, which
    // takes 9 s by default.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "400",
    "num.network.threads": "2",
    "num.io.threads": "2",
    ...others,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

const partitions = 12;

/**
 * Also asks for the offsets of every consumer group until the broker answers: a new broker still
 * loads its group coordinator, which consumers would report as a failure.
 */
export async function prepareTopics(brokers: readonly string[]): Promise<void> {
  const kafka = new Kafka({
    clientId: "postrider-local",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const cluster = await admin.describeCluster();
    const replicationFactor = Math.min(3, cluster.brokers.length);
    await admin.createTopics({
      waitForLeaders: true,
      topics: TOPICS.map((topic) => ({ topic, numPartitions: partitions, replicationFactor })),
    });
    const warm = async (groupId: string): Promise<true | undefined> => {
      try {
        await admin.fetchOffsets({ groupId, topics: [...TOPICS] });
        return true;
      } catch {
        return undefined;
      }
    };
    for (const service of databaseServices)
      await poll(() => warm(service), { everyMs: 50, timeoutMs: 10_000 });
  } finally {
    await admin.disconnect();
  }
}
