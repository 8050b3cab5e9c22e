import { execFileSync } from "node:child_process";
// Builds one image of Postrider with podman, and runs compose.small.yaml and compose.yaml with it.
import { existsSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { findStablePorts } from "../packages/local/src/processes/free-port.ts";
import { databaseServices, serviceNames } from "../packages/local/src/stack/services.ts";
import { toIdentity } from "../packages/shared/src/identity/settings.ts";
import { root } from "./check/run-command.ts";
import { stepLine } from "./check/run-steps.ts";
import { removeLeftovers, Installation, waitForAnswer } from "./compose/installation.ts";
import { interrupted, podman, preparePodman } from "./compose/podman.ts";
import { checkSmall } from "./compose/small.ts";
import {
  findImagesOfOthers,
  prepareServers,
  type Images,
  kafka,
  postgres,
  s3,
  simulator,
} from "./compose/stand-ins.ts";
import { USER_NPMRC } from "./images/engine.ts";
import { publishEverywhere } from "./images/publish.ts";
import { runProgram } from "./images/run-program.ts";

const FILES = ["compose.yaml", "deploy/compose/simulator.yaml"];

/**
 * Starts compose.yaml with the simulated platforms, publishes to each of them, and stops it.
 * Returns what was measured.
 */
async function checkLarge(images: Images): Promise<string> {
  await using installation = new Installation("large", FILES);
  const [gateway = 0, accounts = 0, store = 0, platforms = 0] = await findStablePorts(4);
  const file = join(installation.folder, ".env");
  execFileSync(process.execPath, [join(root, "scripts/compose-env.mjs"), file]);
  appendFileSync(file, `S3_PUBLIC_ENDPOINT=http://127.0.0.1:${store}\n`);
  installation.override(await overridesOf(images, { gateway, accounts, store, platforms }));
  try {
    await installation.start();
    const keys = [installation.variables["OPERATOR_IDENTITY_KEYS"] ?? ""];
    const identity = toIdentity("operator", keys);
    if (identity === undefined) throw new Error("compose-env.mjs wrote no key of the operator");
    const simulatorUrl = `http://127.0.0.1:${platforms}`;
    await waitForAnswer(`${simulatorUrl}/_control/visible?platform=bluesky`);
    const visible = await publishEverywhere(identity, undefined, {
      accountsUrl: `http://127.0.0.1:${accounts}`,
      simulatorUrl,
      gatewayUrl: `http://127.0.0.1:${gateway}`,
    });
    const memory = await installation.readMemory();
    await installation.stop();
    return `${visible} targets are visible, ${Math.round(memory / 1e6)} MB of memory`;
  } catch (error) {
    if (!interrupted.aborted) process.stdout.write(`${await installation.readLogs()}\n`);
    throw error;
  }
}

type Ports = Readonly<Record<"gateway" | "accounts" | "store" | "platforms", number>>;

/** The image of `serve` has all services, each in its folder. */
async function overridesOf({ base, serve, areReal }: Images, ports: Ports) {
  const own = (folder: string) => ({ image: serve, working_dir: `/app/${folder}` });
  const services = serviceNames.map((name) => [name, own(`services/${name}`)] as const);
  const migrations = databaseServices.map(
    (name) => [`${name}-migrations`, own(`services/${name}`)] as const,
  );
  const tool = { image: serve, entrypoint: ["postrider"] };
  return {
    ...Object.fromEntries([...services, ...migrations]),
    inspector: own("services/media"),
    roles: tool,
    topics: tool,
    gateway: {
      ...own("services/gateway"),
      ports: [`127.0.0.1:${ports.gateway}:8080`, `127.0.0.1:${ports.platforms}:4100`],
    },
    // The check makes its workspace by an RPC.
    accounts: { ...own("services/accounts"), ports: [`127.0.0.1:${ports.accounts}:8081`] },
    simulator: simulator(base),
    ...(areReal ? {} : { postgres: await postgres(base), kafka: await kafka(base) }),
    s3: { ...(areReal ? {} : await s3(base)), ports: [`127.0.0.1:${ports.store}:7070`] },
  };
}

const SERVE = `localhost/postrider/serve:check-${process.pid}`;

/** Prints name, duration and a result that is a text. */
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  interrupted.throwIfAborted();
  const startedAt = performance.now();
  const result = await work();
  const text = typeof result === "string" ? `${name}: ${result}` : name;
  process.stdout.write(`${stepLine(text, true, performance.now() - startedAt)}\n`);
  return result;
}

async function buildServe(base: string): Promise<void> {
  const secret = existsSync(USER_NPMRC) ? [`--secret=id=npmrc,src=${USER_NPMRC}`] : [];
  // Without layers nothing remains of a build but its image, and the stages are not packed.
  const options = ["--layers=false", "--jobs=2", "--network=host", ...secret];
  const args = ["SERVICE=serve", `NODE_IMAGE=${base}`].map((value) => `--build-arg=${value}`);
  const before = await listStages();
  try {
    await podman("build", ...options, ...args, `--tag=${SERVE}`, root);
  } catch (error) {
    // A build that is stopped leaves its stages.
    const left = (await listStages()).filter((name) => !before.includes(name));
    if (left.length > 0) await runProgram("podman", ["rm", "--force", ...left]);
    throw error;
  }
}

async function listStages(): Promise<readonly string[]> {
  const ids = await runProgram("podman", [
    "ps",
    "--all",
    "--external",
    "--format={{.ID}} {{.Names}}",
  ]);
  const builds = ids.split("\n").filter((line) => line.includes("working-container"));
  return builds.map((line) => line.split(" ")[0] ?? "");
}

try {
  await step("install podman", preparePodman);
  await removeLeftovers();
  const found = await step("find the images of others", findImagesOfOthers);
  await step("build the image of Postrider", async () => {
    await Promise.all([buildServe(found.base), found.areReal ? undefined : prepareServers()]);
  });
  const images = { ...found, serve: SERVE };
  await step("publish through compose.small.yaml, and restart", () => checkSmall(images));
  await step("publish to every platform through compose.yaml", () => checkLarge(images));
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await runProgram("podman", ["rmi", "--force", SERVE]).catch(() => undefined);
}
// Closes the channel to the parent process, which would otherwise keep this process alive.
if (process.connected) process.disconnect();
