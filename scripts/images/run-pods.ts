import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { probePort } from "../../packages/local/src/free-port.ts";
import { root } from "../check/run-command.ts";
import { renderOverlay } from "../manifests/render.ts";
import { runOnce } from "./containers.ts";
import type { ImageStore } from "./image-store.ts";
import { startInfrastructure } from "./infrastructure.ts";
import { Pods } from "./pods.ts";
import type { Progress } from "./progress.ts";
import { publishEverywhere } from "./publish.ts";
import { toStopLine } from "./stop-line.ts";

const OVERLAY = join(root, "deploy/k8s/overlays/local");
const SERVICES = { gateway: 8080, accounts: 8081, posts: 8082, media: 8083, delivery: 8084 };
const SIMULATOR = 4100;

/** Plays the overlay for trying out: the same Deployments and Jobs as on a cluster, in the network of this machine. */
export async function runPods(store: ImageStore, progress: Progress): Promise<void> {
  await requireFreePorts();
  const manifests = await renderOverlay(OVERLAY);
  const known = new Pods(store, manifests, {});
  await using infrastructure = await progress.step("pods: Postgres, Kafka and S3", () =>
    startInfrastructure({
      ownerPassword: known.secret("database-owner").POSTGRES_PASSWORD ?? "",
      accessKeyId: known.secret("media-object-store").S3_ACCESS_KEY_ID ?? "",
      secretAccessKey: known.secret("media-object-store").S3_SECRET_ACCESS_KEY ?? "",
    }),
  );
  const { places } = infrastructure;
  const pods = new Pods(store, manifests, {
    ...places,
    "localhost:7070": places["s3:7070"],
    "//simulator:": "//127.0.0.1:",
    ...Object.fromEntries(Object.keys(SERVICES).map((name) => [`//${name}:`, "//127.0.0.1:"])),
  });
  const ready = Object.entries(SERVICES).map(([name, port]) => [name, `${at(port + 1000)}/readyz`]);
  await progress.step("pods: all Jobs and Deployments at once, until they are ready", () =>
    pods.play(Object.fromEntries(ready) as Record<string, string>),
  );
  await progress.step("pods: a user without rights, on a root that cannot be written", async () => {
    const freedoms = await pods.findFreedoms();
    if (freedoms.length > 0) throw new Error(freedoms.join("\n"));
  });
  const secret = pods.secret("postrider-internal").INTERNAL_SECRET ?? "";
  await progress.step(
    "pods: publish to every platform",
    () =>
      publishEverywhere({
        baseUrl: at(SERVICES.gateway),
        simulatorUrl: at(SIMULATOR),
        operate: (...words) => operate(store, secret, words),
      }),
    (seen) => `${seen} targets are seen by readers`,
  );
  await progress.step("pods: stop", async () => toStopLine(await pods.stop()), String);
}

function at(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** The ports of the manifests are fixed. */
async function requireFreePorts(): Promise<void> {
  const ports = Object.values(SERVICES).flatMap((port) => [port, port + 1000]);
  for (const port of [...ports, SIMULATOR])
    if ((await probePort(port)) === undefined)
      throw new Error(`port ${port} is taken: the pods of ${OVERLAY} need it`);
}

async function operate(
  store: ImageStore,
  secret: string,
  words: readonly string[],
): Promise<unknown> {
  const output = await runOnce(store, {
    name: `cli-${randomBytes(4).toString("hex")}`,
    image: "postrider/cli:dev",
    environment: {
      INTERNAL_SECRET: secret,
      ACCOUNTS_URL: at(SERVICES.accounts),
      POSTS_URL: at(SERVICES.posts),
      DELIVERY_URL: at(SERVICES.delivery),
    },
    args: [...words, "--json"],
  });
  return JSON.parse(output) as unknown;
}
