import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { root } from "../check/run-command.ts";
import type { Manifest } from "./manifest.ts";

const OVERLAYS = join(root, "deploy/k8s/overlays");

/** Both are the same program: kubectl has kustomize inside. */
const PROGRAMS = [
  ["kubectl", "kustomize"],
  ["kustomize", "build"],
] as const;

/** The folders of the overlays, in order of their names. */
export function listOverlays(): readonly string[] {
  return readdirSync(OVERLAYS)
    .toSorted()
    .map((name) => join(OVERLAYS, name))
    .filter((folder) => existsSync(join(folder, "kustomization.yaml")));
}

/**
 * What `kubectl apply -k` of an overlay would send.
 *
 * @throws Error in kustomize's words, also for a mere warning; or that there is no kustomize here.
 */
export async function renderOverlay(folder: string): Promise<readonly Manifest[]> {
  for (const [program, command] of PROGRAMS) {
    const rendered = await run(program, [command, folder]);
    if (rendered === undefined) continue;
    // A warning is written there too, and is one of tomorrow's errors.
    if (rendered.stderr !== "") throw new Error(`${folder}: ${rendered.stderr}`);
    return parseManifests(rendered.stdout);
  }
  throw new Error(
    "The checks of the manifests need kubectl (https://kubernetes.io/docs/tasks/tools) or kustomize: neither is on the PATH.",
  );
}

/** Undefined when there is no such program. */
async function run(program: string, args: readonly string[]) {
  try {
    return await promisify(execFile)(program, args, { maxBuffer: 16_000_000 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}
