import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseServices, serviceNames } from "../packages/local/src/stack/services.ts";
import { toIdentity } from "../packages/shared/src/identity/settings.ts";
import { stepLine } from "./check/run-steps.ts";
import { ComposedSystem } from "./images/composed-system.ts";
import { buildImage, CONFINED, engine, IMAGES, interrupted, USER_NPMRC } from "./images/engine.ts";
import { publishEverywhere } from "./images/publish.ts";

const MAX_BYTES = 250_000_000;
/** It has all services. */
const MAX_SERVE_BYTES = 350_000_000;
const INSPECTOR = join(import.meta.dirname, "images/find-faults.ts");

/** Prints name, duration and a result that is a text. */
async function step(name: string, work: () => Promise<string | void>): Promise<void> {
  interrupted.throwIfAborted();
  const startedAt = performance.now();
  try {
    const result = await work();
    const text = result === undefined ? name : `${name}: ${result}`;
    process.stdout.write(`${stepLine(text, true, performance.now() - startedAt)}\n`);
  } catch (error) {
    process.stdout.write(`${stepLine(name, false, performance.now() - startedAt)}\n`);
    throw error;
  }
}

async function buildImages(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-images-"));
  // The build is given the credential of an invented registry. If the container image contains this
  // credential, the build leaves secrets in its image.
  const canary = randomBytes(16).toString("hex");
  const npmrc = join(folder, "npmrc");
  const own = existsSync(USER_NPMRC) ? readFileSync(USER_NPMRC, "utf8") : "";
  const text = `${own}\n//registry.invalid/:_authToken=${canary}\n`;
  writeFileSync(npmrc, text, { mode: 0o600 });
  try {
    for (const name of IMAGES) {
      const image = `postrider/${name}:dev`;
      await step(`build ${image}`, () => buildImage(name, npmrc, `--tag=${image}`));
      await step(`inspect ${image}`, () => inspectImage(image, canary));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns its size; throws if it has files or rights that it should not have. */
async function inspectImage(image: string, canary: string): Promise<string> {
  const format = "{{.Size}} {{.Config.User}}";
  const [size, user] = (await engine("image", "inspect", `--format=${format}`, image)).split(" ");
  const options = [...CONFINED, "--network=none", `--env=CANARY=${canary}`, "--entrypoint=node"];
  const mount = `--volume=${INSPECTOR}:/find-faults.ts:ro`;
  const found = await engine("run", "--rm", ...options, mount, image, "/find-faults.ts");
  const maxBytes = image.includes("/serve:") ? MAX_SERVE_BYTES : MAX_BYTES;
  const faults = [
    ...(Number(size) < maxBytes ? [] : [`${size} bytes are more than ${maxBytes}`]),
    ...(user === "10001:10001" ? [] : [`the user is ${user} instead of 10001:10001`]),
    ...(found === "" ? [] : [found]),
  ];
  if (faults.length > 0) throw new Error(`${image}:\n${faults.join("\n")}`);
  return `${Math.round(Number(size) / 1_000_000)} MB`;
}

/** Runs the system of compose.yaml, publishes to every simulated platform and stops it. */
async function runSystem(): Promise<void> {
  await using system = new ComposedSystem();
  try {
    await step("start Postgres, Kafka and the object store", () => system.startInfrastructure());
    for (const run of ["first", "second"])
      await step(`create roles, topics and tables, ${run} run`, async () => {
        await system.runOnce("roles");
        await system.runOnce("topics");
        for (const name of databaseServices) await system.runOnce(`${name}-migrations`);
      });
    await step("start every service", () =>
      system.start(["simulator", "inspector", ...serviceNames]),
    );
    await step("publish to every platform", async () => {
      const identity = toIdentity("operator", [system.secrets["OPERATOR_IDENTITY_KEYS"] ?? ""]);
      if (identity === undefined) throw new Error("compose-env.mjs wrote no key of the operator");
      const visible = await publishEverywhere(identity);
      return `${visible} targets are visible`;
    });
    await step("stop every service", () => system.stop());
  } catch (error) {
    if (!interrupted.aborted) process.stdout.write(`${await system.readLogs()}\n`);
    throw error;
  }
}

try {
  await buildImages();
  await runSystem();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// Closes the channel to the parent process, which would otherwise keep this process alive.
if (process.connected) process.disconnect();
