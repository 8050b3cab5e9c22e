import { existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown, type RolldownOutput } from "rolldown";

/** Packages with native parts or files of their own stay where they are. */
const EXTERNAL = [/\.node$/, /^sharp$/, /heif/, /^rolldown$/];
const ENTRY = "src/main.ts";
/**
 * A program of media that starts for each file. It loads `sharp` from its own bundle too, because
 * finding and reading the 50 modules of `sharp` takes half of its start.
 */
const INSPECTION = "src/inspection/child/main.ts";

/**
 * Loads the program after it has a handler of SIGTERM. The kernel drops a signal to the first
 * process of a container that has no handler, and on a busy machine a program loads for a minute:
 * without this, a pod that is stopped meanwhile runs until it is killed. A handler of the program
 * replaces this one.
 *
 * It also makes stack traces name the sources. Node's flag for that would parse the whole source
 * map at each start, because pino asks for the stack of its caller.
 */
const MAIN = `process.on("SIGTERM", () => {
  if (process.listenerCount("SIGTERM") === 1) process.exit(0);
});
process.setSourceMapsEnabled(true);
await import("./program.js");
`;

/**
 * Lets each module find the files beside it, such as SQL, although its code runs from the folder of
 * the bundle.
 */
const keepPlaces: Plugin = {
  name: "keep-places",
  transform(code, id) {
    if (!code.includes("import.meta.")) return null;
    const moved = code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)));
    // The lines stay where they are, so that the source map holds as it is.
    return { code: moved, map: null };
  },
};

/**
 * What replaces the globals of a program that has the package undici. Node has a copy of undici
 * too, whose first use takes 50 ms of processor time and 4 MB.
 */
function fetchApiOf(folder: string): Record<string, [string, string]> {
  const shared = join(folder, "node_modules/@postrider/shared");
  if (!existsSync(shared)) return {};
  const undici = createRequire(join(realpathSync(shared), "package.json")).resolve("undici");
  const names = ["fetch", "FormData", "Headers", "Request", "Response"];
  return Object.fromEntries(names.map((name) => [name, [undici, name]]));
}

/**
 * An import of `node:http` would use Node's undici, because it reads all names of that module, of
 * which `WebSocket` is one.
 */
const httpByName: Plugin = {
  name: "http-by-name",
  resolveId: (id) => (/^(node:)?http$/.test(id) ? "\0http.cjs" : null),
  load: (id) =>
    id === "\0http.cjs" ? 'module.exports = process.getBuiltinModule("node:http");' : null,
};

/**
 * The libraries are a file of their own without a source map, so that stack traces name our files
 * and the map stays small.
 */
async function writeBundle(folder: string): Promise<void> {
  const output = join(folder, "dist");
  const build = await rolldown({
    input: join(folder, ENTRY),
    platform: "node",
    // It names a file that an image does not contain, and says nothing about the code itself.
    tsconfig: false,
    external: EXTERNAL,
    plugins: [keepPlaces, httpByName],
    transform: { inject: fetchApiOf(folder) },
  });
  const { output: files } = await build.generate({
    dir: output,
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: "program.js",
    chunkFileNames: "[name].js",
    comments: false,
    codeSplitting: { groups: [{ name: "libraries", test: /node_modules/, tags: ["$initial"] }] },
  });
  await build.close();
  const inspection = await bundleInspection(folder);
  const inspectionTimes = readTimes(inspection);
  const times = { ...readTimes(files), ...inspectionTimes };
  mkdirSync(output, { recursive: true });
  for (const file of files) {
    if (file.type === "asset" && file.fileName !== "program.js.map") continue;
    const isOurs = file.fileName.startsWith("program.js");
    if (file.type === "asset") put(join(output, file.fileName), file.source);
    else put(join(output, file.fileName), isOurs ? file.code : toAscii(file.code));
  }
  for (const file of inspection)
    if (file.type === "chunk") put(join(output, "inspection.js"), file.code);
  if (inspection.length > 0)
    put(join(output, "inspection-inputs.json"), JSON.stringify(inspectionTimes));
  put(join(output, "main.js"), MAIN);
  put(join(output, "inputs.json"), JSON.stringify(times));
}

type Files = RolldownOutput["output"] | [];

function readTimes(files: Files): Readonly<Record<string, number>> {
  const modules = files.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const inputs = [import.meta.filename, ...modules.filter((id) => id.startsWith("/"))];
  return Object.fromEntries(inputs.map((path) => [path, statSync(path).mtimeMs]));
}

async function bundleInspection(folder: string): Promise<Files> {
  const input = join(folder, INSPECTION);
  if (!existsSync(input)) return [];
  const build = await rolldown({
    input,
    platform: "node",
    tsconfig: false,
    external: [/\.node$/],
    plugins: [keepPlaces],
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false, comments: false });
  await build.close();
  return output;
}

/** V8 keeps the text of a module, with two bytes for each character unless all are from Latin-1. */
function toAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Replaces a file as a whole, because other processes may start it or write it at the same time.
 */
function put(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
}

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("name the folder of a service");
await writeBundle(folder);
