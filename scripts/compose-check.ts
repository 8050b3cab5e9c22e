// Builds one image of Postrider with podman, and runs compose.small.yaml and compose.yaml with it.
import { existsSync } from "node:fs";
import { root } from "./check/run-command.ts";
import { stepLine } from "./check/run-steps.ts";
import { removeLeftovers } from "./compose/installation.ts";
import { checkLarge } from "./compose/large.ts";
import { interrupted, podman, preparePodman } from "./compose/podman.ts";
import { checkSmall } from "./compose/small.ts";
import { findImagesOfOthers, prepareServers } from "./compose/stand-ins.ts";
import { USER_NPMRC } from "./images/engine.ts";
import { runProgram } from "./images/run-program.ts";

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
