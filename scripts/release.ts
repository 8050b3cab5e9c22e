import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./check/run-command.ts";
import { findUnpinned, listImageFiles, readImageFile } from "./images/base-images.ts";
import { buildImage, engine, IMAGES, USER_NPMRC } from "./images/engine.ts";
import { type Digests, pinOurImages, toProvenance } from "./release/artifacts.ts";
import { findFaults } from "./release/find-faults.ts";
import { signFiles } from "./release/sign-files.ts";
import { ALL_PLATFORMS, isLocalRegistry, platformsHere } from "./release/targets.ts";

interface ImageBuild {
  readonly registry: string;
  readonly version: string;
  readonly commit: string;
  readonly platforms: readonly string[];
}

/** Builds an image for all platforms, pushes it, and returns the digest of its index. */
async function buildAndPush(name: string, build: ImageBuild): Promise<string> {
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

const USAGE = `npm run release -- --registry HOST/PATH --key FILE [--platforms LIST] [--images LIST] [--dry-run]

Releases the version of package.json from this commit: checks it, builds and pushes the images, writes their digests
into the manifests, signs what it made with an SSH key, and commits and tags. docs/upgrading.md has the checklist.

  --registry   where the images are pushed, such as registry.example.com/postrider (or RELEASE_REGISTRY)
  --key        private SSH key that signs the release and the tag (or RELEASE_KEY)
  --platforms  default: linux/amd64,linux/arm64
  --images     default: all
  --dry-run    lists every fault, changes nothing here, and pushes only to a registry on this machine
`;

const PRODUCTION = "deploy/k8s/overlays/production/kustomization.yaml";

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { cwd: root, encoding: "utf8" }).trim();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function readText(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

const versionOf = (file: string): string =>
  (JSON.parse(readText(file)) as { readonly version: string }).version;

const VERSIONED = ["compose.small.yaml", "deploy/k8s/**/*.yaml"];

function findReleaseFaults(version: string): readonly string[] {
  const texts = (patterns: readonly string[]) =>
    globSync(patterns, { cwd: root, exclude: (path) => path.includes("node_modules") });
  return findFaults({
    version,
    changedFiles: run("git", "status", "--porcelain"),
    tags: run("git", "tag").split("\n"),
    changelog: readText("CHANGELOG.md"),
    packages: new Map(
      texts(["packages/*/package.json", "services/*/package.json"]).map((file) => [
        file,
        versionOf(file),
      ]),
    ),
    manifests: new Map(texts(VERSIONED).map((file) => [file, readText(file)])),
    unpinned: listImageFiles().flatMap((file) => findUnpinned(readImageFile(file))),
  });
}

interface Options {
  readonly registry: string;
  readonly key: string;
  readonly platforms: readonly string[];
  readonly images: readonly string[];
  readonly isDryRun: boolean;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      registry: { type: "string", default: process.env.RELEASE_REGISTRY ?? "" },
      key: { type: "string", default: process.env.RELEASE_KEY ?? "" },
      platforms: { type: "string", default: ALL_PLATFORMS.join(",") },
      images: { type: "string", default: IMAGES.join(",") },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const { registry, key } = values;
  const isDryRun = values["dry-run"];
  if (!isDryRun && (registry === "" || key === "")) return undefined;
  const [platforms, images] = [values.platforms.split(","), values.images.split(",")];
  return { registry: registry.replace(/\/$/, ""), key, platforms, images, isDryRun };
}

/** Says what this machine cannot build. Only a dry run may go on without it. */
function choosePlatforms({ platforms, isDryRun }: Options): readonly string[] {
  const here = platformsHere();
  const missing = platforms.filter((platform) => !here.includes(platform));
  if (missing.length === 0) return platforms;
  const text = `this machine cannot build for ${missing.join(", ")}: its kernel has no emulator (Debian: apt install qemu-user-static)`;
  if (!isDryRun) throw new Error(`${text}; install it, or name the others with --platforms`);
  say(`not built  ${text}`);
  return platforms.filter((platform) => here.includes(platform));
}

async function pushImages(options: Options, version: string, commit: string): Promise<Digests> {
  const { registry, images, isDryRun } = options;
  if (isDryRun && !isLocalRegistry(registry)) {
    say(
      "not pushed a dry run pushes only to a registry on this machine, such as --registry 127.0.0.1:5000/postrider",
    );
    return new Map();
  }
  const platforms = choosePlatforms(options);
  const digests = new Map<string, string>();
  for (const image of images) {
    const digest = await buildAndPush(image, { registry, version, commit, platforms });
    digests.set(`postrider/${image}`, digest);
    say(`pushed     ${registry}/${image}:${version}@${digest}`);
  }
  return digests;
}

/** In `release/`: the bill of materials, the provenance, their signatures, and who may sign. */
function writeArtifacts(
  options: Options,
  made: { version: string; commit: string; digests: Digests },
): readonly string[] {
  const folder = join(root, "release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const sbom = `${run(process.execPath, "scripts/sbom.ts")}\n`;
  const sbomSha256 = createHash("sha256").update(sbom).digest("hex");
  const [, baseImage = ""] = /^ARG NODE_IMAGE=(\S+)/m.exec(readText("Dockerfile")) ?? [];
  const provenance = toProvenance({ ...options, ...made, sbomSha256, baseImage });
  const files = {
    "sbom.json": sbom,
    "provenance.json": `${JSON.stringify(provenance, null, 2)}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const names = Object.keys(files);
  const paths = names.map((name) => join(folder, name));
  if (options.key !== "") return [...paths, ...signFiles(folder, options.key, names)];
  say("not signed no --key was given");
  return paths;
}

function commitAndTag({ registry, key }: Options, version: string, digests: Digests): void {
  writeFileSync(join(root, PRODUCTION), pinOurImages(readText(PRODUCTION), registry, digests));
  run("git", "commit", "--all", "--message", `chore(release): digests of ${version}`);
  const signing = ["-c", "gpg.format=ssh", "-c", `user.signingkey=${key}`];
  run("git", ...signing, "tag", "--sign", "--message", `Postrider ${version}`, `v${version}`);
}

async function release(options: Options): Promise<boolean> {
  const version = versionOf("package.json");
  const commit = run("git", "rev-parse", "HEAD");
  const faults = findReleaseFaults(version);
  for (const fault of faults) say(`FAULT      ${fault}`);
  if (faults.length === 0) say(`checked    ${version} at ${commit} can be released`);
  if (faults.length > 0 && !options.isDryRun) return false;
  const digests = await pushImages(options, version, commit);
  const paths = writeArtifacts(options, { version, commit, digests });
  for (const path of paths) say(`written    ${path}`);
  if (options.isDryRun) return faults.length === 0;
  commitAndTag(options, version, digests);
  say(
    `tagged     v${version}. Now: git push --follow-tags, and attach the files of release/ to the release`,
  );
  return true;
}

try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(USAGE);
  process.exitCode = options !== undefined && (await release(options)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// Closes the channel to the parent process, which would otherwise keep this process alive.
if (process.connected) process.disconnect();
