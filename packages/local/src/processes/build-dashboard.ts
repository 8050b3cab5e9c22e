import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** What the page is made of, relative to the root of the repository. */
const SOURCES = [
  "packages/dashboard/{index.html,package.json,vite.config.ts}",
  "packages/dashboard/{public,src}/**/*",
  "packages/{client,rest}/src/**/*.ts",
  "pnpm-lock.yaml",
];
const IS_TEST = /\.test\.tsx?$/;
const COMPRESSIBLE = /\.(?:js|css|html|svg)$/;
/** Contains the hash of the sources, and is written last. The gateway serves no such file. */
const STAMP = ".built";
/** Instead of a hash: an image contains a build, and neither its sources nor Vite. */
const FINISHED = "finished\n";
const BUILD_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

function hashSources(root: string): string {
  const hash = createHash("sha256");
  const files = globSync(SOURCES, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !IS_TEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

/** So that the gateway compresses nothing while it serves, and as small as possible. */
async function compressFiles(folder: string): Promise<void> {
  const files = globSync("**/*", { cwd: folder }).filter((file) => COMPRESSIBLE.test(file));
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const content = readFileSync(path);
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(content, { params }));
      writeFileSync(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

/**
 * Beside the start of the services, which are of use without the page.
 *
 * @param warn Is called with the reason when the page cannot be built.
 */
export async function tryToBuildDashboard(
  root: string,
  settings: Readonly<Record<string, string | undefined>>,
  warn: (message: string, error: unknown) => void,
): Promise<void> {
  if (settings["DASHBOARD"] === "off") return;
  await buildDashboard(root).catch((error: unknown) =>
    warn("the dashboard could not be built, so /app answers 404", error),
  );
}

const readStamp = (output: string): string | undefined =>
  existsSync(join(output, STAMP)) ? readFileSync(join(output, STAMP), "utf8") : undefined;

/**
 * Several stacks may replace the build at the same moment. The first new one stays, because the
 * gateway of its stack may be reading it.
 */
function replaceBuild(output: string, made: string, wanted: string): void {
  while (readStamp(output) !== wanted)
    try {
      if (existsSync(output)) renameSync(output, `${made}.old`);
      renameSync(made, output);
    } catch (error) {
      // Another stack was faster.
      if (!isCode(error, "ENOENT") && !isCode(error, "ENOTEMPTY")) throw error;
      rmSync(`${made}.old`, { recursive: true, force: true });
    }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/**
 * Builds the dashboard's page, unless its sources are those of the last build: their content counts
 * and not their time, because a checkout changes the time of all files. The new build replaces the
 * old one as a whole, since several stacks of one checkout may build and serve it at the same time.
 */
export async function buildDashboard(root: string): Promise<void> {
  const folder = join(root, "packages/dashboard");
  const output = join(folder, "dist");
  const built = readStamp(output);
  if (built === FINISHED) return;
  const wanted = hashSources(root);
  if (built === wanted) return;
  const made = `${output}.${randomUUID()}`;
  const vite = join(folder, "node_modules/vite/bin/vite.js");
  try {
    await run(process.execPath, [vite, "build", "--outDir", made, "--logLevel", "warn"], {
      cwd: folder,
      timeout: BUILD_TIMEOUT_MS,
    });
    await compressFiles(made);
    writeFileSync(join(made, STAMP), wanted);
    replaceBuild(output, made, wanted);
  } finally {
    for (const rest of [made, `${made}.old`]) rmSync(rest, { recursive: true, force: true });
  }
}
