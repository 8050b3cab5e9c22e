import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../check/run-command.ts";
import { engine, USER_NPMRC } from "../images/engine.ts";
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
  const { NODE_IMAGE } = process.env;
  await engine(
    "build",
    `--platform=${platforms.join(",")}`,
    `--manifest=${reference}`,
    `--build-arg=SERVICE=${name}`,
    ...(NODE_IMAGE === undefined ? [] : [`--build-arg=NODE_IMAGE=${NODE_IMAGE}`]),
    ...(existsSync(USER_NPMRC) ? [`--secret=id=npmrc,src=${USER_NPMRC}`] : []),
    ...Object.entries(labels).map(
      ([key, value]) => `--label=org.opencontainers.image.${key}=${value}`,
    ),
    root,
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
