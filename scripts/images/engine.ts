import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { interruption } from "../../packages/local/src/processes/interruption.ts";
import { serviceNames } from "../../packages/local/src/stack/services.ts";
import { root } from "../check/run-command.ts";
import { runProgram } from "./run-program.ts";

const PODMAN = "podman";

/** Podman, otherwise Docker: both take the same arguments. */
const ENGINE = spawnSync(PODMAN, ["--version"]).status === 0 ? PODMAN : "docker";

/**
 * Signal that is aborted when the user stops the check of the container images; containers are
 * still removed.
 */
export const interrupted: AbortSignal = interruption();

/** Returns standard output; throws with the last lines of the output. */
export async function engine(...args: readonly string[]): Promise<string> {
  return await runProgram(ENGINE, args, { signal: interrupted });
}

export async function removeContainer(name: string): Promise<void> {
  await runProgram(ENGINE, ["rm", "--force", "--volumes", name]);
}

/** What a container image is built of: a service, or a program that is shipped beside them. */
export const IMAGES: readonly string[] = [...serviceNames, "simulator", "cli", "serve"];

/**
 * Builds a container image from this checkout. NODE_IMAGE replaces the base image.
 *
 * @param npmrc Configuration of npm for the build; undefined for none.
 */
export async function buildImage(
  name: string,
  npmrc: string | undefined,
  ...options: readonly string[]
): Promise<void> {
  const { NODE_IMAGE } = process.env;
  await engine(
    "build",
    `--build-arg=SERVICE=${name}`,
    ...(NODE_IMAGE === undefined ? [] : [`--build-arg=NODE_IMAGE=${NODE_IMAGE}`]),
    ...(npmrc === undefined ? [] : [`--secret=id=npmrc,src=${npmrc}`]),
    ...options,
    root,
  );
}

/**
 * Options that restrict the rights of a container as the Kubernetes manifests and compose.yaml do.
 */
export const CONFINED: readonly string[] = [
  "--read-only",
  "--cap-drop=all",
  "--security-opt=no-new-privileges",
  // By default Podman makes some folders of a read-only container writable.
  ...(ENGINE === PODMAN ? ["--read-only-tmpfs=false"] : []),
];

/**
 * The user's npm configuration, which may hold the access to a package registry. The file can be
 * missing.
 */
export const USER_NPMRC: string = join(homedir(), ".npmrc");
