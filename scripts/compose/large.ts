import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { findStablePorts } from "../../packages/local/src/processes/free-port.ts";
import { databaseServices, serviceNames } from "../../packages/local/src/stack/services.ts";
import { toIdentity } from "../../packages/shared/src/identity/settings.ts";
import { root } from "../check/run-command.ts";
import { publishEverywhere } from "../images/publish.ts";
import { Installation, waitForAnswer } from "./installation.ts";
import { interrupted } from "./podman.ts";
import { type Images, kafka, postgres, s3, simulator } from "./stand-ins.ts";

const FILES = ["compose.yaml", "deploy/compose/simulator.yaml"];

/**
 * Starts compose.yaml with the simulated platforms, publishes to each of them, and stops it.
 * Returns what was measured.
 */
export async function checkLarge(images: Images): Promise<string> {
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
