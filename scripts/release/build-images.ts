import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildImage, engine, USER_NPMRC } from "../images/engine.ts";
import { isLocalRegistry } from "./targets.ts";

export interface ImageBuild {
  readonly registry: string;
  readonly version: string;
  readonly commit: string;
  readonly platforms: readonly string[];
}

/** Builds an image for all platforms, pushes it, and returns the digest of its index. */
export async function buildAndPush(name: string, build: ImageBuild): Promise<string> {
  const { registry, version, commit, platforms } = build;
  const reference = `${registry}/${name}:${version}`;
  await engine("manifest", "rm", reference).catch(() => {});
  const labels = { version, revision: commit, source: "https://github.com/postrider/postrider" };
  await buildImage(
    name,
    existsSync(USER_NPMRC) ? USER_NPMRC : undefined,
    `--platform=${platforms.join(",")}`,
    `--manifest=${reference}`,
    ...Object.entries(labels).map(
      ([key, value]) => `--label=org.opencontainers.image.${key}=${value}`,
    ),
  );
  const folder = mkdtempSync(join(tmpdir(), "postrider-release-"));
  try {
    const file = join(folder, "digest");
    const isLocal = isLocalRegistry(registry);
    const options = ["--all", `--digestfile=${file}`, ...(isLocal ? ["--tls-verify=false"] : [])];
    await engine("manifest", "push", ...options, reference, `docker://${reference}`);
    return readFileSync(file, "utf8").trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
