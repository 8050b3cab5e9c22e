import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../check/run-command.ts";
import { imageFaults, type ImageFile } from "./image-rules.ts";
import type { ImageStore } from "./image-store.ts";
import { findSecrets, type RegistryAccess } from "./registry-access.ts";

/** One of our images, and what it is built with. */
export interface ImagePlan {
  /** The service, or what else the build knows by SERVICE. */
  readonly name: string;
  readonly image: string;
  /** For NODE_IMAGE. */
  readonly base: string;
  readonly access: RegistryAccess;
}

/** Builds an image from the checkout as it is. */
export async function buildImage(store: ImageStore, plan: ImagePlan): Promise<void> {
  const { name, image, base, access } = plan;
  const secret = ["--secret", `id=npmrc,src=${access.npmrcFile}`];
  const args = ["--build-arg", `NODE_IMAGE=${base}`, "--build-arg", `SERVICE=${name}`];
  await store.build([...secret, ...args, "--tag", image, root]);
}

/**
 * Looks at an image without running it.
 *
 * @returns Its size in bytes.
 * @throws Error with everything that is not as it should be.
 */
export async function lookInto(
  store: ImageStore,
  { image, access }: Pick<ImagePlan, "image" | "access">,
): Promise<number> {
  const config = await store.inspect(image);
  const faults = await store.withFiles(image, async (folder) => [
    ...imageFaults(config, listFiles(folder)),
    ...(await findSecrets(folder, access)).map((path) => `a secret of the build: ${path}`),
  ]);
  if (faults.length > 0) throw new Error(`${image}:\n${faults.join("\n")}`);
  return config.Size;
}

function listFiles(folder: string): ImageFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(folder, path), mode: lstatSync(path).mode };
    });
}
