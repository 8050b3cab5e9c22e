import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../check/run-command.ts";
import { readCompose, readEnvFile } from "./compose-file.ts";
import type { ImageStore } from "./image-store.ts";
import { startInfrastructure } from "./infrastructure.ts";
import type { Progress } from "./progress.ts";
import { publishEverywhere } from "./publish.ts";
import { toStopLine } from "./stop-line.ts";
import { choosePlaces, System } from "./system.ts";

const FILES = ["compose.yaml", "deploy/compose/simulator.yaml"];

/** Runs what compose.yaml describes, with fresh secrets, on Postgres, Kafka and an S3 store of the local stack. */
export async function runCompose(store: ImageStore, progress: Progress): Promise<void> {
  const file = join(store.folder, "compose.env");
  rmSync(file, { force: true });
  execFileSync(process.execPath, [join(root, "scripts/compose-env.mjs"), file]);
  const env = readEnvFile(file);
  await using infrastructure = await progress.step("compose: Postgres, Kafka and S3", () =>
    startInfrastructure({
      ownerPassword: env.OWNER_DATABASE_PASSWORD ?? "",
      accessKeyId: env.S3_ACCESS_KEY_ID ?? "",
      secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? "",
    }),
  );
  const places = await choosePlaces(infrastructure.places);
  await using system = new System(store, readCompose(FILES, env), places);
  try {
    await runSystem(system, progress);
  } catch (error) {
    progress.print(system.lastWords);
    throw error;
  }
}

async function runSystem(system: System, progress: Progress): Promise<void> {
  const { ports } = system.places;
  await progress.step("compose: roles, topics and tables, twice", () => system.prepare());
  await progress.step("compose: all start at once and become ready", () => system.start());
  await progress.step("compose: the health checks say so", () => system.checkHealth());
  const running = {
    baseUrl: `http://127.0.0.1:${ports.gateway?.port}`,
    simulatorUrl: `http://127.0.0.1:${ports.simulator?.port}`,
    operate: (...words: readonly string[]) => system.operate(...words),
  };
  await progress.step(
    "compose: publish to every platform",
    () => publishEverywhere(running),
    (seen) => `${seen} targets are seen by readers`,
  );
  await progress.step("compose: SIGTERM", async () => toStopLine(await system.stop()), String);
}
